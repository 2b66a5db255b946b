//! `PyType_Ready` over tables. CPython: Objects/typeobject.c, type_ready, inherit_special, inherit_slots.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::facts::{SlotOrigin, SlotValue, Type, TypeKind};

/// The root of all types.
pub(super) const OBJECT: &str = "PyBaseObject_Type";

const HAVE_GC: &str = "Py_TPFLAGS_HAVE_GC";
/// Forbids calls of the type.
pub(super) const DISALLOW: &str = "Py_TPFLAGS_DISALLOW_INSTANTIATION";

/// Pairs and groups that `inherit_slots` copies together, under conditions of their own.
const SPECIAL: &[&str] =
    &["tp_getattr", "tp_getattro", "tp_setattr", "tp_setattro", "tp_richcompare", "tp_hash", "tp_free"];

/// The type with all slots that readying it fills; `bases` are its bases in resolution order, readied.
pub(super) fn ready<'t>(
    fact: &Type,
    bases: &[&'t Type],
    base_of: &dyn Fn(&Type) -> Option<&'t Type>,
    suites: &FxHashMap<&str, Option<&str>>,
    inherits: &FxHashSet<&str>,
) -> Type {
    let mut ty = fact.clone();
    if is_heap(&ty) && !ty.slots.contains_key("tp_dealloc") {
        fill(&mut ty, "tp_dealloc", "subtype_dealloc");
    }
    if let Some(base) = bases.first() {
        copied_by_hand(&mut ty, base);
        set_new(&mut ty, base);
        inherit_special(&mut ty, base);
    }
    for base in bases {
        inherit_slots(&mut ty, base, base_of(base), suites, inherits);
    }
    if let Some(base) = bases.first() {
        inherit_as_structs(&mut ty, base, suites);
    }
    if !ty.slots.contains_key("tp_hash") && !has_method(&ty, "__hash__") {
        fill(&mut ty, "tp_hash", "PyObject_HashNotImplemented");
    }
    for slot in &ty.cleared {
        ty.slots.remove(slot);
    }
    ty
}

fn has_flag(ty: &Type, flag: &str) -> bool {
    ty.flags.iter().any(|known| known == flag)
}

fn has_method(ty: &Type, name: &str) -> bool {
    ty.methods.iter().any(|method| method.name == name)
}

fn function<'t>(ty: &'t Type, slot: &str) -> Option<&'t str> {
    ty.slots.get(slot).map(|value| value.function.as_str())
}

fn fill(ty: &mut Type, slot: &str, function: &str) {
    let value = SlotValue { function: function.to_owned(), origin: SlotOrigin::Ready, from: None };
    ty.slots.insert(slot.to_owned(), value);
}

/// Copies a slot, remembering whose own it is.
fn copy(ty: &mut Type, base: &Type, slot: &str) {
    let Some(value) = base.slots.get(slot) else { return };
    let from = value.from.clone().or_else(|| Some(base.c_name.clone()));
    let value = SlotValue { function: value.function.clone(), origin: SlotOrigin::Inherited, from };
    ty.slots.insert(slot.to_owned(), value);
}

/// Slots that code fills with `base->SLOT` before the type is readied.
fn copied_by_hand(ty: &mut Type, base: &Type) {
    let slots: Vec<String> =
        ty.slots.iter().filter(|(_, value)| value.function.contains("->")).map(|(slot, _)| slot.clone()).collect();
    for slot in slots {
        ty.slots.remove(&slot);
        copy(ty, base, &slot);
    }
}

/// CPython: type_ready_set_new.
fn set_new(ty: &mut Type, base: &Type) {
    let has_new = ty.slots.contains_key("tp_new");
    if !has_new && base.c_name == OBJECT && !is_heap(ty) {
        ty.flags.push(DISALLOW.to_owned());
    }
    if has_flag(ty, DISALLOW) {
        ty.slots.remove("tp_new");
    } else if !has_new {
        copy(ty, base, "tp_new");
    }
}

fn inherit_special(ty: &mut Type, base: &Type) {
    let untouched = !ty.slots.contains_key("tp_traverse") && !ty.slots.contains_key("tp_clear");
    if !has_flag(ty, HAVE_GC) && has_flag(base, HAVE_GC) && untouched {
        ty.flags.push(HAVE_GC.to_owned());
        copy(ty, base, "tp_traverse");
        copy(ty, base, "tp_clear");
    }
}

fn inherit_slots(
    ty: &mut Type,
    base: &Type,
    base_base: Option<&Type>,
    suites: &FxHashMap<&str, Option<&str>>,
    inherits: &FxHashSet<&str>,
) {
    for (slot, value) in &base.slots {
        let slot = slot.as_str();
        let defined = base_base.and_then(|known| function(known, slot)) != Some(value.function.as_str());
        let own_suite = match suites.get(slot) {
            Some(Some(suite)) => ty.suites.iter().any(|own| own == suite),
            _ => true,
        };
        let plain = inherits.contains(slot) && !SPECIAL.contains(&slot);
        if plain && defined && own_suite && !ty.slots.contains_key(slot) {
            copy(ty, base, slot);
        }
    }
    for [plain, object] in [["tp_getattr", "tp_getattro"], ["tp_setattr", "tp_setattro"]] {
        if !ty.slots.contains_key(plain) && !ty.slots.contains_key(object) {
            copy(ty, base, plain);
            copy(ty, base, object);
        }
    }
    let compares = ty.slots.contains_key("tp_richcompare") || ty.slots.contains_key("tp_hash");
    if !compares && !has_method(ty, "__eq__") && !has_method(ty, "__hash__") {
        copy(ty, base, "tp_richcompare");
        copy(ty, base, "tp_hash");
    }
    inherit_free(ty, base, base_base);
}

/// `tp_free` follows the garbage collector's flag.
fn inherit_free(ty: &mut Type, base: &Type, base_base: Option<&Type>) {
    if ty.slots.contains_key("tp_free") {
        return;
    }
    let free = function(base, "tp_free");
    if has_flag(ty, HAVE_GC) == has_flag(base, HAVE_GC) {
        if free.is_some() && free != base_base.and_then(|known| function(known, "tp_free")) {
            copy(ty, base, "tp_free");
        }
    } else if has_flag(ty, HAVE_GC) && matches!(free, Some("PyObject_Free" | "PyObject_Del")) {
        fill(ty, "tp_free", "PyObject_GC_Del");
    }
}

/// A static type without a suite of its own shares that of its base.
fn inherit_as_structs(ty: &mut Type, base: &Type, suites: &FxHashMap<&str, Option<&str>>) {
    let shared: Vec<String> = base
        .slots
        .keys()
        .filter(|slot| match suites.get(slot.as_str()) {
            Some(Some(suite)) => !ty.suites.iter().any(|own| own == suite),
            _ => false,
        })
        .cloned()
        .collect();
    for slot in shared {
        copy(ty, base, &slot);
    }
}

/// Whether a type is made on the heap.
fn is_heap(ty: &Type) -> bool {
    ty.kind == TypeKind::Spec
}
