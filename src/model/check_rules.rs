//! How a server is checked: port profiles and policies, what a real server says of a port, match lists.
//!
//! The checks are those of the SLB guides (base-cli 5.4): every port is connected to (Layer 4), and
//! a known application is asked something of its own (Layer 7). What is not said here has the
//! device's defaults. [`crate::live`] makes the checks.

use std::net::IpAddr;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::config::tree::Reading;
use crate::grammar::link::Kept;
use crate::model::balancing::{RealServer, VirtualServer};
use crate::model::snapshot::Application;

/// Seconds between two checks (SLB guide; GUI guide).
const INTERVAL: u16 = 5;

/// How often a failed check is repeated before the port is down (SLB guide; GUI guide).
const RETRIES: u8 = 3;

/// What the device asks a web server for (GSLB guide p. 64).
const REQUEST: &str = "HEAD /";

/// Return codes of a web server that works, unless others are configured (remembered).
const STATUS_CODES: [(u16, u16); 2] = [(200, 299), (401, 401)];

/// How a port of an address is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What is asked.
    pub protocol: Protocol,
    /// Seconds from the beginning of a check to that of the next (2-120).
    pub interval: u16,
    /// How often a failed check is repeated before the port is down (1-5).
    pub retries: u8,
    /// The port is checked as long as it is configured, not only until it is up.
    pub keepalive: bool,
    /// A port that has never been up counts as up as soon as it can be connected to.
    pub fast_bringup: bool,
}

/// What a server is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Nothing: a connection is enough.
    Tcp,
    /// Nothing that it would understand: it must not say that the port is closed.
    Udp,
    /// A question over UDP.
    Dns(DnsQuestion),
    /// A request of the web.
    Http(Box<HttpRequest>),
    /// The beginning of a secure connection. Certificates are not looked at.
    Ssl,
    /// Its first line begins with this.
    Greeting(Greeting),
    /// To let somebody in who says no name.
    Ldap,
}

/// A question to a DNS server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DnsQuestion {
    /// Whatever it answers is good.
    Any,
    /// It must have an address of this name (`addr-query`).
    Address(Arc<str>),
    /// It must serve this zone (`zone`).
    Zone(Arc<str>),
}

/// A request to a web server, and what its answer must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRequest {
    /// Method, path and perhaps version, as typed.
    pub request: Arc<str>,
    /// Return codes of a server that works, from and to.
    pub status_codes: Vec<(u16, u16)>,
    /// What must be in its answer, or must not.
    pub matches: Option<Arc<MatchList>>,
}

/// What a server says first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Greeting {
    /// File transfer (RFC 959).
    Ftp,
    /// Mail transfer (RFC 5321).
    Smtp,
    /// Mail access (RFC 1939).
    Pop3,
    /// Mail access (RFC 9051).
    Imap4,
    /// News (RFC 3977).
    Nntp,
    /// Remote terminal: anything.
    Telnet,
}

/// Texts that tell a good answer of a web server from a bad one (remembered). One that means down
/// wins over one that means up (ours).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatchList {
    /// Texts of a server that works.
    pub up: Vec<MatchText>,
    /// Texts of a server that does not.
    pub down: Vec<MatchText>,
    /// An answer in which none of them occurs is a bad one.
    pub default_down: bool,
}

/// A text that decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchText {
    /// The text, or its beginning.
    pub start: Arc<str>,
    /// Its end, somewhere behind.
    pub end: Option<Arc<str>>,
}

impl MatchList {
    /// Whether this answer is a good one.
    #[must_use]
    pub fn is_good(&self, text: &[u8]) -> bool {
        let occurs = |texts: &[MatchText]| texts.iter().any(|one| one.occurs_in(text));
        !occurs(&self.down) && (occurs(&self.up) || !self.default_down)
    }
}

impl MatchText {
    fn occurs_in(&self, text: &[u8]) -> bool {
        let Some(rest) = behind(text, self.start.as_bytes()) else { return false };
        self.end.as_ref().is_none_or(|end| behind(rest, end.as_bytes()).is_some())
    }
}

/// What stands behind the first occurrence.
fn behind<'a>(text: &'a [u8], wanted: &[u8]) -> Option<&'a [u8]> {
    if wanted.is_empty() {
        return Some(text);
    }
    let at = text.windows(wanted.len()).position(|window| window == wanted)?;
    text.get(at + wanted.len()..)
}

/// What the configuration says of checks.
#[derive(Debug, Default)]
pub struct CheckRules {
    profiles: HashMap<Application, Profile>,
    ports: HashMap<(IpAddr, Application), PortRules>,
    lists: HashMap<String, Arc<MatchList>>,
    /// Port policies in configured order.
    pub policies: Vec<PortPolicy>,
}

/// What a port policy says (`server port-policy`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortPolicy {
    /// As typed, at most 32 characters.
    pub name: String,
    /// The port whose application is asked for.
    pub protocol: Option<Application>,
    /// What a web server is asked for, if that is said.
    pub request: Option<Arc<str>>,
    /// Return codes of a web server that works, from and to, if they are said.
    pub status_codes: Vec<(u16, u16)>,
    /// Name of the match list for its answer, in lower case.
    pub list: Option<String>,
    /// Ports of real servers that are checked so.
    pub users: usize,
}

/// The profile of a port (`server port`).
#[derive(Clone, Debug, Default)]
struct Profile {
    udp_only: bool,
    keepalive: bool,
    times: Option<(u16, u8)>,
    protocol: Option<Application>,
    slow_bringup: bool,
}

/// What a real server says of a port.
#[derive(Clone, Debug, Default)]
struct PortRules {
    keepalive: bool,
    connection_only: bool,
    question: Option<DnsQuestion>,
    request: Option<Arc<str>>,
    status_codes: Vec<(u16, u16)>,
    list: Option<String>,
    /// The port whose application is asked for.
    protocol: Option<Application>,
    /// Name of the policy that says the rest, in lower case.
    policy: Option<String>,
}

impl PortRules {
    /// What is left where a policy says how the port is checked.
    fn with_policy(&self, policy: &PortRules) -> PortRules {
        PortRules { keepalive: self.keepalive, ..policy.clone() }
    }

    fn status_codes(&mut self, reading: &Reading<'_>) {
        let ranges =
            [("low", "high"), ("low-2", "high-2"), ("low-3", "high-3"), ("low-4", "high-4")];
        let range = |(low, high)| reading.number(low).zip(reading.number(high));
        self.status_codes = ranges.into_iter().filter_map(range).collect();
    }
}

impl PortPolicy {
    fn of((name, rules): &(String, PortRules)) -> Self {
        PortPolicy {
            name: name.clone(),
            protocol: rules.protocol,
            request: rules.request.clone(),
            status_codes: rules.status_codes.clone(),
            list: rules.list.clone(),
            users: 0,
        }
    }
}

impl CheckRules {
    /// How a port of a real server is checked.
    #[must_use]
    pub fn of_server(&self, address: IpAddr, port: Application) -> Check {
        let profile = self.profiles.get(&port);
        let rules = self.ports.get(&(address.to_canonical(), port));
        let (interval, retries) =
            profile.and_then(|profile| profile.times).unwrap_or((INTERVAL, RETRIES));
        Check {
            protocol: self.protocol(port, profile, rules),
            interval,
            retries,
            keepalive: rules.is_some_and(|rules| rules.keepalive)
                || profile.is_some_and(|profile| profile.keepalive),
            fast_bringup: profile.is_none_or(|profile| !profile.slow_bringup),
        }
    }

    /// How an application of a host is checked at one of its addresses: as a port of the real
    /// server with that address, but always periodically (GSLB guide p. 35).
    #[must_use]
    pub fn of_host(&self, address: IpAddr, application: Application) -> Check {
        Check { keepalive: true, ..self.of_server(address, application) }
    }

    fn protocol(
        &self,
        port: Application,
        profile: Option<&Profile>,
        rules: Option<&PortRules>,
    ) -> Protocol {
        let is_udp = profile.is_some_and(|profile| profile.udp_only) || UDP_PORTS.contains(&port.0);
        let connection = if is_udp { Protocol::Udp } else { Protocol::Tcp };
        if rules.is_some_and(|rules| rules.connection_only) {
            return connection;
        }
        let said = rules.and_then(|rules| rules.protocol);
        match said.or(profile.and_then(|profile| profile.protocol)).unwrap_or(port).0 {
            21 => Protocol::Greeting(Greeting::Ftp),
            23 => Protocol::Greeting(Greeting::Telnet),
            25 => Protocol::Greeting(Greeting::Smtp),
            53 => Protocol::Dns(
                rules.and_then(|rules| rules.question.clone()).unwrap_or(DnsQuestion::Any),
            ),
            80 => Protocol::Http(Box::new(self.http(rules))),
            110 => Protocol::Greeting(Greeting::Pop3),
            119 => Protocol::Greeting(Greeting::Nntp),
            143 => Protocol::Greeting(Greeting::Imap4),
            389 => Protocol::Ldap,
            443 => Protocol::Ssl,
            _ => connection,
        }
    }

    fn http(&self, rules: Option<&PortRules>) -> HttpRequest {
        let request = rules.and_then(|rules| rules.request.clone());
        let codes = rules.map(|rules| rules.status_codes.clone()).unwrap_or_default();
        let list = rules.and_then(|rules| rules.list.as_ref());
        HttpRequest {
            request: request.unwrap_or_else(|| REQUEST.into()),
            status_codes: if codes.is_empty() { STATUS_CODES.to_vec() } else { codes },
            matches: list.and_then(|list| self.lists.get(list)).cloned(),
        }
    }
}

/// Ports that are UDP ports unless a profile says otherwise: tftp, ntp, snmp, radius.
const UDP_PORTS: [u16; 5] = [69, 123, 161, 1645, 1812];

/// Port of the web.
const HTTP: Application = Application(80);

/// What the configuration says of checks while its statements are read.
#[derive(Debug, Default)]
pub(in crate::model) struct ChecksDraft {
    rules: CheckRules,
    /// By the place of the real server, whose address may come later.
    ports: HashMap<(usize, Application), PortRules>,
    /// Match lists in configured order, with their names in lower case.
    lists: Vec<(String, MatchList)>,
    /// Port policies in configured order, with their names in lower case.
    policies: Vec<(String, PortRules)>,
    /// Policies of ports of virtual servers, by the places of these.
    virtual_policies: HashMap<(usize, Application), String>,
}

impl ChecksDraft {
    /// What was read, with the addresses of the real servers.
    pub(in crate::model) fn finish(
        mut self,
        real: &[RealServer],
        virtual_: &[VirtualServer],
    ) -> CheckRules {
        self.use_policies(virtual_);
        let mut rules = self.rules;
        rules.lists = self.lists.into_iter().map(|(name, list)| (name, Arc::new(list))).collect();
        // Of two servers with one address the first one counts.
        let mut ports: Vec<_> = self.ports.into_iter().collect();
        ports.sort_by_key(|((place, _), _)| *place);
        for ((place, port), said) in ports {
            if let Some(address) = real.get(place).and_then(|real| real.address) {
                rules.ports.entry((address.to_canonical(), port)).or_insert(said);
            }
        }
        rules
    }

    /// Looks up the policies that ports use. Of several that reach a port of a real server its own
    /// counts, else the first.
    fn use_policies(&mut self, virtual_: &[VirtualServer]) {
        let said = std::mem::take(&mut self.policies);
        if said.is_empty() {
            return;
        }
        for (place, server) in virtual_.iter().enumerate() {
            for binding in &server.bindings {
                let policy = self.virtual_policies.get(&(place, binding.port));
                if let (Some(policy), Some(real)) = (policy, binding.real) {
                    let rules = self.ports.entry((real, binding.real_port)).or_default();
                    rules.policy.get_or_insert_with(|| policy.clone());
                }
            }
        }
        let mut policies: Vec<PortPolicy> = said.iter().map(PortPolicy::of).collect();
        let places: HashMap<String, usize> = said
            .iter()
            .enumerate()
            .map(|(place, (name, _))| (name.to_ascii_lowercase(), place))
            .collect();
        for rules in self.ports.values_mut() {
            let place = rules.policy.as_ref().and_then(|name| places.get(name)).copied();
            if let Some(place) = place {
                *rules = rules.with_policy(&said[place].1);
                policies[place].users += 1;
            }
        }
        self.rules.policies = policies;
    }

    /// Begins a port policy; gives its place.
    pub(in crate::model) fn open_policy(&mut self, name: &str) -> usize {
        self.policies.push((name.to_owned(), PortRules::default()));
        self.policies.len() - 1
    }

    /// Reads a statement of the port policy at this place.
    pub(in crate::model) fn policy(&mut self, place: usize, kept: Kept, reading: &Reading<'_>) {
        let Some((_, rules)) = self.policies.get_mut(place) else { return };
        #[allow(clippy::wildcard_enum_match_arm, reason = "the caller names the statements")]
        match kept {
            Kept::PortPolicyProtocol => rules.protocol = reading.number("port").map(Application),
            Kept::PortPolicyHttp => rules.protocol = Some(HTTP),
            Kept::PortPolicyUrl => rules.request = reading.text("url").map(Into::into),
            Kept::PortPolicyStatusCode => rules.status_codes(reading),
            Kept::PortPolicyContentMatch => {
                rules.list = reading.text("list").map(str::to_ascii_lowercase);
            }
            _ => {}
        }
    }

    /// A port of the virtual server at this place uses a policy.
    pub(in crate::model) fn virtual_policy(
        &mut self,
        place: usize,
        port: Application,
        reading: &Reading<'_>,
    ) {
        let policy = reading.text("policy").unwrap_or_default().to_ascii_lowercase();
        self.virtual_policies.insert((place, port), policy);
    }

    /// Reads a statement of the profile of a port.
    pub(in crate::model) fn profile(
        &mut self,
        port: Application,
        kept: Kept,
        reading: &Reading<'_>,
    ) {
        let profile = self.rules.profiles.entry(port).or_default();
        #[allow(clippy::wildcard_enum_match_arm, reason = "the caller names the statements")]
        match kept {
            Kept::PortProfileUdp => profile.udp_only = true,
            Kept::PortProfileTcp => profile.udp_only = false,
            Kept::PortProfileTcpKeepalive | Kept::PortProfileUdpKeepalive => {
                profile.keepalive = true;
                profile.times = reading.number("seconds").zip(reading.number("count"));
            }
            Kept::PortProfileTcpKeepaliveProtocol | Kept::PortProfileUdpKeepaliveProtocol => {
                profile.keepalive = true;
                profile.protocol = reading.number("port").map(Application);
            }
            Kept::PortProfileNoFastBringup => profile.slow_bringup = true,
            _ => {}
        }
    }

    /// Reads a statement of a port of the real server at this place.
    pub(in crate::model) fn port(
        &mut self,
        place: usize,
        port: Application,
        kept: Kept,
        reading: &Reading<'_>,
    ) {
        let rules = self.ports.entry((place, port)).or_default();
        #[allow(clippy::wildcard_enum_match_arm, reason = "the caller names the statements")]
        match kept {
            Kept::RealPortKeepalive | Kept::RealHttpKeepalive => rules.keepalive = true,
            Kept::RealPortL4CheckOnly | Kept::RealHttpL4CheckOnly => rules.connection_only = true,
            Kept::RealPortAddressQuery => {
                rules.question = reading.text("name").map(|name| DnsQuestion::Address(name.into()));
            }
            Kept::RealPortZone => {
                rules.question = reading.text("zone").map(|zone| DnsQuestion::Zone(zone.into()));
            }
            Kept::RealPortPolicy | Kept::RealHttpPortPolicy => {
                rules.policy = reading.text("policy").map(str::to_ascii_lowercase);
            }
            Kept::RealHttpUrl => rules.request = reading.text("url").map(Into::into),
            Kept::RealHttpStatusCode => rules.status_codes(reading),
            Kept::RealHttpContentMatch => {
                rules.list = reading.text("list").map(str::to_ascii_lowercase);
            }
            _ => {}
        }
    }

    /// Begins a match list; gives its place.
    pub(in crate::model) fn open_list(&mut self, name: &str) -> usize {
        self.lists.push((name.to_ascii_lowercase(), MatchList::default()));
        self.lists.len() - 1
    }

    /// Reads a statement of the match list at this place.
    pub(in crate::model) fn list(&mut self, place: usize, kept: Kept, reading: &Reading<'_>) {
        let Some((_, list)) = self.lists.get_mut(place) else { return };
        if kept == Kept::MatchListDefault {
            list.default_down = reading.word("state") == Some(DOWN);
        } else if let Some(start) = reading.text("start") {
            let is_down = matches!(kept, Kept::MatchListDown | Kept::MatchListDownCompound);
            let texts = if is_down { &mut list.down } else { &mut list.up };
            texts.push(MatchText { start: start.into(), end: reading.text("end").map(Into::into) });
        }
    }
}

/// Name of a choice in the grammar's type of health.
const DOWN: &str = "down";

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::appliance::Appliance;
    use crate::clock::DrivenClock;

    const CONFIGURATION: &str = "\
http match-list fine
 default down
 up simple \"yes\"
!
server port-policy web
 protocol http
 protocol http url \"GET /ready HTTP/1.1\"
 protocol http status-code 204 204
 protocol http content-match fine
!
server port-policy directory
 protocol ldap
!
server real a 192.0.2.1
 port 8080
 port 8080 keepalive
 port 8080 use-port-policy WEB
 port http
 port http use-port-policy directory
 port ssl
!
server real b 192.0.2.2
 port 8080
!
server virtual one 203.0.113.1
 port 8080
 port 8080 use-port-policy directory
 bind 8080 a 8080 b 8080
!
server virtual two 203.0.113.2
 port 8080
 port 8080 use-port-policy web
 bind 8080 b 8080
!
";

    #[test]
    fn a_port_is_checked_as_its_own_policy_says_or_else_the_first_virtual_one() {
        let appliance = Appliance::in_memory(Arc::new(DrivenClock::new()));
        appliance.start_with(CONFIGURATION);
        assert!(appliance.configuration().rejected.is_empty());
        let snapshot = appliance.current();
        let check = |last: u8, port| {
            snapshot.balancing.checks.of_server(IpAddr::from([192, 0, 2, last]), Application(port))
        };
        let Check { protocol: Protocol::Http(request), keepalive, .. } = check(1, 8080) else {
            panic!("not as a web server")
        };
        assert_eq!(&*request.request, "GET /ready HTTP/1.1");
        assert_eq!(request.status_codes, [(204, 204)]);
        assert!(request.matches.is_some_and(|list| list.default_down));
        assert!(keepalive, "that is said of the port itself");
        assert_eq!(check(1, 80).protocol, Protocol::Ldap);
        assert_eq!(check(1, 443).protocol, Protocol::Ssl);
        assert_eq!(check(2, 8080).protocol, Protocol::Ldap, "the first counts");
    }
}
