//! The text of a saved configuration while nobody reads it.

use std::borrow::Cow;

use lz4_flex::block;

/// The text of a saved configuration. It is looked at when a user asks for it or restarts the
/// device, so a long one is kept compressed in the meantime.
#[derive(Clone, Debug, Default)]
pub struct SavedText {
    /// Its length in bytes.
    length: usize,
    form: Form,
}

#[derive(Clone, Debug)]
enum Form {
    Plain(Box<str>),
    Compressed(Box<[u8]>),
}

/// Texts of up to so many bytes are kept as they are.
const SHORT: usize = 16 * 1024;

impl Default for Form {
    fn default() -> Self {
        Form::Plain(Box::default())
    }
}

impl SavedText {
    /// Its length in bytes.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether nothing was saved.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The text.
    ///
    /// # Panics
    ///
    /// The memory of the program was changed by something else.
    pub fn text(&self) -> Cow<'_, str> {
        match &self.form {
            Form::Plain(text) => Cow::Borrowed(text),
            Form::Compressed(bytes) => {
                let text = block::decompress(bytes, self.length);
                let text = text.expect("what was compressed here is read here");
                Cow::Owned(String::from_utf8(text).expect("it was text"))
            }
        }
    }
}

impl From<&str> for SavedText {
    fn from(text: &str) -> Self {
        let form = if text.len() <= SHORT {
            Form::Plain(text.into())
        } else {
            Form::Compressed(block::compress(text.as_bytes()).into_boxed_slice())
        };
        SavedText { length: text.len(), form }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_long_text_takes_less_room() {
        let text = " host-info www http\n".repeat(10_000);
        let saved = SavedText::from(text.as_str());
        assert_eq!(saved.len(), text.len());
        let Form::Compressed(bytes) = &saved.form else { panic!("it is long") };
        assert!(bytes.len() < text.len() / 20, "{}", bytes.len());
    }

    proptest! {
        #[test]
        fn every_text_comes_back(line in "\\PC*", times in 0_usize..3_000) {
            let text = line.repeat(times);
            let saved = SavedText::from(text.as_str());
            prop_assert_eq!(saved.text(), text.as_str());
            prop_assert_eq!(saved.is_empty(), text.is_empty());
        }
    }
}
