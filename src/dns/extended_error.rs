//! Extended DNS errors (RFC 8914): why an answer is what it is, for who looks at it with dig.

use hickory_proto::op::ResponseCode;

use crate::dns::answer::{Answer, Origin};

/// Code of the option (RFC 8914 section 5.1).
pub const EXTENDED_ERROR: u16 = 15;

/// An extended error: its code in the registry of RFC 8914 section 5.2, and words of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtendedError {
    /// Its INFO-CODE.
    pub code: u16,
    /// Its EXTRA-TEXT.
    pub text: &'static str,
}

impl ExtendedError {
    /// What there is to say about an answer; nothing about most.
    #[must_use]
    pub fn of(answer: &Answer) -> Option<Self> {
        let of = |code, text| Some(ExtendedError { code, text });
        match (answer.origin, answer.code) {
            (Origin::UnknownName, _) => of(20, "no host of this name is configured"),
            (Origin::NoServerBehind, _) => of(22, "no DNS server behind the appliance"),
            (Origin::Rejected, ResponseCode::Refused) => of(21, "this class or type of question"),
            _ => None,
        }
    }

    /// Length of the option's data.
    #[must_use]
    pub const fn length(&self) -> usize {
        2 + self.text.len()
    }

    /// The option's data.
    #[must_use]
    pub fn data(&self) -> Vec<u8> {
        let mut data = self.code.to_be_bytes().to_vec();
        data.extend(self.text.bytes());
        data
    }
}
