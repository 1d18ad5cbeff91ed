//! The questions that a session asks, and that the next line answers.

use crate::grammar::link::Message;
use crate::model::access::Method;

/// A question that waits for an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Whether to restart.
    Reload,
    /// Whether to restart although something is not saved.
    ReloadUnsaved,
    /// A password for the privileged level, checked by that method.
    EnablePassword(Method),
    /// Whether a banner was read; then comes the next question, if there is one.
    Banner(Option<Box<Question>>),
    /// The name of an account for the privileged level.
    EnableName,
    /// Its password.
    EnableAccount {
        /// The name.
        name: String,
    },
    /// The name of an account at the beginning of a session.
    LoginName {
        /// How often it may still be tried.
        tries: u8,
    },
    /// A password at the beginning of a session.
    LoginPassword {
        /// Who checks it.
        method: Method,
        /// The account, if there is one.
        name: Option<String>,
        /// How often it may still be tried.
        tries: u8,
    },
}

impl Question {
    /// Whether the answer must not be shown.
    pub fn is_secret(&self) -> bool {
        match self {
            Question::EnablePassword(_)
            | Question::EnableAccount { .. }
            | Question::LoginPassword { .. } => true,
            Question::Reload
            | Question::ReloadUnsaved
            | Question::Banner(_)
            | Question::EnableName
            | Question::LoginName { .. } => false,
        }
    }

    /// Its text, and whether a blank stands between it and the answer.
    pub(super) fn text(&self) -> (Message, bool) {
        match self {
            Question::Reload => (Message::ReloadQuestion, true),
            Question::ReloadUnsaved => (Message::ReloadUnsavedQuestion, true),
            Question::Banner(_) => (Message::AcceptBanner, false),
            Question::EnableName => (Message::UserPrompt, false),
            Question::EnablePassword(_) | Question::EnableAccount { .. } => {
                (Message::PasswordPrompt, false)
            }
            Question::LoginName { .. } => (Message::LoginName, true),
            Question::LoginPassword { .. } => (Message::LoginPassword, true),
        }
    }
}
