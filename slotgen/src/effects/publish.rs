//! The effects as rows of the published facts.

use super::{Analysis, Flags, Summary};
use crate::facts::FunctionEffects;

/// Bits of the published table besides those of [`Flags`]: the function may change its first argument or what it leads to.
const MUTATES_SELF: u16 = 512;
/// It may change another argument.
const MUTATES_OTHERS: u16 = 1024;
/// It calls slots of its arguments' types.
const SLOTS: u16 = 2048;
/// It calls slots of what its arguments hold.
const INSIDE: u16 = 4096;
/// It may give up references that the caller does not hold.
const RELEASES: u16 = 8192;

impl FunctionEffects {
    /// The effects as bits: those of [`Flags`], and whose memory is changed.
    pub fn bits(&self) -> u16 {
        let flags = self.flags.iter().filter_map(|word| Flags::of_word(word)).fold(0, |all, flag| all | flag.0);
        let of_self = |word: &String| word == "arg0" || word == "inside arg0";
        let changed = self.mutates.iter().chain(&self.sets);
        let inside = self.slots.values().flatten().any(|word| word.starts_with("inside") || word == "other");
        let unknown = if self.verdict == "unknown" { Flags::UNKNOWN.0 } else { 0 };
        [
            (self.mutates.iter().any(of_self), MUTATES_SELF),
            (changed.clone().any(|word| !of_self(word)), MUTATES_OTHERS),
            (!self.slots.is_empty(), SLOTS),
            (inside, INSIDE),
            (!self.releases.is_empty(), RELEASES),
        ]
        .into_iter()
        .filter(|(holds, _)| *holds)
        .fold(flags | unknown, |all, (_, bit)| all | bit)
    }
}

/// The rows for functions of `Objects/`, `Python/bltinmodule.c` and modules, by file and name.
pub fn publish(analysis: &Analysis) -> Vec<FunctionEffects> {
    let mut rows: Vec<_> = (0..analysis.known.len())
        .filter_map(|id| {
            let file = analysis.program.path(id);
            is_published(file).then(|| row(analysis.program.name(id), file, &analysis.known[id].summary))
        })
        .collect();
    rows.sort_by(|a, b| (&a.file, &a.name).cmp(&(&b.file, &b.name)));
    rows
}

/// Whether the functions of a file are published.
pub(super) fn is_published(file: &str) -> bool {
    let folder = file.starts_with("Objects/") || file.starts_with("Modules/");
    file.ends_with(".c") && (folder || file == "Python/bltinmodule.c")
}

/// A summary in words.
pub fn row(name: &str, file: &str, summary: &Summary) -> FunctionEffects {
    let releases = if summary.may_release() { summary.releases.words() } else { Vec::new() };
    FunctionEffects {
        name: name.to_owned(),
        file: file.to_owned(),
        verdict: summary.verdict().to_owned(),
        flags: summary.flags.words().into_iter().map(str::to_owned).collect(),
        reads: summary.reads.words(),
        mutates: summary.mutates.words(),
        sets: summary.sets.words(),
        releases,
        slots: summary.slots.iter().map(|(slot, origin)| (slot.clone(), origin.words())).collect(),
    }
}
