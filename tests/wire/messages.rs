//! Questions made by hand, byte by byte, so that they can be wrong.

use adxemu::dns::name::MAX_LABEL;

pub(crate) const A: u16 = 1;
pub(crate) const MX: u16 = 15;
pub(crate) const AAAA: u16 = 28;
pub(crate) const ANY: u16 = 255;

/// Length of a header.
pub(crate) const HEADER: usize = 12;

/// A question of class IN, in the spelling given.
pub(crate) fn question(id: u16, name: &str, record_type: u16) -> Vec<u8> {
    let mut message = id.to_be_bytes().to_vec();
    message.extend([0x01, 0x00, 0, 1, 0, 0, 0, 0, 0, 0]);
    for label in name.split('.').filter(|label| !label.is_empty()) {
        assert!(label.len() <= MAX_LABEL);
        message.push(u8::try_from(label.len()).unwrap());
        message.extend(label.bytes());
    }
    message.push(0);
    message.extend(record_type.to_be_bytes());
    message.extend([0, 1]);
    message
}

/// The same with an OPT record.
pub(crate) fn with_opt(
    mut message: Vec<u8>,
    payload: u16,
    version: u8,
    flags: u16,
    options: &[u8],
) -> Vec<u8> {
    message[11] += 1;
    message.extend([0, 0, 41]);
    message.extend(payload.to_be_bytes());
    message.extend([0, version]);
    message.extend(flags.to_be_bytes());
    message.extend(u16::try_from(options.len()).unwrap().to_be_bytes());
    message.extend(options);
    message
}

/// An EDNS option.
pub(crate) fn option(code: u16, data: &[u8]) -> Vec<u8> {
    let mut bytes = code.to_be_bytes().to_vec();
    bytes.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
    bytes.extend(data);
    bytes
}
