//! Which watches are set on what: by the address of a dict and the hash of a key, of a class, of a function.
use super::invalidation::Invalidation;
use super::place::{Change, Place};
use rustc_hash::FxHashMap;
use std::sync::Arc;

type Watches = Vec<(Arc<Invalidation>, u32)>;

/// All watches that are set.
#[derive(Debug, Default)]
pub(super) struct Registry {
    dicts: FxHashMap<usize, Dict>,
    classes: FxHashMap<usize, Watches>,
    functions: FxHashMap<usize, Watches>,
}

#[derive(Debug, Default)]
struct Dict {
    entries: FxHashMap<isize, Watches>,
    names: Watches,
    whole: Watches,
    end: Watches,
}

impl Dict {
    fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.names.is_empty() && self.whole.is_empty() && self.end.is_empty()
    }
}

/// Invalidates each watch once; it needs no second time.
fn invalidate(watches: &mut Watches) {
    watches.drain(..).for_each(|(invalidation, mark)| invalidation.invalidate(mark));
}

fn remove(watches: &mut Watches, invalidation: &Arc<Invalidation>) {
    if let Some(index) = watches.iter().position(|(known, _)| Arc::ptr_eq(known, invalidation)) {
        watches.swap_remove(index);
    }
}

impl Registry {
    /// Adds a watch.
    pub fn add(&mut self, place: Place, invalidation: &Arc<Invalidation>, mark: u32) {
        self.watches(place).push((Arc::clone(invalidation), mark));
    }

    fn watches(&mut self, place: Place) -> &mut Watches {
        match place {
            Place::Entry(dict, hash) => self.dicts.entry(dict).or_default().entries.entry(hash).or_default(),
            Place::Names(dict) => &mut self.dicts.entry(dict).or_default().names,
            Place::Whole(dict) => &mut self.dicts.entry(dict).or_default().whole,
            Place::End(dict) => &mut self.dicts.entry(dict).or_default().end,
            Place::Class(class) => self.classes.entry(class).or_default(),
            Place::Function(function) => self.functions.entry(function).or_default(),
        }
    }

    /// Removes a watch that was not invalidated; says whether the object lives and has no watch any more.
    pub fn take(&mut self, place: Place, invalidation: &Arc<Invalidation>) -> bool {
        match place {
            Place::Entry(address, _) | Place::Names(address) | Place::Whole(address) | Place::End(address) => {
                let Some(dict) = self.dicts.get_mut(&address) else { return false };
                match place {
                    Place::Entry(_, hash) => {
                        if let Some(watches) = dict.entries.get_mut(&hash) {
                            remove(watches, invalidation);
                            if watches.is_empty() {
                                dict.entries.remove(&hash);
                            }
                        }
                    }
                    Place::Names(_) => remove(&mut dict.names, invalidation),
                    Place::End(_) => remove(&mut dict.end, invalidation),
                    _ => remove(&mut dict.whole, invalidation),
                }
                dict.is_empty() && self.dicts.remove(&address).is_some()
            }
            Place::Class(address) => Self::take_of(&mut self.classes, address, invalidation),
            Place::Function(address) => Self::take_of(&mut self.functions, address, invalidation),
        }
    }

    fn take_of(all: &mut FxHashMap<usize, Watches>, address: usize, invalidation: &Arc<Invalidation>) -> bool {
        let Some(watches) = all.get_mut(&address) else { return false };
        remove(watches, invalidation);
        watches.is_empty() && all.remove(&address).is_some()
    }

    /// Something happens to a dict, under keys of this hash; `None`: no telling under which.
    pub fn dict(&mut self, address: usize, hash: Option<isize>, change: Change) {
        let Some(dict) = self.dicts.get_mut(&address) else { return };
        invalidate(&mut dict.whole);
        if change != Change::Value {
            invalidate(&mut dict.names);
        }
        match hash {
            Some(hash) => dict.entries.get_mut(&hash).into_iter().for_each(invalidate),
            None => dict.entries.values_mut().for_each(invalidate),
        }
    }

    /// A dict is freed; another one may come to lie where it was.
    pub fn forget_dict(&mut self, address: usize) {
        self.dict(address, None, Change::All);
        self.dicts.remove(&address).iter_mut().for_each(|dict| invalidate(&mut dict.end));
    }

    /// A class changes.
    pub fn class(&mut self, address: usize) {
        self.classes.get_mut(&address).into_iter().for_each(invalidate);
    }

    /// A function changes.
    pub fn function(&mut self, address: usize) {
        self.functions.get_mut(&address).into_iter().for_each(invalidate);
    }

    /// A function is freed; another one may come to lie where it was.
    pub fn forget_function(&mut self, address: usize) {
        if !self.functions.is_empty() {
            self.functions.remove(&address).iter_mut().for_each(invalidate);
        }
    }

    /// How many dicts, classes and functions are watched.
    pub fn counts(&self) -> [usize; 3] {
        [self.dicts.len(), self.classes.len(), self.functions.len()]
    }
}
