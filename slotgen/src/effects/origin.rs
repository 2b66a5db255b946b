//! Where a C value may come from, in terms of the function's own parameters.

/// Parameters told apart; later ones share the last place.
pub const PARAMETERS: usize = 8;

/// A set of origins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Origin(pub u64);

impl Origin {
    /// Nothing: integers and `NULL`.
    pub const NONE: Self = Self(0);
    /// Made by the function itself.
    pub const FRESH: Self = Self(1 << 32);
    /// A file-level variable, or what it leads to.
    pub const GLOBAL: Self = Self(1 << 33);
    /// Unknown.
    pub const OTHER: Self = Self(1 << 34);
    /// What a slot that was called gave back.
    pub const RESULT: Self = Self(1 << 35);
    /// An immutable object of an exact builtin type without elements: its slots run no Python code.
    pub const CONSTANT: Self = Self(1 << 36);
    /// An instance that the function makes of a class that it was given.
    pub const MADE: Self = Self(1 << 37);

    /// A static type of C, or a builtin exception class: its slots run no Python code by themselves; a change is one of global state.
    pub const BUILTIN: Self = Self(1 << 38);

    fn bit(index: usize, group: usize) -> Self {
        Self(1 << (index.min(PARAMETERS - 1) + group * PARAMETERS))
    }

    /// The object that parameter `index` is.
    pub fn parameter(index: usize) -> Self {
        Self::bit(index, 0)
    }

    /// Objects that parameter `index` refers to.
    pub fn inside(index: usize) -> Self {
        Self::bit(index, 1)
    }

    /// The type of parameter `index`.
    pub fn type_of_parameter(index: usize) -> Self {
        Self::bit(index, 2)
    }

    /// Both sets.
    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Adds a set and tells whether it grew.
    pub fn add(&mut self, other: Self) -> bool {
        let grown = self.0 | other.0;
        let changed = grown != self.0;
        self.0 = grown;
        changed
    }

    /// Whether any of `other` is in it.
    pub fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Without `other`.
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether nothing is in it.
    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Each origin alone.
    pub fn each(self) -> impl Iterator<Item = Self> {
        (0..39).map(|bit| Self(1 << bit)).filter(move |one| self.meets(*one))
    }

    /// What objects of these origins refer to.
    pub fn contents(self) -> Self {
        let group = (1 << PARAMETERS) - 1;
        let objects = self.0 & group;
        let types = (self.0 >> (2 * PARAMETERS)) & group;
        Self((self.0 & !group & !(group << (2 * PARAMETERS))) | ((objects | types) << PARAMETERS))
    }

    /// The types of objects of these origins.
    pub fn types(self) -> Self {
        let group = (1 << PARAMETERS) - 1;
        let objects = self.0 & group;
        Self((self.0 & !group) | (objects << (2 * PARAMETERS)))
    }

    /// The same in a caller's terms: `argument` gives the origin of an argument.
    pub fn mapped(self, argument: &dyn Fn(usize) -> Self) -> Self {
        self.mapped_with(argument, &|index| argument(index).contents())
    }

    /// The same where `inside` gives what an argument refers to.
    pub fn mapped_with(self, argument: &dyn Fn(usize) -> Self, inside: &dyn Fn(usize) -> Self) -> Self {
        let of_arguments = (1 << (3 * PARAMETERS)) - 1;
        let mut out = Self(self.0 & !of_arguments);
        if self.0 & of_arguments == 0 {
            return out;
        }
        for index in 0..PARAMETERS {
            if self.meets(Self::parameter(index)) {
                out = out.or(argument(index));
            }
            if self.meets(Self::inside(index)) {
                out = out.or(inside(index));
            }
            if self.meets(Self::type_of_parameter(index)) {
                out = out.or(argument(index).types());
            }
        }
        out
    }

    /// The words for each origin: `arg0`, `inside arg0`, `type of arg0`, `fresh`, `global`, `other`, `result`.
    pub fn words(self) -> Vec<String> {
        let word = |one: Self| {
            for index in 0..PARAMETERS {
                if one == Self::parameter(index) {
                    return format!("arg{index}");
                }
                if one == Self::inside(index) {
                    return format!("inside arg{index}");
                }
                if one == Self::type_of_parameter(index) {
                    return format!("type of arg{index}");
                }
            }
            let rest = [
                (Self::FRESH, "fresh"),
                (Self::GLOBAL, "global"),
                (Self::RESULT, "result"),
                (Self::CONSTANT, "constant"),
                (Self::MADE, "made"),
                (Self::BUILTIN, "builtin"),
            ];
            rest.iter().find(|(origin, _)| *origin == one).map_or("other", |(_, word)| word).to_owned()
        };
        self.each().map(word).collect()
    }

    /// The origin that a word of [`Self::words`] names.
    pub fn of_word(word: &str) -> Option<Self> {
        let number = |text: &str| text.parse::<usize>().ok();
        Some(match word {
            "fresh" => Self::FRESH,
            "global" => Self::GLOBAL,
            "other" => Self::OTHER,
            "result" => Self::RESULT,
            "constant" => Self::CONSTANT,
            "made" => Self::MADE,
            "builtin" => Self::BUILTIN,
            "nothing" => Self::NONE,
            _ => match (word.strip_prefix("arg"), word.strip_prefix("inside arg"), word.strip_prefix("type of arg")) {
                (Some(rest), _, _) => Self::parameter(number(rest)?),
                (_, Some(rest), _) => Self::inside(number(rest)?),
                (_, _, Some(rest)) => Self::type_of_parameter(number(rest)?),
                _ => return None,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_their_origins() {
        for origin in Origin(u64::MAX >> 25).each().filter(|one| one.0 < 1 << 24 || one.0 >= 1 << 32) {
            assert_eq!(Origin::of_word(&origin.words()[0]), Some(origin));
        }
        assert_eq!(Origin::of_word("argx"), None);
    }

    #[test]
    fn a_callers_terms() {
        let callee = Origin::inside(0).or(Origin::parameter(1)).or(Origin::FRESH);
        let given = callee.mapped(&|index| if index == 0 { Origin::parameter(3) } else { Origin::GLOBAL });
        assert_eq!(given, Origin::inside(3).or(Origin::GLOBAL).or(Origin::FRESH));
        assert_eq!(Origin::parameter(2).types(), Origin::type_of_parameter(2));
    }
}
