//! Whether what a comment cites has changed its meaning since.
use super::citations::Citation;
use crate::audit::history::{Between, History};
use serde::Serialize;

/// What the first cited function means in the release cited and in the one audited.
#[derive(Clone, Debug, Serialize)]
pub struct Meaning {
    /// In words.
    pub said: String,
    /// The release that the citation means, as far as the history knows it; none where it means none.
    pub from: Option<String>,
    /// The release audited.
    pub to: String,
    /// Whether it means something else.
    pub is_other: bool,
}

impl Meaning {
    /// Looks it up in the history.
    pub fn of(cited: &Citation<'_>, names: &[String], history: &History, newest: &str) -> Self {
        let mut found = Self { said: String::new(), from: None, to: newest.to_owned(), is_other: false };
        let unknown = |why: &str| format!("not known: {why}");
        let Some(name) = names.first() else {
            found.said = unknown("no function is named");
            return found;
        };
        let Some(reference) = cited.reference else {
            found.said = unknown("no release is cited");
            return found;
        };
        let from = history.nearest(reference.trim_start_matches('v'));
        let Some((from, to)) = from.zip(history.nearest(newest)) else {
            found.said = unknown("what is cited is no release of the history");
            return found;
        };
        found.from = Some(from.to_owned());
        let Some(file) = history.file_of(name, cited.file) else {
            found.said = unknown("the history has no such function");
            return found;
        };
        let between = format!("in CPython {from} and {to}");
        let difference = history.between(&(file.to_owned(), name.clone()), from, to);
        found.is_other = matches!(difference, Between::Otherwise(_));
        found.said = match difference {
            Between::SameText => format!("the same text {between}"),
            Between::SameMeaning => format!("the same meaning {between}, in another text"),
            Between::Otherwise(steps) => format!("another meaning {between} ({})", steps.join("; ")),
            Between::Unknown => format!("another text {between}; whether the meaning changed is not known"),
            Between::Missing => unknown("one of the releases has no such function"),
        };
        found
    }
}
