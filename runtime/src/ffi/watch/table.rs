//! Which bells hang where: by the address of a dict and the hash of a key, of a class, of a function.
use super::bell::Bell;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What a bell hangs on. Addresses are those of live objects: a dict and a function say when they die, a class is kept
/// alive.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// The entry of a dict under keys of this hash.
    Entry(usize, isize),
    /// Which keys a dict has, in which order.
    Names(usize),
    /// All of a dict.
    Whole(usize),
    /// A class and its bases.
    Class(usize),
    /// Code and defaults of a function.
    Function(usize),
}

/// What happened to a dict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Another value under a key that is there.
    Value,
    /// A key came or went.
    Name,
    /// Anything.
    All,
}

type Bells = Vec<(Arc<Bell>, u32)>;

/// All bells that hang.
#[derive(Debug, Default)]
pub(super) struct Table {
    dicts: FxHashMap<usize, Dict>,
    classes: FxHashMap<usize, Bells>,
    functions: FxHashMap<usize, Bells>,
}

#[derive(Debug, Default)]
struct Dict {
    entries: FxHashMap<isize, Bells>,
    names: Bells,
    whole: Bells,
}

impl Dict {
    fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.names.is_empty() && self.whole.is_empty()
    }
}

/// Rings each bell once; nothing more is to be said to it.
fn ring(bells: &mut Bells) {
    bells.drain(..).for_each(|(bell, mark)| bell.ring(mark));
}

fn take_down(bells: &mut Bells, bell: &Arc<Bell>) {
    if let Some(index) = bells.iter().position(|(known, _)| Arc::ptr_eq(known, bell)) {
        bells.swap_remove(index);
    }
}

impl Table {
    /// Hangs a bell.
    pub fn hang(&mut self, place: Place, bell: &Arc<Bell>, mark: u32) {
        self.bells(place).push((Arc::clone(bell), mark));
    }

    fn bells(&mut self, place: Place) -> &mut Bells {
        match place {
            Place::Entry(dict, hash) => self.dicts.entry(dict).or_default().entries.entry(hash).or_default(),
            Place::Names(dict) => &mut self.dicts.entry(dict).or_default().names,
            Place::Whole(dict) => &mut self.dicts.entry(dict).or_default().whole,
            Place::Class(class) => self.classes.entry(class).or_default(),
            Place::Function(function) => self.functions.entry(function).or_default(),
        }
    }

    /// Takes one bell down, where it has not rung; says whether the object lives and nothing hangs on it any more.
    pub fn take(&mut self, place: Place, bell: &Arc<Bell>) -> bool {
        match place {
            Place::Entry(address, _) | Place::Names(address) | Place::Whole(address) => {
                let Some(dict) = self.dicts.get_mut(&address) else { return false };
                match place {
                    Place::Entry(_, hash) => {
                        if let Some(bells) = dict.entries.get_mut(&hash) {
                            take_down(bells, bell);
                            if bells.is_empty() {
                                dict.entries.remove(&hash);
                            }
                        }
                    }
                    Place::Names(_) => take_down(&mut dict.names, bell),
                    _ => take_down(&mut dict.whole, bell),
                }
                dict.is_empty() && self.dicts.remove(&address).is_some()
            }
            Place::Class(address) => Self::take_of(&mut self.classes, address, bell),
            Place::Function(address) => Self::take_of(&mut self.functions, address, bell),
        }
    }

    fn take_of(all: &mut FxHashMap<usize, Bells>, address: usize, bell: &Arc<Bell>) -> bool {
        let Some(bells) = all.get_mut(&address) else { return false };
        take_down(bells, bell);
        bells.is_empty() && all.remove(&address).is_some()
    }

    /// Something happens to a dict, under keys of this hash; `None`: no telling under which.
    pub fn dict(&mut self, address: usize, hash: Option<isize>, change: Change) {
        let Some(dict) = self.dicts.get_mut(&address) else { return };
        ring(&mut dict.whole);
        if change != Change::Value {
            ring(&mut dict.names);
        }
        match hash {
            Some(hash) => dict.entries.get_mut(&hash).into_iter().for_each(ring),
            None => dict.entries.values_mut().for_each(ring),
        }
    }

    /// A dict dies; another one may come to lie where it was.
    pub fn forget_dict(&mut self, address: usize) {
        self.dict(address, None, Change::All);
        self.dicts.remove(&address);
    }

    /// A class changes.
    pub fn class(&mut self, address: usize) {
        self.classes.get_mut(&address).into_iter().for_each(ring);
    }

    /// A function changes.
    pub fn function(&mut self, address: usize) {
        self.functions.get_mut(&address).into_iter().for_each(ring);
    }

    /// A function dies; another one may come to lie where it was.
    pub fn forget_function(&mut self, address: usize) {
        if !self.functions.is_empty() {
            self.functions.remove(&address).iter_mut().for_each(ring);
        }
    }

    /// How many dicts, classes and functions are watched.
    pub fn counts(&self) -> [usize; 3] {
        [self.dicts.len(), self.classes.len(), self.functions.len()]
    }
}
