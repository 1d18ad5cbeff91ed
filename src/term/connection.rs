//! What keeps a shell going: bytes from a connection to it, text from it to the connection.
//!
//! A session costs a task and no thread. What a line does is done on a thread for such work, one
//! line at a time, so a long one holds up nobody else; a client that does not read what it is sent
//! holds up only itself, and what it types meanwhile is kept as far as there is room.

use std::future::Future;
use std::io;

use tokio::sync::watch;
use tokio::task::spawn_blocking;

use super::shell::{MOST_TYPED_AHEAD, MUCH_TYPED_AHEAD, Shell};
use crate::appliance::Appliance;
use crate::cli::sessions::LineKind;
use crate::clock::Moment;
use crate::model::lines::LineSettings;

/// What arrives.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// Keys.
    Typed(Vec<u8>),
    /// The terminal has that many columns now.
    Width(usize),
    /// The screen may no longer show the line that is being edited.
    #[cfg_attr(not(unix), allow(dead_code, reason = "only the console can be left and come back"))]
    Again,
    /// This must be sent at once: it belongs to the protocol.
    Answer(Vec<u8>),
    /// Nothing more will be typed; what was, still counts.
    End,
}

/// Where keys come from. What waits for them may give up at any moment and lose nothing.
pub(crate) trait Source: Send {
    /// The next thing to arrive; `None` when the connection is gone.
    fn next(&mut self) -> impl Future<Output = Option<Input>> + Send;
}

/// Where text goes to.
pub(crate) trait Sink: Send {
    /// Sends bytes; waits as long as the other end does not take them.
    fn send(&mut self, bytes: Vec<u8>) -> impl Future<Output = io::Result<()>> + Send;
}

/// A client that has not said who it is.
pub(crate) trait Guest: Send {
    /// Whether the time to say it has passed.
    fn is_late(&self, now: Moment) -> bool;
}

/// Nobody waits for that on the console.
impl Guest for () {
    fn is_late(&self, _now: Moment) -> bool {
        false
    }
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Its user left, or was made to.
    Over,
    /// The connection is gone.
    Gone,
    /// Nothing was typed for too long.
    Idle,
    /// More was typed ahead than is kept, by a client that does not read what it is sent.
    Flood,
    /// Nobody said in time who it is.
    TooLate,
    /// A line ended the thread that it ran on; that is a fault of the program.
    Fault,
}

/// Runs a session to its end. `newcomer` is dropped once the user is known.
pub(crate) async fn run<G: Guest>(
    shell: Shell,
    source: &mut impl Source,
    sink: &mut impl Sink,
    newcomer: Option<G>,
) -> Ending {
    let bells = shell.session().appliance().log.subscribe();
    let mut runner =
        Runner { shell: Some(shell), bells, newcomer, is_ended: false, answer: Vec::new() };
    loop {
        if let Some(ending) = runner.step(source, sink).await {
            return ending;
        }
    }
}

struct Runner<G> {
    /// Away only while a line runs.
    shell: Option<Shell>,
    bells: watch::Receiver<()>,
    newcomer: Option<G>,
    /// Whether nothing more will be typed.
    is_ended: bool,
    /// What the protocol must answer.
    answer: Vec<u8>,
}

impl<G: Guest> Runner<G> {
    /// Sends what there is to send, runs what there is to run, or waits. Gives the end, if this is
    /// it.
    async fn step(&mut self, source: &mut impl Source, sink: &mut impl Sink) -> Option<Ending> {
        let Some(shell) = &mut self.shell else { return Some(Ending::Fault) };
        // Before the prompt goes out that tells the client so.
        if !shell.session().is_logging_in() {
            self.newcomer = None;
        }
        let mut output = std::mem::take(&mut self.answer);
        output.extend(shell.take_output().into_bytes());
        if !output.is_empty() {
            return self.send(output, source, sink).await;
        }
        if shell.is_over() {
            return Some(Ending::Over);
        }
        if shell.can_go_on() {
            self.go_on(source).await;
            return None;
        }
        if self.is_ended && !shell.is_resting() {
            return Some(Ending::Gone);
        }
        let may_receive = !self.is_ended && shell.typed_ahead() < MUCH_TYPED_AHEAD;
        tokio::select! {
            input = source.next(), if may_receive => match input {
                Some(input) => self.take(input),
                None => return Some(Ending::Gone),
            },
            rings = self.bells.changed() => {
                if rings.is_err() {
                    return Some(Ending::Over);
                }
                if let Some(ending) = self.deadline() {
                    return Some(ending);
                }
                if let Some(shell) = &mut self.shell {
                    shell.show_notices();
                }
            }
        }
        None
    }

    /// Runs what there is to run. What is typed meanwhile is kept, as far as there is room, and a
    /// Control-C reaches the line that runs.
    async fn go_on(&mut self, source: &mut impl Source) {
        let Some(mut shell) = self.shell.take() else { return };
        let interruption = shell.session().interruption().clone();
        let mut ahead = shell.typed_ahead();
        let mut running = spawn_blocking(move || {
            shell.go_on();
            shell
        });
        let mut arrived = Vec::new();
        let ran = loop {
            tokio::select! {
                biased;
                ran = &mut running => break ran,
                input = source.next(), if !self.is_ended && ahead < MUCH_TYPED_AHEAD => match input {
                    Some(Input::Typed(bytes)) => {
                        interruption.take(&bytes);
                        ahead += bytes.len();
                        arrived.push(Input::Typed(bytes));
                    }
                    Some(other) => arrived.push(other),
                    // What was typed still counts.
                    None => self.is_ended = true,
                },
            }
        };
        self.shell = ran.ok();
        for input in arrived {
            self.take(input);
        }
    }

    /// Sends; what is typed meanwhile is not lost, and a session that was killed or has stood
    /// still for too long ends although its client takes nothing.
    async fn send(
        &mut self,
        output: Vec<u8>,
        source: &mut impl Source,
        sink: &mut impl Sink,
    ) -> Option<Ending> {
        let mut sending = std::pin::pin!(sink.send(output));
        loop {
            // Not only while there is little: the other end may be waiting for its own bytes to be
            // taken before it takes ours.
            let ahead = self.shell.as_ref().map_or(0, Shell::typed_ahead) + self.answer.len();
            if ahead > MOST_TYPED_AHEAD {
                return Some(Ending::Flood);
            }
            tokio::select! {
                biased;
                sent = &mut sending => return sent.is_err().then_some(Ending::Gone),
                input = source.next(), if !self.is_ended => match input {
                    Some(input) => self.take(input),
                    None => return Some(Ending::Gone),
                },
                rings = self.bells.changed() => {
                    if rings.is_err() {
                        return Some(Ending::Over);
                    }
                    if let Some(ending) = self.deadline() {
                        return Some(ending);
                    }
                }
            }
        }
    }

    fn take(&mut self, input: Input) {
        let Some(shell) = &mut self.shell else { return };
        match input {
            Input::Typed(bytes) => shell.receive(&bytes),
            Input::Width(columns) => shell.set_width(columns),
            Input::Again => shell.show_again(),
            Input::Answer(bytes) => self.answer.extend(bytes),
            Input::End => self.is_ended = true,
        }
    }

    /// The end of a session whose time is up.
    fn deadline(&mut self) -> Option<Ending> {
        let shell = self.shell.as_mut()?;
        if shell.session().is_killed() {
            return Some(Ending::Over);
        }
        let now = shell.session().appliance().clock.now();
        if self.newcomer.as_ref().is_some_and(|newcomer| newcomer.is_late(now)) {
            return Some(Ending::TooLate);
        }
        let settings = line_settings(shell.session().appliance());
        let longest = match shell.session().line_kind() {
            LineKind::Console => {
                shell.pass_time();
                None
            }
            LineKind::Telnet => settings.telnet_idle,
            LineKind::Ssh => settings.ssh_idle,
        };
        longest.is_some_and(|longest| shell.idle() >= longest).then_some(Ending::Idle)
    }
}

/// What holds for the lines of an appliance as the last command left it.
pub(crate) fn line_settings(appliance: &Appliance) -> LineSettings {
    let configuration = appliance.configuration();
    LineSettings::read(&appliance.grammar, &configuration.trees.configuration)
}
