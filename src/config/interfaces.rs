//! The rules of a stanza about the device itself (base-cli 2.1): which ports there are, which addresses its
//! interfaces may have, and what must be there before a line is typed.

use std::net::Ipv4Addr;

use crate::config::addresses::network_of;
use crate::config::check::Refusal;
use crate::config::edit::{Editor, values_of};
use crate::config::tree::{Path, Values};
use crate::grammar::link::{Kept, Message};
use crate::grammar::ports::{MOST_IN_SLOT, Port, PortSet};
use crate::grammar::value::{Value, ValueType};
use crate::grammar::{Apart, Command, Storage};
use crate::model::network::PORTS;

/// The slot of the ports that are named without one, and of the device that is emulated.
const OWN_SLOT: u16 = 1;

impl Editor<'_> {
    /// What a line needs that is typed; a file is taken as another model or another order wrote it.
    pub(super) fn check_device(
        &self,
        storage: &Storage,
        command: &Command,
        values: &Values,
    ) -> Result<(), Refusal> {
        self.check_apart(storage, command, values)?;
        if self.is_stored {
            return Ok(());
        }
        self.check_fitted(storage, values)?;
        let missing = storage.wants.iter().find(|(kept, _)| !self.holds_one(*kept));
        if let Some((_, message)) = missing {
            return Err(self.refusal_here(*message, command, values));
        }
        self.check_whole(storage, command, values)
    }

    /// A line that would give a statement that is there other values.
    pub(super) fn check_once(
        &self,
        storage: &Storage,
        command: &Command,
        values: &Values,
    ) -> Result<(), Refusal> {
        let Some(message) = storage.once else { return Ok(()) };
        let known = self.home(storage).and_then(|block| block.find(command, values));
        match known {
            Some(known) if known.values != *values => {
                Err(self.refusal_here(message, command, values))
            }
            _ => Ok(()),
        }
    }

    /// A refusal with the values of the line, and of the line that opened its block, in its places.
    pub(super) fn refusal_here(
        &self,
        message: Message,
        command: &Command,
        values: &Values,
    ) -> Refusal {
        let refusal = self.refusal(message, command, values);
        match self.place.path.last() {
            Some((opener, key)) => {
                let above = self.refusal(message, self.grammar.command(*opener), key);
                above.places.into_iter().fold(refusal, |all, (place, value)| all.with(place, value))
            }
            None => refusal,
        }
    }

    /// Whether a statement of that name stands in the block.
    fn holds_one(&self, kept: Kept) -> bool {
        let command = self.grammar.keeping(self.place.mode, kept);
        let block = self.trees.configuration.block(self.grammar, &self.place.path);
        command.zip(block).is_some_and(|(command, block)| {
            block.statements().any(|statement| statement.command == command.id)
        })
    }

    // --- Ports ---

    /// The ports of a line must be there.
    fn check_fitted(&self, storage: &Storage, values: &Values) -> Result<(), Refusal> {
        let Some(fitted) = storage.fitted else { return Ok(()) };
        let Some(Value::Text(text)) = values_of(values, fitted.argument).next() else {
            return Ok(());
        };
        let ports = match Port::parse(text) {
            Some(port) => PortSet::range(port, port),
            None => PortSet::parse(text).unwrap_or_default(),
        };
        for (first, last) in ports.ranges() {
            let slots = [first, last].map(|port| port.slot().unwrap_or(OWN_SLOT));
            for slot in slots[0]..=slots[1] {
                // Of a module nothing is known but that it is there.
                let of_module = self.has_module(fitted.modules, slot);
                let most = if of_module { MOST_IN_SLOT } else { PORTS };
                let port = if slot == slots[0] { first } else { last };
                let highest = if slot == slots[1] { last.number() } else { MOST_IN_SLOT };
                let is_own = slot == OWN_SLOT && port.unit().is_none_or(|unit| unit == 1);
                let message = if !of_module && !is_own {
                    fitted.no_slot
                } else if highest > most {
                    fitted.no_port
                } else {
                    continue;
                };
                let named = if message == fitted.no_slot { port } else { last };
                return Err(Refusal::new(message).with("port", named.to_string()));
            }
        }
        Ok(())
    }

    /// Whether a line says that there is a module in a slot.
    fn has_module(&self, modules: Kept, slot: u16) -> bool {
        let root = self.grammar.root_mode();
        let command = root.and_then(|root| self.grammar.keeping(root, modules));
        let key = command.and_then(|command| {
            let argument = command.storage.as_ref()?.key.first()?;
            let key = [(u8::try_from(*argument).ok()?, Value::Number(slot.into()))];
            Some((command, Values::from_iter(key)))
        });
        key.is_some_and(|(command, key)| {
            self.trees.configuration.root.find(command, &key).is_some()
        })
    }

    /// The values of a line whose list of ports comes on top of what stands there.
    pub(super) fn gathered(
        &self,
        storage: &Storage,
        command: &Command,
        values: &Values,
    ) -> Option<Values> {
        let argument = storage.gathers?;
        let known = self.home(storage)?.find(command, values)?;
        let all = ports_of(&known.values, argument)?.with(&ports_of(values, argument)?);
        Some(with_ports(values, argument, &all))
    }

    /// What is left of a list of ports behind a `no` form; `None`: the form is about all of them.
    ///
    /// # Errors
    ///
    /// Not all of its ports stand there.
    pub(super) fn left_over(
        &self,
        storage: &Storage,
        command: &Command,
        values: &Values,
        words: &str,
    ) -> Result<Option<Values>, Refusal> {
        let Some(argument) = storage.gathers else { return Ok(None) };
        let Some(out) = ports_of(values, argument) else { return Ok(None) };
        let known = self.home(storage).and_then(|block| block.find(command, values));
        let known = known.and_then(|known| ports_of(&known.values, argument));
        let known = known.filter(|known| known.has_all(&out));
        let Some(known) = known else {
            return Err(self.not_there(storage, command, values, words));
        };
        let left = known.without(&out);
        Ok((!left.is_empty()).then(|| with_ports(values, argument, &left)))
    }

    /// What is said of a `no` form that finds nothing.
    pub(super) fn not_there(
        &self,
        storage: &Storage,
        command: &Command,
        values: &Values,
        words: &str,
    ) -> Refusal {
        match storage.absent {
            Some(message) => self.refusal_here(message, command, values),
            None => Refusal::new(Message::NoSuchEntry).with("words", words),
        }
    }

    // --- Addresses ---

    /// No other interface may have the address or one of its network.
    fn check_apart(
        &self,
        storage: &Storage,
        command: &Command,
        values: &Values,
    ) -> Result<(), Refusal> {
        let Some(apart) = storage.apart else { return Ok(()) };
        let Some((address, mask)) = address_and_mask(apart, values) else { return Ok(()) };
        let block = self.home(storage);
        if let Some(known) = block.and_then(|block| block.find(command, values)) {
            // The same line again says nothing.
            let is_same = known.values == *values;
            return if is_same { Ok(()) } else { Err(Refusal::new(Message::DuplicateAddress)) };
        }
        let addresses = self.trees.configuration.addresses();
        if addresses.has(address) {
            return Err(Refusal::new(Message::DuplicateAddress));
        }
        let network = network_of(address, mask);
        let Some(other) = addresses.overlapping(network) else { return Ok(()) };
        // All addresses of a network are of one interface, so any of them tells whose it is.
        let key = addresses.of(other).next().and_then(|one| {
            let place = u8::try_from(apart.address).ok()?;
            Some(Values::from_iter([(place, Value::Ipv4(Ipv4Addr::from_bits(one)))]))
        });
        let is_own = block.zip(key).is_some_and(|(block, key)| block.find(command, &key).is_some());
        let is_secondary = values_of(values, apart.secondary).next().is_some();
        match (is_own, is_secondary && other == network) {
            (false, _) => Err(Refusal::new(Message::SubnetOverlap)),
            (true, false) => Err(Refusal::new(Message::OnePrimaryAddress)),
            (true, true) => Ok(()),
        }
    }

    /// A second address of a network goes before the first.
    pub(super) fn check_primary(
        &self,
        storage: &Storage,
        command: &Command,
        values: &Values,
    ) -> Result<(), Refusal> {
        let Some(apart) = storage.apart else { return Ok(()) };
        let Some(block) = self.home(storage) else { return Ok(()) };
        let known = block.find(command, values);
        let primary = known.filter(|known| known.value_at(apart.secondary).is_none());
        let others = primary.and_then(|primary| address_and_mask(apart, &primary.values)).map(
            |(address, mask)| self.trees.configuration.addresses().of(network_of(address, mask)),
        );
        // Whatever else there is of its network can only be a secondary one.
        if others.is_some_and(|mut others| others.nth(1).is_some()) {
            return Err(Refusal::new(Message::SecondaryAddressFirst));
        }
        Ok(())
    }

    /// What a `ref` names must be whole.
    fn check_whole(
        &self,
        storage: &Storage,
        command: &Command,
        values: &Values,
    ) -> Result<(), Refusal> {
        let Some(whole) = &storage.whole else { return Ok(()) };
        let value = values_of(values, whole.argument).next();
        let ValueType::Reference(targets, _) = &command.arguments[whole.argument].value_type else {
            return Ok(());
        };
        let is_whole = targets.iter().zip(value).any(|(target, value)| {
            let root = self.grammar.root_mode();
            let opener = root.and_then(|root| self.grammar.keeping(root, *target));
            let key = opener.and_then(|opener| {
                let argument = opener.storage.as_ref()?.key.last()?;
                Some((
                    opener.id,
                    Values::from_iter([(u8::try_from(*argument).ok()?, value.clone())]),
                ))
            });
            let path: Option<Path> = key.map(|key| vec![key]);
            let block = path.and_then(|path| self.trees.configuration.block(self.grammar, &path));
            block.is_some_and(|block| {
                whole.parts.iter().all(|part| {
                    block.statements().any(|one| {
                        let storage = self.grammar.command(one.command).storage.as_ref();
                        storage.is_some_and(|storage| storage.kept == *part)
                    })
                })
            })
        });
        if is_whole { Ok(()) } else { Err(self.refusal_here(whole.message, command, values)) }
    }
}

/// The address of an interface and its netmask, as numbers.
pub(super) fn address_and_mask(apart: Apart, values: &Values) -> Option<(u32, u32)> {
    let number = |argument| match values_of(values, argument).next() {
        Some(Value::Ipv4(address)) => Some(address.to_bits()),
        _ => None,
    };
    Some((number(apart.address)?, number(apart.mask)?))
}

fn ports_of(values: &Values, argument: usize) -> Option<PortSet> {
    match values_of(values, argument).next()? {
        Value::Text(text) => PortSet::parse(text),
        _ => None,
    }
}

/// The values with another list of ports.
fn with_ports(values: &Values, argument: usize, ports: &PortSet) -> Values {
    let mut new = values.clone();
    for (place, value) in &mut new {
        if usize::from(*place) == argument {
            *value = Value::Text(ports.to_string().into());
        }
    }
    new
}
