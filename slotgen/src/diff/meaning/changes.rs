//! The differences in meaning as data.

use serde::Serialize;

/// What differs in meaning between two releases, older first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ByMeaning {
    /// The older release.
    pub from: String,
    /// The newer release.
    pub to: String,
    /// Functions that both releases have, translated to the same text.
    pub same_text: usize,
    /// Functions whose text changed and whose meaning did not.
    pub only_text: Vec<String>,
    /// Operations that mean something else, those that programs see first, then the most used.
    pub rows: Vec<Row>,
    /// Functions whose C changed, that are not translated in both releases, and whose calls and messages are the same; each
    /// with the reason.
    pub not_compared: Vec<(String, String)>,
}

/// A function that means something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Slots that it fills, or the operations and slots from which it is reached.
    pub operations: Vec<String>,
    /// Whether it fills a slot, is a part of the C API, or is reached from such functions only.
    pub role: &'static str,
    /// The functions: more than one where the same changed in each.
    pub functions: Vec<String>,
    /// Their C file.
    pub file: String,
    /// How many functions reach the most used of them.
    pub used_by: usize,
    /// Whether the C was compared, its calls and messages, because the function is not translated in both releases.
    pub from_text: bool,
    /// What changed.
    pub changes: Vec<Change>,
}

/// What kind of change it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Another exception is raised.
    Exception,
    /// The exception has another message.
    Message,
    /// A call more.
    CallAdded,
    /// A call less.
    CallGone,
    /// The same calls in another order.
    Order,
    /// A check more.
    CheckAdded,
    /// A check less.
    CheckGone,
    /// The same calls with other arguments.
    Arguments,
    /// Another result.
    Result,
    /// The same steps, put together otherwise.
    Arrangement,
}

/// A change of a function.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Change {
    /// What kind of change it is.
    pub kind: Kind,
    /// What it was.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub before: String,
    /// What it is.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub after: String,
}

impl Kind {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Exception => "another exception",
            Self::Message => "another message",
            Self::CallAdded => "calls",
            Self::CallGone => "no longer calls",
            Self::Order => "another order of calls",
            Self::CheckAdded => "checks",
            Self::CheckGone => "no longer checks",
            Self::Arguments => "other arguments",
            Self::Result => "another result",
            Self::Arrangement => "the same steps, put together otherwise",
        }
    }
}
