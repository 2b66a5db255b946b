//! What no table of a compiled release says, from the facts of the nearest releases that were read from sources.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::facts::{Facts, SlotOrigin, SlotValue, Type, TypeKind};

/// Adds to the types of a library what only code says: bases, metatypes, full paths, slots assigned or cleared later.
pub(super) fn supplement(types: &mut [Type], neighbours: &[&Facts]) {
    let known: Vec<Neighbour<'_>> = neighbours.iter().map(|facts| Neighbour::new(facts)).collect();
    let sequences = neighbours.first().map(|facts| of_sequences(facts)).unwrap_or_default();
    let present: Present = types.iter().map(|ty| (ty.c_name.clone(), (ty.kind, ty.tp_name.clone()))).collect();
    for ty in types {
        if let Some((neighbour, found)) = known.iter().find_map(|known| Some((known, known.find(ty)?))) {
            of_code(ty, found, &|name| neighbour.here(name, &present));
        } else if ty.kind == TypeKind::StructSequence {
            ty.slots = sequences.clone();
            ty.flags = ["Py_TPFLAGS_DEFAULT", "Py_TPFLAGS_HAVE_GC"].map(str::to_owned).to_vec();
        }
        if ty.kind == TypeKind::StructSequence {
            ty.base = Some("PyTuple_Type".to_owned());
        }
    }
}

/// The types of the library: variable → kind and `tp_name`.
type Present = std::collections::BTreeMap<String, (TypeKind, String)>;

/// The types of a release that was read from sources.
struct Neighbour<'f> {
    by_variable: FxHashMap<&'f str, Vec<&'f Type>>,
    by_name: FxHashMap<&'f str, Vec<&'f Type>>,
}

impl<'f> Neighbour<'f> {
    fn new(facts: &'f Facts) -> Self {
        let mut made = Self { by_variable: FxHashMap::default(), by_name: FxHashMap::default() };
        for ty in &facts.types {
            made.by_variable.entry(&ty.c_name).or_default().push(ty);
            made.by_name.entry(&ty.tp_name).or_default().push(ty);
        }
        made
    }

    /// The same type: of the same variable and file (where the library knows it, else of the same name), or else the only one with
    /// the name.
    fn find(&self, ty: &Type) -> Option<&'f Type> {
        let file = |path: &'f str| path.rsplit('/').next().unwrap_or(path);
        let same_kind = |found: &Vec<&'f Type>| -> Vec<&'f Type> {
            found.iter().copied().filter(|other| other.kind == ty.kind).collect()
        };
        let variables = self.by_variable.get(ty.c_name.as_str()).map(same_kind).unwrap_or_default();
        let placed = variables.iter().copied().find(|other| file(other.unit()) == ty.file);
        let named = || variables.iter().copied().find(|other| other.tp_name == ty.tp_name);
        let only = || match self.by_name.get(ty.tp_name.as_str()).map(same_kind).unwrap_or_default().as_slice() {
            [only] => Some(*only),
            _ => None,
        };
        // A static type keeps its variable when it gets another name or file; a struct sequence gets its full name from code.
        let variable = || match variables.as_slice() {
            [only] if only.kind != TypeKind::Spec => Some(*only),
            _ => None,
        };
        placed.or_else(named).or_else(only).or_else(variable)
    }

    /// What the library calls a type of the neighbour.
    fn here(&self, name: &str, present: &Present) -> Option<String> {
        if present.contains_key(name) {
            return Some(name.to_owned());
        }
        let meant = self.by_variable.get(name)?.first()?;
        let mut same = present.iter().filter(|(_, (kind, tp_name))| *kind == meant.kind && *tp_name == meant.tp_name);
        same.next().map(|(variable, _)| variable.clone())
    }
}

fn of_code(ty: &mut Type, found: &Type, here: &dyn Fn(&str) -> Option<String>) {
    ty.file = found.unit().to_owned();
    if ty.base.is_none() {
        ty.base = found.base.as_deref().and_then(here);
        ty.more_bases = found.more_bases.iter().filter_map(|base| here(base)).collect();
    }
    ty.metatype = ty.metatype.take().or_else(|| found.metatype.as_deref().and_then(here));
    ty.cleared = found.cleared.clone();
    if !found.assigned.is_empty() {
        ty.suites.extend(found.suites.iter().filter(|suite| !ty.suites.contains(suite)).cloned().collect::<Vec<_>>());
    }
    for slot in &found.assigned {
        if let Some(held) = found.slots.get(slot).filter(|_| !ty.slots.contains_key(slot)) {
            ty.slots.insert(slot.clone(), held.clone());
            ty.assigned.push(slot.clone());
        }
    }
    // A struct sequence gets its full name, its slots and its flags from code.
    if ty.kind == TypeKind::StructSequence {
        ty.tp_name = found.tp_name.clone();
        ty.flags = found.flags.clone();
        ty.slots = own(found);
    }
}

fn own(ty: &Type) -> BTreeMap<String, SlotValue> {
    let own = ty.slots.iter().filter(|(_, held)| held.origin == SlotOrigin::Own);
    own.map(|(slot, held)| (slot.clone(), held.clone())).collect()
}

/// The slots that most struct sequences have themselves.
fn of_sequences(facts: &Facts) -> BTreeMap<String, SlotValue> {
    let sequences: Vec<_> = facts.types.iter().filter(|ty| ty.kind == TypeKind::StructSequence).map(own).collect();
    let mut common = BTreeMap::new();
    for (slot, held) in sequences.iter().flatten() {
        if sequences.iter().filter(|own| own.get(slot) == Some(held)).count() * 2 > sequences.len() {
            common.insert(slot.clone(), held.clone());
        }
    }
    common
}
