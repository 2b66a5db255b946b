//! What is said of one C function.

use std::collections::{BTreeMap, BTreeSet};

use super::origin::Origin;

/// Effects that are true or not, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord)]
pub struct Flags(pub u16);

impl Flags {
    /// Python code may run whatever the arguments are.
    pub const PYTHON: Self = Self(1);
    /// An exception may be set.
    pub const RAISES: Self = Self(2);
    /// Objects or memory are made.
    pub const ALLOCATES: Self = Self(4);
    /// Files, clocks, the environment, other processes, other threads.
    pub const IO: Self = Self(8);
    /// State that outlives the call and is not an argument's is read.
    pub const READS_GLOBAL: Self = Self(16);
    /// Such state is changed.
    pub const WRITES_GLOBAL: Self = Self(32);
    /// Something is called or done that the analysis does not know.
    pub const UNKNOWN: Self = Self(64);

    /// A warning may be issued, or an error that nobody handles be reported: filters and hooks of Python code see it.
    pub const WARNS: Self = Self(128);
    /// A module may be imported.
    pub const IMPORTS: Self = Self(256);

    /// Every flag with its word.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::PYTHON, "python"),
        (Self::RAISES, "raises"),
        (Self::ALLOCATES, "allocates"),
        (Self::IO, "io"),
        (Self::READS_GLOBAL, "reads global"),
        (Self::WRITES_GLOBAL, "writes global"),
        (Self::WARNS, "warns"),
        (Self::IMPORTS, "imports"),
        (Self::UNKNOWN, "unknown"),
    ];

    /// Whether any of `other` is set.
    pub fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Both.
    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The words of the flags that are set.
    pub fn words(self) -> Vec<&'static str> {
        Self::ALL.iter().filter(|(flag, _)| self.meets(*flag)).map(|(_, word)| *word).collect()
    }

    /// The flag of a word.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == word).map(|(flag, _)| *flag)
    }
}

/// What a function does, as far as it can be seen from outside.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    /// Effects that do not depend on the arguments.
    pub flags: Flags,
    /// Whose memory is read.
    pub reads: Origin,
    /// Whose memory is changed (reference counts do not count).
    pub mutates: Origin,
    /// Parameters that point to variables of the caller, which are set.
    pub sets: Origin,
    /// Whose references are given up.
    pub releases: Origin,
    /// Slots that are called, with the objects whose types are asked; Python code runs only if one of them leads there.
    pub slots: BTreeMap<String, Origin>,
    /// Parameters that are functions and are called.
    pub calls: BTreeSet<usize>,
    /// Parameters that are offsets of slots, with the objects whose types are asked.
    pub slot_offsets: BTreeMap<usize, Origin>,
    /// What comes back.
    pub returns: Origin,
    /// What the objects hold that the function made.
    pub holds: Origin,
    /// What is put into the memory of each parameter.
    pub stores: BTreeMap<usize, Origin>,
}

impl Summary {
    /// Adds another summary and tells whether this one grew.
    pub fn join(&mut self, other: &Self) -> bool {
        let before = self.clone();
        self.flags = self.flags.or(other.flags);
        self.reads.add(other.reads);
        self.mutates.add(other.mutates);
        self.sets.add(other.sets);
        self.releases.add(other.releases);
        self.returns.add(other.returns);
        self.holds.add(other.holds);
        for (slot, origin) in &other.slots {
            self.slots.entry(slot.clone()).or_default().add(*origin);
        }
        for (index, origin) in &other.slot_offsets {
            self.slot_offsets.entry(*index).or_default().add(*origin);
        }
        for (index, origin) in &other.stores {
            self.stores.entry(*index).or_default().add(*origin);
        }
        self.calls.extend(&other.calls);
        *self != before
    }

    /// Whether the analysis knows all that the function does.
    pub fn is_known(&self) -> bool {
        !self.flags.meets(Flags::UNKNOWN) && self.calls.is_empty() && self.slot_offsets.is_empty()
    }

    /// Whether no Python code can run, whatever the arguments are.
    pub fn runs_no_python(&self) -> bool {
        self.is_known() && !self.flags.meets(Flags::PYTHON) && self.slots.is_empty() && !self.may_release()
    }

    /// Whether an object may die that the caller does not hold, so that `__del__` or a weak reference's callback runs.
    pub fn may_release(&self) -> bool {
        let removed = (0..super::origin::PARAMETERS)
            .any(|index| self.releases.meets(Origin::inside(index)) && self.mutates.meets(Origin::parameter(index)));
        removed || self.releases.meets(Origin::OTHER.or(Origin::GLOBAL))
    }

    /// Whether nothing is changed that the caller can see.
    pub fn mutates_nothing(&self) -> bool {
        self.is_known()
            && self.mutates.is_none()
            && self.sets.is_none()
            && !self.flags.meets(Flags::WRITES_GLOBAL.or(Flags::IO).or(Flags::IMPORTS))
    }

    /// Whether it only looks at its arguments, if the slots that it calls do: no change, no state, no input or output.
    pub fn pure_by_slots(&self) -> bool {
        self.mutates_nothing() && !self.flags.meets(Flags::READS_GLOBAL.or(Flags::PYTHON)) && !self.may_release()
    }

    /// Whether it is pure whatever the arguments are.
    pub fn is_pure(&self) -> bool {
        self.pure_by_slots() && self.slots.is_empty()
    }

    /// Whether methods of objects inside the arguments are called (hash, comparison, …), not only those of the arguments.
    pub fn looks_inside(&self) -> bool {
        let inside = (0..super::origin::PARAMETERS).fold(Origin::NONE, |all, index| all.or(Origin::inside(index)));
        self.slots.values().any(|origin| origin.meets(inside.or(Origin::OTHER)))
    }

    /// Whether it touches nothing but its arguments and what they lead to: no state of the process, no input or output, no import,
    /// and Python code only through slots of its arguments.
    pub fn is_self_contained(&self) -> bool {
        let foreign = Flags::PYTHON.or(Flags::IO).or(Flags::WRITES_GLOBAL).or(Flags::READS_GLOBAL).or(Flags::IMPORTS);
        self.is_known() && !self.flags.meets(foreign)
    }

    /// One word for reports, warnings aside: `unknown`, `pure`, `pure by slots`, `changes arguments`, `impure`.
    pub fn verdict(&self) -> &'static str {
        let foreign = Flags::PYTHON.or(Flags::IO).or(Flags::WRITES_GLOBAL).or(Flags::READS_GLOBAL).or(Flags::IMPORTS);
        if !self.is_known() {
            "unknown"
        } else if self.is_pure() {
            "pure"
        } else if self.pure_by_slots() {
            "pure by slots"
        } else if !self.flags.meets(foreign) {
            "changes arguments"
        } else {
            "impure"
        }
    }
}
