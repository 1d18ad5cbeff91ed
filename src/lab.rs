//! Several appliances in one process, which learn of each other over the GSLB protocol.
//!
//! Nothing is sent: a site device's own configuration and its measured state are looked at when the
//! controller's snapshot is asked for, and what is other than at the last look is told to the
//! controller, as a report would (emulated-world 3). So a line typed at one appliance travels to
//! the answers of another before the next question, and settings made by `emulate` at the
//! controller stay until the device itself reports something else (emulated-world 1).
//!
//! Whether a VIP passes its checks is no report: `vips` derives it from the devices that carry it.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use hashbrown::{HashMap, HashSet};

use crate::appliance::Appliance;
use crate::cli::session::Session;
use crate::clock::Clock;
use crate::config::capture;
use crate::dns::{Responder, Settings};
use crate::grammar::Grammar;
use crate::health::own::Own;
use crate::health::state::{Connection, ReportedVip, States};
use crate::model::snapshot::{Application, Snapshot};
use crate::model::world::RttReports;
use crate::store::{self, StoreError};

mod vips;

use vips::{Device, VipHealth};

/// Appliances that know each other.
#[derive(Debug)]
pub struct Lab {
    members: Vec<Member>,
    /// Where the configurations come from, if from files.
    folder: OnceLock<PathBuf>,
    /// What the line of a scenario file was answered with, if it was refused.
    complaints: Mutex<Vec<String>>,
    /// Something changed since the last delivery.
    is_due: AtomicBool,
    told: Mutex<Told>,
}

/// What was told so far.
#[derive(Debug, Default)]
struct Told {
    /// Reports to each controller, by its place and the device's address.
    reports: HashMap<(usize, IpAddr), Report>,
    /// Whether each application of a VIP passes its checks.
    health: VipHealth,
}

/// An appliance of a lab.
#[derive(Debug)]
pub struct Member {
    /// Name of its file without the extension.
    pub name: String,
    /// The appliance, and how it answers questions.
    pub responder: Arc<Responder>,
}

/// The files of a lab, each with its name.
#[derive(Clone, Debug)]
pub struct Files {
    /// Configurations, by the names of their files without the extension.
    pub configurations: Vec<(String, String)>,
    /// Scenarios, by the names of their files.
    pub scenarios: Vec<(String, String)>,
}

impl Files {
    /// Reads every `*.cfg` and `*.emu` of a folder, in the order of their names.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or there is no configuration.
    pub fn read(grammar: &Grammar, folder: &Path) -> Result<Self, LabError> {
        let mut configurations = Vec::new();
        for path in files(folder, Lab::CONFIGURATION)? {
            let text = capture::clean(grammar, &store::read_text(&path)?).into_owned();
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            configurations.push((name, text));
        }
        if configurations.is_empty() {
            return Err(LabError::Empty(folder.to_owned()));
        }
        let mut scenarios = Vec::new();
        for path in files(folder, Lab::SCENARIO)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            scenarios.push((name, store::read_text(&path)?));
        }
        Ok(Files { configurations, scenarios })
    }
}

/// A lab that cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A file or the folder cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The folder holds no configuration.
    #[error("{0} holds no *.cfg file")]
    Empty(PathBuf),
}

/// What a site device reports about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Report {
    connection: Connection,
    vips: Vec<VipReport>,
    /// Its session table, load and new connections; `None`: it never reported.
    own: Option<Own>,
}

/// What it reports about a VIP.
#[derive(Clone, Debug, PartialEq, Eq)]
struct VipReport {
    vip: ReportedVip,
    /// Active bindings of each port; a port without any is down.
    bindings: Vec<(Application, u32)>,
}

impl Member {
    /// Lines of its configuration that were put aside.
    pub fn rejected(&self) -> usize {
        self.responder.appliance.configuration().rejected.len()
    }
}

impl Lab {
    /// Extension of the files that are configurations.
    pub const CONFIGURATION: &str = "cfg";
    /// Extension of the files that are scenarios.
    pub const SCENARIO: &str = "emu";

    /// Starts an appliance for every `*.cfg` of a folder, then plays its `*.emu` files, both in the
    /// order of their names.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or there is none.
    pub fn start(
        grammar: &Arc<Grammar>,
        clock: &Arc<dyn Clock>,
        settings: Settings,
        folder: &Path,
    ) -> Result<Arc<Self>, LabError> {
        let Files { configurations, scenarios } = Files::read(grammar, folder)?;
        let lab = Self::of(grammar, clock, settings, configurations);
        // It is new, so nobody has set it.
        let _ = lab.folder.set(folder.to_owned());
        for (name, text) in scenarios {
            lab.play(&name, &text);
        }
        Ok(lab)
    }

    /// Reads the configurations again and restarts every appliance from its own. Nothing changes
    /// if one cannot be read. Appliances do not come or go, and scenarios are not played again.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or the lab was not started from a folder.
    pub fn reload(&self) -> Result<(), LabError> {
        let folder = self.folder.get().ok_or_else(|| LabError::Empty(PathBuf::new()))?;
        let texts = self.members.iter().map(|member| {
            let text = store::read_text(&folder.join(format!("{}.cfg", member.name)))?;
            Ok(capture::clean(&member.responder.appliance.grammar, &text).into_owned())
        });
        let texts = texts.collect::<Result<Vec<_>, StoreError>>()?;
        for (member, text) in self.members.iter().zip(texts) {
            member.responder.appliance.start_with(&text);
        }
        self.something_changed();
        Ok(())
    }

    /// A lab of configurations with their names.
    pub fn of(
        grammar: &Arc<Grammar>,
        clock: &Arc<dyn Clock>,
        settings: Settings,
        configurations: Vec<(String, String)>,
    ) -> Arc<Self> {
        let first = Appliance::new(Arc::clone(grammar), Arc::clone(clock), None);
        let members = configurations
            .into_iter()
            .map(|(name, text)| {
                let appliance = Appliance::beside(&first);
                appliance.start_with(&text);
                let responder = Responder { appliance: Arc::new(appliance), settings };
                Member { name, responder: Arc::new(responder) }
            })
            .collect();
        let lab = Arc::new(Lab {
            members,
            folder: OnceLock::new(),
            complaints: Mutex::default(),
            is_due: AtomicBool::new(true),
            told: Mutex::default(),
        });
        for member in &lab.members {
            member.responder.appliance.join(&lab);
        }
        lab.deliver();
        for member in &lab.members {
            member.responder.appliance.apply_world_again();
        }
        lab
    }

    /// The appliances in the order of their names.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The appliance of that name: that of its file, else its host name; in any case.
    pub fn member(&self, name: &str) -> Option<&Member> {
        let by_file = self.members.iter().find(|member| member.name.eq_ignore_ascii_case(name));
        by_file.or_else(|| {
            let host_name = |member: &&Member| {
                let snapshot = member.responder.appliance.own_current();
                snapshot.device_name.eq_ignore_ascii_case(name)
            };
            self.members.iter().find(host_name)
        })
    }

    /// The appliance that gets the first console: the first one with sites, else the first one.
    ///
    /// # Panics
    ///
    /// Never: a lab without appliances is not made.
    pub fn controller(&self) -> &Member {
        let controls =
            |member: &&Member| !member.responder.appliance.own_current().sites.is_empty();
        let first = self.members.iter().find(controls).or_else(|| self.members.first());
        first.expect("a lab has appliances")
    }

    /// What scenario files were refused, with file and line.
    pub fn complaints(&self) -> Vec<String> {
        self.complaints.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Plays a scenario: commands, one a line, typed at the first console. Gives the lines that were
    /// answered, with the first line of the answer, and remembers them as complaints: a command that
    /// is not refused says nothing.
    pub fn play(&self, name: &str, text: &str) -> Vec<(usize, String)> {
        let mut session = Session::privileged(Arc::clone(&self.controller().responder));
        let mut answers = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let answer = session.run(line);
            answers.extend(answer.lines().next().map(|first| (index + 1, first.to_owned())));
        }
        let complaints = answers.iter().map(|(line, answer)| format!("{name}:{line}: {answer}"));
        self.complaints.lock().unwrap_or_else(PoisonError::into_inner).extend(complaints);
        answers
    }

    /// Lets everything happen that has fallen due, at every appliance.
    pub fn pass_time(&self) {
        self.something_changed();
        for member in &self.members {
            member.responder.appliance.pass_time();
        }
    }

    /// A line was accepted, or time passed: the next one who asks gets new reports.
    pub(crate) fn something_changed(&self) {
        self.is_due.store(true, Ordering::Release);
    }

    /// Forgets what the controllers were told, so that everything is told again.
    pub(crate) fn tell_again(&self) {
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = Told::default();
        self.something_changed();
    }

    /// Delivers what is other than at the last delivery.
    pub(crate) fn deliver(&self) {
        if !self.is_due.load(Ordering::Acquire) {
            return;
        }
        // Who comes second waits, so that nobody answers from old reports.
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.is_due.swap(false, Ordering::AcqRel) {
            return;
        }
        let snapshots: Vec<Arc<Snapshot>> = self
            .members
            .iter()
            .map(|member| Arc::clone(&member.responder.appliance.own_current()))
            .collect();
        let mut owners: HashMap<IpAddr, usize> = HashMap::new();
        for (place, snapshot) in snapshots.iter().enumerate() {
            for address in &snapshot.own_addresses {
                owners.entry(*address).or_insert(place);
            }
        }
        // All of them look at the same addresses.
        let states = &self.controller().responder.appliance.states;
        let devices: Vec<Device<'_>> =
            snapshots.iter().map(|snapshot| Device::of(snapshot, states)).collect();
        let holders = vips::holders(&devices);
        vips::tell(states, &mut told.health, vips::health(&devices, states));
        for (place, snapshot) in snapshots.iter().enumerate() {
            let controller = &self.members[place].responder.appliance;
            for server in &snapshot.servers {
                let owner = owners.get(&server.address).copied();
                if owner.is_none() && is_described(controller, server.address) {
                    // Who was silent so far answers as soon as it is described.
                    let was_silent = told.reports.remove(&(place, server.address)).is_some();
                    if was_silent && server.state.connection() == Connection::Attempting {
                        server.state.set_connection(Connection::Established);
                    }
                    continue;
                }
                let mut report = owner.map_or_else(Report::silent, |owner| {
                    let own = self.members[owner].responder.appliance.states.own();
                    let is_self = owner == place;
                    report_of(snapshot, devices[owner], states, own, is_self, |vip| {
                        vips::is_standby(&holders, vip, owner)
                    })
                });
                let old = told.reports.get(&(place, server.address));
                let is_silent = report.own.is_none();
                if let Some(old) = old.filter(|_| is_silent) {
                    // A device that is silent has not withdrawn anything (decisions 3.6), but what
                    // its partner has taken over it does not hold any more.
                    report.vips.clone_from(&old.vips);
                    report.own.clone_from(&old.own);
                    for vip in &mut report.vips {
                        let address = vip.vip.address;
                        vip.vip.standby |=
                            owner.is_some_and(|owner| vips::is_standby(&holders, address, owner));
                    }
                }
                if old == Some(&report) {
                    continue;
                }
                if let Some(own) = &report.own {
                    let before = old.and_then(|old| old.own.as_ref());
                    let (states, server) = (&controller.states, server.address);
                    let reports = RttReports { states, snapshot, server };
                    reports.tell(own, before, controller.clock.now());
                }
                if tell(&controller.states, server.address, old, &report) {
                    controller.owners_changed();
                }
                told.reports.insert((place, server.address), report);
            }
        }
    }
}

/// Whether `emulate` commands say what a device that no appliance of the lab is reports.
fn is_described(controller: &Appliance, address: IpAddr) -> bool {
    !controller.states.server(address).vips().is_empty()
}

impl Report {
    /// Nothing, from a device that does not answer.
    fn silent() -> Self {
        Report { connection: Connection::Attempting, vips: Vec::new(), own: None }
    }
}

/// What a device reports to a controller. One that does not speak the protocol, or on another port
/// (guide p. 30), says nothing but to itself; the connection to one that is off is lost.
fn report_of(
    controller: &Snapshot,
    device: Device<'_>,
    states: &States,
    own: Own,
    is_self: bool,
    is_standby: impl Fn(IpAddr) -> bool,
) -> Report {
    let Device { snapshot, is_on } = device;
    if !is_on {
        return Report { connection: Connection::Down, ..Report::silent() };
    }
    let is_reached =
        snapshot.speaks_protocol && snapshot.protocol_port.live == controller.protocol_port.live;
    if !is_reached && !is_self {
        return Report::silent();
    }
    let balancing = &snapshot.balancing;
    let vips = balancing.virtual_.iter().filter(|server| !server.disabled).filter_map(|server| {
        let address = server.address?;
        let ports = server.ports.iter().filter(|port| !port.disabled);
        let bindings: Vec<(Application, u32)> = ports
            .map(|port| {
                let count = balancing.active_bindings(states, server, port.application);
                (port.application, count)
            })
            .collect();
        let applications = bindings.iter().map(|(application, _)| *application).collect();
        let vip = ReportedVip { address, applications, standby: is_standby(address) };
        Some(VipReport { vip, bindings })
    });
    Report { connection: Connection::Established, vips: vips.collect(), own: Some(own) }
}

/// Tells a controller what has changed; whether the owners of VIPs have.
fn tell(states: &States, device: IpAddr, old: Option<&Report>, new: &Report) -> bool {
    let server = states.server(device);
    let mut owners_changed = false;
    if old.is_none_or(|old| old.connection != new.connection) {
        server.set_connection(new.connection);
    }
    if let Some(own) = &new.own {
        // After a lost connection the first status report comes at once.
        let is_new = old.is_none_or(|old| old.connection != new.connection);
        own.tell(&server, old.and_then(|old| old.own.as_ref()).filter(|_| !is_new));
    }
    let known: HashMap<IpAddr, &VipReport> =
        old.map_or(&[][..], |old| &old.vips).iter().map(|vip| (vip.vip.address, vip)).collect();
    let kept: HashSet<IpAddr> = new.vips.iter().map(|vip| vip.vip.address).collect();
    for gone in known.keys().filter(|address| !kept.contains(*address)) {
        server.withdraw_vip(*gone);
        owners_changed = true;
    }
    for vip in &new.vips {
        let before = known.get(&vip.vip.address);
        if before.is_none_or(|before| before.vip != vip.vip) {
            server.report_vip(vip.vip.clone());
            owners_changed = true;
        }
        if before.is_none_or(|before| before.bindings != vip.bindings) {
            for (application, count) in &vip.bindings {
                server.set_active_bindings(vip.vip.address, *application, *count);
            }
        }
    }
    owners_changed
}

/// The files of a folder with that extension, in the order of their names.
fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, StoreError> {
    let fail = |source| StoreError::File { path: folder.to_owned(), source };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.extension().is_some_and(|known| known == extension) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}
