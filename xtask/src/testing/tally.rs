//! How many tests passed, which failed, which were skipped and why.
use std::collections::BTreeMap;

/// Counts of one layer or of all.
#[derive(Debug, Default)]
pub struct Tally {
    /// Tests that passed.
    pub passed: usize,
    /// Names of those that failed.
    pub failed: Vec<String>,
    /// Names of those that were skipped, and why.
    pub skipped: Vec<(String, String)>,
}

impl Tally {
    /// One failure.
    pub fn failure(name: String) -> Tally {
        Tally { failed: vec![name], ..Tally::default() }
    }

    /// Adds a skipped test.
    pub fn skip(&mut self, name: String, why: String) {
        self.skipped.push((name, why));
    }

    /// The skipped tests with their reasons, each once, and how often: a test runs on several releases.
    pub fn skipped_once(&self) -> BTreeMap<&(String, String), usize> {
        let mut once = BTreeMap::new();
        for skipped in &self.skipped {
            *once.entry(skipped).or_default() += 1;
        }
        once
    }

    /// Adds the other counts to these.
    pub fn add(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed.extend(other.failed);
        self.skipped.extend(other.skipped);
    }

    /// `3 passed, 1 failed`.
    pub fn summary(&self) -> String {
        let mut text = format!("{} passed", self.passed);
        for (count, what) in [(self.failed.len(), "failed"), (self.skipped.len(), "skipped")] {
            if count > 0 {
                text.push_str(&format!(", {count} {what}"));
            }
        }
        text
    }
}
