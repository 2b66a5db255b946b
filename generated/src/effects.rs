//! What a C function may do, as bits; the releases' tables give them by owner and name.

use crate::tables::Row;

/// An owner (a type's `tp_name` or a module), and a line for each of its names (of a slot, a method or a function): the name, the C
/// function and its effects. Two parts of a table may have lines of one owner.
pub type Owner = (&'static str, &'static str);

impl Row for Owner {
    type Key = &'static str;
    fn key(&self) -> Self::Key {
        self.0
    }
}

/// What the lines of an owner say.
pub fn lines(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str, Effects)> {
    text.lines().filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let (name, function) = (words.next()?, words.next()?);
        Some((name, function, Effects(words.next()?.parse().ok()?)))
    })
}

/// What a C function may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effects(pub u16);

impl Effects {
    /// Python code may run whatever the arguments are.
    pub const PYTHON: Self = Self(1);
    /// An exception may be raised.
    pub const RAISES: Self = Self(2);
    /// Objects are made.
    pub const ALLOCATES: Self = Self(4);
    /// Files, clocks, the environment, other threads.
    pub const IO: Self = Self(8);
    /// State of the process is read that a program can change.
    pub const READS_GLOBAL: Self = Self(16);
    /// Such state is changed.
    pub const WRITES_GLOBAL: Self = Self(32);
    /// Something is done that the analysis does not know.
    pub const UNKNOWN: Self = Self(64);
    /// A warning may be issued.
    pub const WARNS: Self = Self(128);
    /// A module may be imported.
    pub const IMPORTS: Self = Self(256);
    /// The first argument, or what it leads to, may change.
    pub const MUTATES_SELF: Self = Self(512);
    /// Another argument may change.
    pub const MUTATES_OTHERS: Self = Self(1024);
    /// Slots of the arguments' types are called: Python code runs through them if they lead there.
    pub const SLOTS: Self = Self(2048);
    /// Slots of what the arguments hold are called.
    pub const INSIDE: Self = Self(4096);
    /// References are given up that the caller does not hold, so that an object may die.
    pub const RELEASES: Self = Self(8192);

    /// Whether any of `other` is there.
    pub fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether it touches nothing but its arguments and what they lead to: no state of the process, no input or output, no import,
    /// and Python code only through slots of its arguments.
    pub fn is_self_contained(self) -> bool {
        let foreign = Self::PYTHON.0
            | Self::IO.0
            | Self::READS_GLOBAL.0
            | Self::WRITES_GLOBAL.0
            | Self::UNKNOWN.0
            | Self::IMPORTS.0;
        !self.meets(Self(foreign))
    }

    /// Whether, moreover, it changes none of its arguments.
    pub fn is_pure(self) -> bool {
        self.is_self_contained() && !self.meets(Self(Self::MUTATES_SELF.0 | Self::MUTATES_OTHERS.0))
    }

    /// In words, for a person who asks why a call is not made.
    pub fn words(self) -> Vec<&'static str> {
        let all = [
            (Self::UNKNOWN, "does what is not known"),
            (Self::IO, "does input or output"),
            (Self::PYTHON, "runs Python code of its own choice"),
            (Self::WRITES_GLOBAL, "changes state of the process"),
            (Self::READS_GLOBAL, "reads state of the process"),
            (Self::IMPORTS, "imports a module"),
        ];
        all.into_iter().filter(|(effect, _)| self.meets(*effect)).map(|(_, word)| word).collect()
    }
}
