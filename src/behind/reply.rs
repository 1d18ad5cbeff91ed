//! What a server says to a question.

use hickory_proto::op::ResponseCode;
use hickory_proto::rr::Record;

/// A reply, whether it was emulated or came from a real server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The return code.
    pub code: ResponseCode,
    /// AA: the server speaks for the name.
    pub authoritative: bool,
    /// RA: the server would look further for the client.
    pub recursion_available: bool,
    /// AD: the server has checked signatures (RFC 4035 section 3.2.3).
    pub authentic_data: bool,
    /// The answer section.
    pub answers: Vec<Record>,
    /// The authority section.
    pub authorities: Vec<Record>,
    /// The additional section without the OPT record, which concerns one hop only.
    pub additionals: Vec<Record>,
}

impl Reply {
    /// A reply that consists of a return code.
    #[must_use]
    pub const fn of_code(code: ResponseCode, authoritative: bool) -> Self {
        Reply {
            code,
            authoritative,
            recursion_available: false,
            authentic_data: false,
            answers: Vec::new(),
            authorities: Vec::new(),
            additionals: Vec::new(),
        }
    }
}
