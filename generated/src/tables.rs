//! Hand-written: the tables of releases and the rows in them.

use crate::slots::Slot;

/// A row of `slotdefs[]`: how a special method and a slot stand for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slotdef {
    /// The special method, such as `__or__`.
    pub name: &'static str,
    /// The slot.
    pub slot: Slot,
    /// The C function that calls the method, such as `slot_nb_or`.
    pub function: Option<&'static str>,
    /// The C function that calls the slot, such as `wrap_binaryfunc_l`.
    pub wrapper: Option<&'static str>,
    /// `PyWrapperFlag_KEYWORDS` is 1.
    pub flags: u32,
    /// The method's doc string with its text signature.
    pub doc: &'static str,
}

/// What a slot holds, and where that comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// A C function of the type's own initialiser or slot array.
    Own(&'static str),
    /// What this base, a C variable, has in that slot of its own.
    Inherited(&'static str),
    /// A C function that `PyType_Ready` or its callers put there.
    Ready(&'static str),
}

/// A C type and its filled slots, in the order of [`Slot`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Type {
    /// The C variable: a `PyTypeObject`, or a `PyType_Spec` if `heap`.
    pub c_name: &'static str,
    /// `tp_name`.
    pub tp_name: &'static str,
    /// The compiled C file.
    pub file: &'static str,
    /// The C variable of the base, if one is named.
    pub base: Option<&'static str>,
    /// Whether the type is made from a `PyType_Spec`.
    pub heap: bool,
    /// Slots and what they hold, with commas between them: `nb_or dict_or`, `tp_iter <PyBaseObject_Type`, `tp_free +PyObject_GC_Del`.
    pub slots: &'static str,
}

impl Type {
    /// What a slot holds.
    #[must_use]
    pub fn slot(&self, slot: Slot) -> Option<Held> {
        self.held().find(|(found, _)| *found == slot.name()).map(|(_, held)| held)
    }

    /// Slots and what they hold, in the order of [`Slot`].
    pub fn filled(&self) -> impl Iterator<Item = (Slot, Held)> + use<> {
        let mut all = Slot::ALL.iter();
        self.held().filter_map(move |(name, held)| all.find(|slot| slot.name() == name).map(|slot| (*slot, held)))
    }

    fn held(&self) -> impl Iterator<Item = (&'static str, Held)> + use<> {
        self.slots.split(',').filter_map(|row| {
            let (slot, held) = row.trim().split_once(' ')?;
            let held = match (held.strip_prefix('<'), held.strip_prefix('+')) {
                (Some(base), _) => Held::Inherited(base),
                (_, Some(function)) => Held::Ready(function),
                _ => Held::Own(held),
            };
            Some((slot, held))
        })
    }
}

/// What a row of a table is found by.
pub trait Row: Sized + 'static {
    /// The key; tables are sorted by it.
    type Key: Ord;
    /// This row's.
    fn key(&self) -> Self::Key;
}

impl Row for Type {
    type Key = (&'static str, &'static str);
    fn key(&self) -> Self::Key {
        (self.file, self.c_name)
    }
}

/// A release's table: parts that it has to itself or in common with others, each of them sorted.
#[derive(Debug, Clone, Copy)]
pub struct Rows<T: 'static>(pub &'static [&'static [T]]);

impl<T: Row> Rows<T> {
    /// All rows, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &'static T> + use<T> {
        let mut parts = self.0.to_vec();
        std::iter::from_fn(move || {
            let parts = parts.iter_mut().filter(|part| !part.is_empty());
            parts.min_by_key(|part| part.first().map(Row::key))?.split_off_first()
        })
    }

    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.iter().map(|part| part.len()).sum()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Rows<Type> {
    /// The slots of a type with the C functions that they hold and those functions' files.
    pub fn functions(&self, ty: &'static Type) -> impl Iterator<Item = (Slot, &'static str, &'static str)> {
        let mut last: Option<&'static Type> = None;
        ty.filled().filter_map(move |(slot, held)| match held {
            Held::Own(function) | Held::Ready(function) => Some((slot, function, ty.file)),
            Held::Inherited(base) => {
                let base = last.filter(|last| last.c_name == base).or_else(|| self.of_variable(base))?;
                last = Some(base);
                match base.slot(slot)? {
                    Held::Own(function) | Held::Ready(function) => Some((slot, function, base.file)),
                    Held::Inherited(_) => None,
                }
            }
        })
    }

    /// The type of a C variable.
    fn of_variable(&self, name: &str) -> Option<&'static Type> {
        self.0.iter().flat_map(|part| part.iter()).find(|ty| ty.c_name == name)
    }
}

/// An enum of C's names, with the list of all of them.
macro_rules! enumerated {
    ($(#[$doc:meta])* $name:ident { $($id:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        #[allow(missing_docs)]
        pub enum $name { $($id,)* }

        impl $name {
            /// All of them.
            pub const ALL: &'static [$name] = &[$($name::$id,)*];
            /// The name of each variant.
            pub const IDS: &'static [&'static str] = &[$(stringify!($id),)*];
        }
    };
}
pub(crate) use enumerated;

#[cfg(test)]
mod tests {
    use super::*;

    impl Row for u8 {
        type Key = u8;
        fn key(&self) -> u8 {
            *self
        }
    }

    #[test]
    fn slots_are_read_from_their_text() {
        let ty = Type {
            c_name: "T",
            tp_name: "t",
            file: "t.c",
            base: None,
            heap: false,
            slots: "\n  tp_repr t_repr, tp_iter <B,\n  tp_free +F,\n",
        };
        let filled: Vec<_> = ty.filled().collect();
        let expected = [
            (Slot::tp_repr, Held::Own("t_repr")),
            (Slot::tp_iter, Held::Inherited("B")),
            (Slot::tp_free, Held::Ready("F")),
        ];
        assert_eq!(filled, expected);
        assert_eq!((ty.slot(Slot::tp_iter), ty.slot(Slot::tp_new)), (Some(Held::Inherited("B")), None));
    }

    #[test]
    fn parts_are_one_sorted_table() {
        let rows = Rows::<u8>(&[&[1, 4], &[], &[2, 3, 5]]);
        assert_eq!(rows.iter().copied().collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
        assert_eq!((rows.len(), rows.is_empty()), (5, false));
    }
}
