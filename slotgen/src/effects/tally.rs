//! Counts over an analysis: functions by effect, and what makes them unknown.

use std::collections::{BTreeMap, BTreeSet};

use super::{Analysis, Flags, Link, program, publish, state};

impl Analysis {
    /// The functions that made others unknown, by how many of `entries` they spoil.
    pub fn causes(&self, entries: &[usize]) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for entry in entries {
            let (mut seen, mut work, mut found) = (BTreeSet::from([*entry]), vec![*entry], BTreeSet::new());
            while let Some(id) = work.pop() {
                let Some(known) = self.known(id).filter(|known| known.summary.flags.meets(Flags::UNKNOWN)) else {
                    continue;
                };
                found.extend(known.causes.keys().cloned());
                let called = state::names(&self.program.functions[id].function);
                for name in called {
                    if let program::Callee::Function(callee) =
                        self.program.resolve(self.program.functions[id].unit, &name)
                        && seen.insert(callee)
                    {
                        work.push(callee);
                    }
                }
            }
            for cause in found {
                *counts.entry(cause).or_default() += 1;
            }
        }
        counts
    }
}

/// How many functions do what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Functions that are counted.
    pub functions: usize,
    /// By verdict.
    pub verdicts: BTreeMap<String, usize>,
    /// By effect; a function counts once for each that it may have.
    pub flags: BTreeMap<String, usize>,
}

impl Analysis {
    /// The evidence of each effect of a function.
    pub fn chains(&self, id: usize) -> Vec<(String, Vec<Link>)> {
        let effects =
            self.known(id).map(|known| known.evidence.keys().cloned().collect::<Vec<_>>()).unwrap_or_default();
        effects.into_iter().map(|effect| (effect.clone(), self.evidence(id, &effect))).collect()
    }

    /// Counts over the published functions.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for row in publish::publish(self) {
            tally.functions += 1;
            *tally.verdicts.entry(row.verdict).or_default() += 1;
            let extra =
                [("mutates an argument", !row.mutates.is_empty()), ("calls slots of arguments", !row.slots.is_empty())];
            let extra = extra.iter().filter(|(_, holds)| *holds).map(|(word, _)| (*word).to_owned());
            for word in row.flags.into_iter().chain(extra) {
                *tally.flags.entry(word).or_default() += 1;
            }
        }
        tally
    }

    /// Where the chains of an effect end, by how many published functions lead there: the first chain of each function counts.
    pub fn ends(&self, effect: &str) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for id in (0..self.known.len()).filter(|id| publish::is_published(self.program.path(*id))) {
            if let Some(end) = self.evidence(id, effect).pop() {
                *counts.entry(format!("{} ({}:{}): {}", end.function, end.file, end.line, end.text)).or_default() += 1;
            }
        }
        counts
    }

    /// What makes published functions unknown, by how many it spoils.
    pub fn published_causes(&self) -> BTreeMap<String, usize> {
        let entries: Vec<usize> =
            (0..self.known.len()).filter(|id| publish::is_published(self.program.path(*id))).collect();
        self.causes(&entries)
    }
}
