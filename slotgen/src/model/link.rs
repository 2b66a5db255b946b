//! Links types with their bases and slots.

use rustc_hash::{FxHashMap, FxHashSet};

use super::by_code;
use super::ready::{self, OBJECT};
use crate::facts::{Facts, Slot, Type};

/// Adds to the types of `facts` the slots that `PyType_Ready` fills.
pub fn link(facts: &mut Facts) {
    let mut types = std::mem::take(&mut facts.types);
    by_code::bases(&mut types, &facts.release);
    inherit(&mut types, &facts.slots(), &facts.inherits, facts.constants.contains_key(ready::DISALLOW));
    by_code::slots(&mut types, &facts.release);
    facts.types = types;
}

/// Adds to `types` the slots that `PyType_Ready` fills; `inherits` names those that `inherit_slots` copies, `has_disallow` says whether
/// the release has `Py_TPFLAGS_DISALLOW_INSTANTIATION` (from 3.10 on).
pub fn inherit(types: &mut [Type], slots: &[Slot<'_>], inherits: &[String], has_disallow: bool) {
    let linked = {
        let linker = Linker { has_disallow, ..Linker::new(types, slots, inherits) };
        let mut ready: Vec<Option<Type>> = vec![None; types.len()];
        for index in 0..types.len() {
            linker.ready(index, &mut ready, &mut FxHashSet::default());
        }
        ready
    };
    for (ty, linked) in types.iter_mut().zip(linked) {
        if let Some(linked) = linked {
            *ty = linked;
        }
    }
}

struct Linker<'f> {
    types: &'f [Type],
    by_name: FxHashMap<&'f str, Vec<usize>>,
    /// Slot → suite pointer.
    suites: FxHashMap<&'f str, Option<&'f str>>,
    inherits: FxHashSet<&'f str>,
    has_disallow: bool,
}

impl<'f> Linker<'f> {
    fn new(types: &'f [Type], slots: &'f [Slot<'f>], inherits: &'f [String]) -> Self {
        let mut by_name: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        for (index, ty) in types.iter().enumerate() {
            by_name.entry(&ty.c_name).or_default().push(index);
        }
        let suites = slots.iter().map(|slot| (slot.name, slot.suite)).collect();
        Self { types, by_name, suites, inherits: inherits.iter().map(String::as_str).collect(), has_disallow: true }
    }

    /// The type of a name as seen from a compiled file.
    fn find(&self, unit: &str, name: &str) -> Option<usize> {
        let found = self.by_name.get(name)?;
        let own = found.iter().copied().find(|&index| self.types.get(index).is_some_and(|ty| ty.unit() == unit));
        own.or_else(|| found.first().copied())
    }

    /// The bases in order: the first one is `tp_base`.
    fn bases(&self, ty: &Type) -> Vec<usize> {
        if ty.c_name == OBJECT {
            return Vec::new();
        }
        let named = ty.base.iter().chain(&ty.more_bases).filter_map(|base| self.find(ty.unit(), base));
        let mut bases: Vec<usize> = named.collect();
        if bases.is_empty() {
            bases.extend(self.find(ty.unit(), OBJECT));
        }
        bases
    }

    /// Readies a type and first its bases; a cycle of bases (which C would not survive) leaves the type as it is.
    fn ready(&self, index: usize, ready: &mut Vec<Option<Type>>, active: &mut FxHashSet<usize>) {
        if ready.get(index).is_none_or(Option::is_some) || !active.insert(index) {
            return;
        }
        let Some(fact) = self.types.get(index) else { return };
        for base in self.bases(fact) {
            self.ready(base, ready, active);
        }
        let order = self.order(index);
        let bases: Vec<&Type> = order.iter().filter_map(|&base| ready.get(base)?.as_ref()).collect();
        let bases_of = |ty: &Type| self.bases(ty).first().and_then(|&base| ready.get(base)?.as_ref());
        let mut made = ready::ready(fact, &bases, &bases_of, &self.suites, &self.inherits);
        if !self.has_disallow {
            made.flags.retain(|flag| flag != ready::DISALLOW);
        }
        if let Some(slot) = ready.get_mut(index) {
            *slot = Some(made);
        }
        active.remove(&index);
    }

    /// The method resolution order after the type itself: each base with its own order, later mention wins.
    fn order(&self, index: usize) -> Vec<usize> {
        let mut order = Vec::new();
        self.add_order(index, &mut order, 0);
        let mut seen = FxHashSet::default();
        let mut last: Vec<usize> = order.into_iter().rev().filter(|base| seen.insert(*base)).collect();
        last.reverse();
        last.into_iter().filter(|&base| base != index).collect()
    }

    fn add_order(&self, index: usize, order: &mut Vec<usize>, depth: u32) {
        let Some(ty) = self.types.get(index).filter(|_| depth < 32) else { return };
        for base in self.bases(ty) {
            order.push(base);
            self.add_order(base, order, depth + 1);
        }
    }
}
