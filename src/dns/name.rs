//! Domain names in wire form (RFC 1035 sections 3.1 and 4.1.4), as borrowed bytes.
//!
//! Knows nothing of messages or of the configuration. Every function takes arbitrary bytes.

use hickory_proto::rr::Name;
use smallvec::SmallVec;

/// Longest name in wire form, with the length bytes and the root label (RFC 1035 section 2.3.4).
pub const MAX_NAME: usize = 255;

/// Longest label (RFC 1035 section 2.3.4).
pub const MAX_LABEL: usize = 63;

/// A lower-case name in wire form: the form in which names are compared and looked up.
pub type Key = SmallVec<[u8; 64]>;

/// Length of the uncompressed name that `bytes` begin with, its root label included.
///
/// `None` if the bytes end too early, the name or a label is too long, or a label is a pointer.
#[must_use]
pub fn uncompressed_length(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let label = usize::from(*bytes.get(at)?);
        at += 1 + label;
        if label > MAX_LABEL || at > MAX_NAME {
            return None;
        }
        if label == 0 {
            return Some(at);
        }
    }
}

/// Length of the name that `bytes` begin with, which may end in a compression pointer.
///
/// The pointer is not followed, so the work is bounded by the length of the name.
#[must_use]
pub fn compressed_length(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    while at < MAX_NAME {
        let label = *bytes.get(at)?;
        match label {
            0 => return Some(at + 1),
            1..=0x3f => at += 1 + usize::from(label),
            0x40..=0xbf => return None,
            0xc0..=0xff => return bytes.get(at + 1).map(|_| at + 2),
        }
    }
    None
}

/// The key of an uncompressed name.
#[must_use]
pub fn key(name: &[u8]) -> Key {
    // Length bytes are at most 63 and so below `A`: folding them with the rest changes none.
    name.iter().map(u8::to_ascii_lowercase).collect()
}

/// The key of a name in text form, with or without a final dot; `None` if it is no domain name.
///
/// Takes names as configurations hold them: every dot separates two labels, nothing is escaped.
#[must_use]
pub fn key_of_text(text: &str) -> Option<Key> {
    let text = text.strip_suffix('.').unwrap_or(text);
    let labels = (!text.is_empty()).then(|| text.split('.').map(str::as_bytes));
    key_of_labels(labels.into_iter().flatten())
}

/// The key of the name that these labels make; `None` if one is empty or too long, or all are.
pub fn key_of_labels<'a>(labels: impl IntoIterator<Item = &'a [u8]>) -> Option<Key> {
    let mut key = Key::new();
    for label in labels {
        let length = u8::try_from(label.len()).ok().filter(|length| *length > 0)?;
        key.push(length);
        key.extend(label.iter().map(u8::to_ascii_lowercase));
    }
    key.push(0);
    (uncompressed_length(&key) == Some(key.len())).then_some(key)
}

/// The key of a name of the library.
#[must_use]
pub fn key_of_name(name: &Name) -> Key {
    let mut key = Key::new();
    for label in name {
        // A label of the library holds 63 bytes at most.
        key.push(u8::try_from(label.len()).unwrap_or(0));
        key.extend(label.iter().map(u8::to_ascii_lowercase));
    }
    key.push(0);
    key
}

/// Where the name `ancestor` begins within the name `name`, if it ends that name; both are keys.
#[must_use]
pub fn offset_of_ancestor(name: &[u8], ancestor: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(rest) = name.get(at..) {
        if rest == ancestor {
            return Some(at);
        }
        match rest.first() {
            None | Some(0) => return None,
            Some(length) => at += 1 + usize::from(*length),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_the_first_name() {
        assert_eq!(uncompressed_length(b"\x03www\x00rest"), Some(5));
        assert_eq!(uncompressed_length(b"\x00"), Some(1));
        assert_eq!(uncompressed_length(b"\x03ww"), None);
        assert_eq!(uncompressed_length(b""), None);
        assert_eq!(uncompressed_length(b"\x01a\xc0\x0c"), None);
        assert_eq!(compressed_length(b"\x01a\xc0\x0crest"), Some(4));
        assert_eq!(compressed_length(b"\x01a\xc0"), None);
        assert_eq!(compressed_length(b"\x40"), None);
        assert_eq!(compressed_length(b"\x00"), Some(1));
    }

    #[test]
    fn a_name_holds_255_bytes_and_no_more() {
        let mut name = Vec::new();
        for _ in 0..3 {
            name.push(63);
            name.extend([b'a'; 63]);
        }
        name.push(61);
        name.extend([b'a'; 61]);
        name.push(0);
        assert_eq!(name.len(), MAX_NAME);
        assert_eq!(uncompressed_length(&name), Some(MAX_NAME));
        assert_eq!(compressed_length(&name), Some(MAX_NAME));
        name[3 * 64] = 62;
        name.insert(3 * 64 + 1, b'a');
        assert_eq!(uncompressed_length(&name), None);
        assert_eq!(compressed_length(&name), None);
    }

    #[test]
    fn keys_are_lower_case() {
        assert_eq!(key(b"\x03wWw\x00").as_slice(), b"\x03www\x00");
        assert_eq!(key_of_text("wWw.A").as_deref(), Some(&b"\x03www\x01a\x00"[..]));
        assert_eq!(key_of_text("www.a."), key_of_text("www.a"));
        assert_eq!(key_of_text(".").as_deref(), Some(&b"\x00"[..]));
        assert_eq!(key_of_text("www..a"), None);
        assert_eq!(key_of_text(&"a".repeat(64)), None);
        assert_eq!(key_of_text(&["a"; 128].join(".")), None);
    }

    #[test]
    fn ancestors_end_at_label_boundaries() {
        let name = key(b"\x03www\x01a\x00");
        assert_eq!(offset_of_ancestor(&name, b"\x01a\x00"), Some(4));
        assert_eq!(offset_of_ancestor(&name, &name), Some(0));
        assert_eq!(offset_of_ancestor(&name, b"\x00"), Some(6));
        assert_eq!(offset_of_ancestor(&name, b"\x01b\x00"), None);
        assert_eq!(offset_of_ancestor(&key(b"\x05www\x01a\x00"), b"\x01a\x00"), None);
    }
}
