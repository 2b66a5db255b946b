//! The steps of a function as one line of text: `3.9.0 there 729bbc25; 3.14.0 meaning 33aa0f12 calls`.
use serde::Serialize;

/// What became of a function in a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// It is there, and was not before.
    There,
    /// Its text is another, its meaning the same.
    Text,
    /// It means something else.
    Meaning,
    /// Its text is another, and whether its meaning is could not be told.
    Unknown,
    /// It is no longer there.
    Gone,
}

impl Change {
    const ALL: [(Change, &'static str, &'static str); 5] = [
        (Change::There, "there", "there"),
        (Change::Text, "text", "another text, the same meaning"),
        (Change::Meaning, "meaning", "another meaning"),
        (Change::Unknown, "unknown", "another text; whether the meaning changed is not known"),
        (Change::Gone, "gone", "no longer there"),
    ];

    /// Each one's key, and what it means in words.
    pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
        Self::ALL.iter().map(|row| (row.1, row.2))
    }

    /// In words.
    pub fn words(self) -> &'static str {
        Self::ALL.iter().find(|row| row.0 == self).map_or("", |row| row.2)
    }

    fn key(self) -> &'static str {
        Self::ALL.iter().find(|row| row.0 == self).map_or("", |row| row.1)
    }
}

/// A release in which something became of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// `3.13.15`.
    pub release: String,
    /// What became of it.
    pub change: Change,
    /// The start of the digest of its text; empty where it is gone.
    pub digest: String,
    /// What kind of change of meaning it is: `another message, calls`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub what: String,
}

/// Reads a line; a step that is not understood is left out.
pub fn read(line: &str) -> Vec<Step> {
    let step = |text: &str| {
        let mut words = text.splitn(4, ' ');
        let (release, key) = (words.next()?, words.next()?);
        let change = Change::ALL.iter().find(|row| row.1 == key)?.0;
        let mut rest = || words.next().unwrap_or_default().to_owned();
        Some(Step { release: release.to_owned(), change, digest: rest(), what: rest() })
    };
    line.split("; ").filter_map(step).collect()
}

/// Writes a line.
pub fn written(steps: &[Step]) -> String {
    let one = |step: &Step| {
        let text = format!("{} {} {} {}", step.release, step.change.key(), step.digest, step.what);
        text.trim_end().to_owned()
    };
    steps.iter().map(one).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_were_written() {
        let line = "3.9.0 there 729bbc25; 3.14.0 meaning 33aa0f12 another message, calls; 3.15.0 gone";
        let steps = read(line);
        assert_eq!((steps.len(), steps[1].what.as_str()), (3, "another message, calls"));
        assert_eq!(written(&steps), line);
    }
}
