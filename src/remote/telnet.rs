//! The Telnet protocol (RFC 854, 855, 857, 858, 1073): commands taken out of what arrives.
//!
//! The server echoes and sends without go-ahead, and wants to know how wide the terminal is;
//! everything else is refused. A client that does not speak the protocol at all is served too.

/// Interpret as command.
const IAC: u8 = 255;
const DONT: u8 = 254;
const DO: u8 = 253;
const WONT: u8 = 252;
const WILL: u8 = 251;
/// Begins parameters of an option.
const SUBNEGOTIATION: u8 = 250;
/// Ends them.
const END: u8 = 240;
const BREAK: u8 = 243;
const INTERRUPT: u8 = 244;
const ARE_YOU_THERE: u8 = 246;
const ERASE_CHARACTER: u8 = 247;
const ERASE_LINE: u8 = 248;

const ECHO: u8 = 1;
const SUPPRESS_GO_AHEAD: u8 = 3;
const WINDOW_SIZE: u8 = 31;

/// What the server says first.
pub const OFFER: [u8; 9] = [IAC, WILL, ECHO, IAC, WILL, SUPPRESS_GO_AHEAD, IAC, DO, WINDOW_SIZE];

/// The most bytes of parameters that are looked at.
const MOST_PARAMETERS: usize = 16;

/// What is answered to the question whether somebody is there.
const YES: &[u8] = b"\r\n[Yes]\r\n";

/// What arrived, without the commands.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Arrived {
    /// What was typed.
    pub typed: Vec<u8>,
    /// What must be answered at once.
    pub answer: Vec<u8>,
    /// The columns of the terminal, if it has told them.
    pub width: Option<usize>,
}

/// The end of a connection that the server has.
#[derive(Debug, Default)]
pub struct Protocol {
    state: State,
    parameters: Vec<u8>,
    /// Whether the client's own word on these two has come; a second one is answered.
    echo: Offer,
    suppress_go_ahead: Offer,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Text,
    Command,
    /// Behind WILL, WONT, DO or DONT.
    Option(u8),
    Parameters,
    /// Behind IAC in parameters.
    ParametersCommand,
}

/// What has become of something that the server does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Offer {
    /// The client has not answered yet.
    #[default]
    Made,
    Accepted,
    Refused,
}

impl Protocol {
    /// Takes what has arrived.
    pub fn receive(&mut self, bytes: &[u8]) -> Arrived {
        let mut arrived = Arrived::default();
        for byte in bytes {
            self.take(*byte, &mut arrived);
        }
        arrived
    }

    fn take(&mut self, byte: u8, arrived: &mut Arrived) {
        self.state = match self.state {
            State::Text if byte == IAC => State::Command,
            State::Text => {
                arrived.typed.push(byte);
                State::Text
            }
            State::Command => match byte {
                WILL | WONT | DO | DONT => State::Option(byte),
                SUBNEGOTIATION => {
                    self.parameters.clear();
                    State::Parameters
                }
                _ => {
                    command(byte, arrived);
                    State::Text
                }
            },
            State::Option(verb) => {
                self.negotiate(verb, byte, &mut arrived.answer);
                State::Text
            }
            State::Parameters if byte == IAC => State::ParametersCommand,
            State::Parameters => {
                self.parameter(byte);
                State::Parameters
            }
            State::ParametersCommand => match byte {
                IAC => {
                    self.parameter(IAC);
                    State::Parameters
                }
                END => {
                    if let [WINDOW_SIZE, high, low, _, _] = self.parameters[..] {
                        arrived.width = Some(usize::from(u16::from_be_bytes([high, low])));
                    }
                    State::Text
                }
                // Parameters that were broken off by another command.
                _ => {
                    self.state = State::Command;
                    return self.take(byte, arrived);
                }
            },
        };
    }

    fn parameter(&mut self, byte: u8) {
        if self.parameters.len() < MOST_PARAMETERS {
            self.parameters.push(byte);
        }
    }

    /// Answers what the client says about an option, unless it is what the server said itself:
    /// an answer to an answer would go on for ever.
    fn negotiate(&mut self, verb: u8, option: u8, answer: &mut Vec<u8>) {
        let offer = match option {
            ECHO => Some(&mut self.echo),
            SUPPRESS_GO_AHEAD => Some(&mut self.suppress_go_ahead),
            _ => None,
        };
        let says = match (verb, offer) {
            (DO, Some(offer)) => {
                let before = std::mem::replace(offer, Offer::Accepted);
                (before == Offer::Refused).then_some(WILL)
            }
            (DONT, Some(offer)) => {
                let before = std::mem::replace(offer, Offer::Refused);
                (before == Offer::Accepted).then_some(WONT)
            }
            (DO, None) => Some(WONT),
            // The client need not wait for go-aheads either; it may tell how wide it is.
            (WILL, _) if option == SUPPRESS_GO_AHEAD => Some(DO),
            (WILL, _) if option != WINDOW_SIZE => Some(DONT),
            _ => None,
        };
        if let Some(says) = says {
            answer.extend_from_slice(&[IAC, says, option]);
        }
    }
}

/// Commands that stand for a key; the others mean nothing here.
fn command(byte: u8, arrived: &mut Arrived) {
    match byte {
        IAC => arrived.typed.push(IAC),
        BREAK | INTERRUPT => arrived.typed.push(0x03),
        ERASE_CHARACTER => arrived.typed.push(0x7f),
        ERASE_LINE => arrived.typed.push(0x15),
        ARE_YOU_THERE => arrived.answer.extend_from_slice(YES),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(bytes: &[u8]) -> Arrived {
        Protocol::default().receive(bytes)
    }

    #[test]
    fn text_is_passed_on() {
        assert_eq!(received(b"enable\r\n\0").typed, b"enable\r\n\0");
        assert_eq!(received(&[b'a', IAC, IAC, b'b']).typed, [b'a', IAC, b'b']);
    }

    #[test]
    fn what_was_offered_is_agreed_on_without_an_answer() {
        let answers = [IAC, DO, ECHO, IAC, DO, SUPPRESS_GO_AHEAD, IAC, WILL, WINDOW_SIZE];
        assert_eq!(received(&answers), Arrived::default());
        assert!(received(&[IAC, DONT, ECHO]).answer.is_empty());
        // A client that changes its mind is followed, once each time.
        let changes = [IAC, DO, ECHO, IAC, DONT, ECHO, IAC, DONT, ECHO, IAC, DO, ECHO];
        assert_eq!(received(&changes).answer, [IAC, WONT, ECHO, IAC, WILL, ECHO]);
    }

    #[test]
    fn everything_else_is_refused() {
        let binary = 0;
        assert_eq!(received(&[IAC, DO, binary]).answer, [IAC, WONT, binary]);
        assert_eq!(received(&[IAC, WILL, binary]).answer, [IAC, DONT, binary]);
        assert!(received(&[IAC, DONT, binary, IAC, WONT, binary]).answer.is_empty());
        assert_eq!(received(&[IAC, WILL, ECHO]).answer, [IAC, DONT, ECHO]);
    }

    #[test]
    fn the_width_of_the_terminal() {
        let tells = [IAC, SUBNEGOTIATION, WINDOW_SIZE, 0, 132, 0, 50, IAC, END, b'x'];
        assert_eq!(
            received(&tells),
            Arrived { typed: b"x".to_vec(), width: Some(132), ..Arrived::default() }
        );
        // 255 is sent twice.
        let wide = [IAC, SUBNEGOTIATION, WINDOW_SIZE, 0, IAC, IAC, 0, 50, IAC, END];
        assert_eq!(received(&wide).width, Some(255));
        let long = [&[IAC, SUBNEGOTIATION][..], &[WINDOW_SIZE; 10_000], &[IAC, END, b'x']].concat();
        assert_eq!(received(&long), Arrived { typed: b"x".to_vec(), ..Arrived::default() });
        let broken = [IAC, SUBNEGOTIATION, 24, IAC, DO, 24, b'x'];
        assert_eq!(received(&broken).answer, [IAC, WONT, 24]);
    }

    #[test]
    fn commands_that_are_keys() {
        assert_eq!(received(&[IAC, INTERRUPT, IAC, ERASE_LINE, IAC, 241]).typed, [3, 0x15]);
        assert_eq!(received(&[IAC, ARE_YOU_THERE]).answer, YES);
    }

    #[test]
    fn packets_may_end_anywhere() {
        let bytes = [b'a', IAC, SUBNEGOTIATION, WINDOW_SIZE, 0, 100, 0, 50, IAC, END, IAC, DO, 24];
        let mut protocol = Protocol::default();
        let mut all = Arrived::default();
        for byte in bytes {
            let arrived = protocol.receive(&[byte]);
            all.typed.extend(arrived.typed);
            all.answer.extend(arrived.answer);
            all.width = all.width.or(arrived.width);
        }
        assert_eq!(all, received(&bytes));
        assert_eq!(all.width, Some(100));
    }
}
