//! How many tests passed, which failed, which were skipped and why.

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
