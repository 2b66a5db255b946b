//! Types that are made from specs and struct sequences.

use super::fields::{by_field, flags, text};
use super::tables::{Linker, sequence_member};
use super::unit_facts::{Assignment, Creation, UnitFacts, Variable};
use super::value::{Entry, Value};
use crate::facts::{SlotOrigin, SlotValue, Type, TypeKind};

impl<'f> Linker<'f> {
    pub(super) fn spec(&mut self, unit: &'f UnitFacts, variable: &'f Variable) -> Type {
        let mut ty = self.new_type(unit, variable, TypeKind::Spec);
        let mut surplus = Vec::new();
        let fields = ["name", "basicsize", "itemsize", "flags", "slots"];
        for (field, entry) in by_field(variable.value.list(), &fields, &mut surplus) {
            match field.as_str() {
                "name" => ty.tp_name = text(&entry.value),
                "basicsize" => ty.basicsize = text(&entry.value),
                "itemsize" => ty.itemsize = text(&entry.value),
                "flags" => ty.flags = flags(&entry.value),
                _ => self.slot_array(unit, variable, &mut ty, &entry.value),
            }
        }
        ty.suites = self.suites.iter().map(|(pointer, _)| (*pointer).to_owned()).collect();
        self.spec_bases(unit, &mut ty);
        ty
    }

    /// The call that makes a type from this variable, in its own unit or, if it is visible there, in another.
    fn creation(&self, unit: &'f UnitFacts, name: &str) -> Option<(&'f UnitFacts, &'f Creation)> {
        let made_in = |unit: &'f UnitFacts| {
            let made = unit.creations.iter().find(|creation| creation.spec.name() == Some(name));
            made.map(|made| (unit, made))
        };
        made_in(unit).or_else(|| self.units.iter().find_map(made_in))
    }

    /// Bases and metatype that the call which makes the type gives; a `Py_tp_base` slot counts for more.
    fn spec_bases(&self, unit: &'f UnitFacts, ty: &mut Type) {
        let Some((unit, made)) = self.creation(unit, &ty.c_name) else { return };
        let mut bases = made.bases.iter().filter_map(|base| self.base_name(unit, base));
        if ty.base.is_none() {
            ty.base = bases.next();
            ty.more_bases = bases.collect();
        }
        ty.metatype = made.metatype.as_ref().and_then(|metatype| self.base_name(unit, metatype));
        self.set_later(unit, made, ty);
    }

    /// `((PyTypeObject *)state->T)->tp_new = f;` and `T.tp_init = NULL;` after the type was made.
    fn set_later(&self, unit: &UnitFacts, made: &Creation, ty: &mut Type) {
        let is_made = |set: &&Assignment| {
            let word = super::unit::last_word(&set.object);
            word.is_some()
                && (word == made.target || word == made.variable)
                && self.function_slots.contains(&set.field.as_str())
        };
        for set in unit.assignments.iter().filter(is_made) {
            if set.value == Value::Null {
                ty.cleared.push(set.field.clone());
            } else if let Some(function) = self.function(&set.value) {
                ty.assigned.push(set.field.clone());
                ty.slots.insert(set.field.clone(), SlotValue { function, origin: SlotOrigin::Own, from: None });
            }
        }
    }

    /// The type or spec behind `&PyTuple_Type`, `PyExc_OSError`, or `state->PyIOBase_Type`.
    pub(super) fn base_name(&self, unit: &UnitFacts, base: &Value) -> Option<String> {
        let (name, is_plain) = match base {
            Value::Name(name) => (name.clone(), true),
            other => (super::unit::last_word(&text(other))?, false),
        };
        let is_type = |name: &str| {
            self.global.get(name).is_some_and(|found| found.iter().any(|variable| variable.ty == "PyTypeObject"))
        };
        if is_type(&name) {
            return Some(name);
        }
        // `PyExc_OSError` points to `_PyExc_OSError`.
        if is_plain && is_type(&format!("_{name}")) {
            return Some(format!("_{name}"));
        }
        let made_in = |unit: &UnitFacts| {
            let made = unit.creations.iter().find(|creation| creation.target.as_ref() == Some(&name))?;
            made.spec.name().map(str::to_owned)
        };
        made_in(unit).or_else(|| if is_plain { None } else { self.units.iter().find_map(made_in) })
    }

    fn slot_array(&mut self, unit: &'f UnitFacts, variable: &Variable, ty: &mut Type, value: &Value) {
        let entries = match value {
            Value::List(entries) => &entries[..],
            other => match other.name().and_then(|name| self.lookup(unit, name)) {
                Some(found) => found.value.list(),
                None => {
                    return self.broken(
                        variable,
                        "extract/slot-array",
                        format!("no initialiser of `{}` was found", text(other)),
                    );
                }
            },
        };
        let array = value.name().unwrap_or_default();
        for (index, entry) in entries.iter().enumerate() {
            let mut surplus = Vec::new();
            let pair = by_field(entry.value.list(), &["slot", "pfunc"], &mut surplus);
            let cell = |name: &str| pair.iter().find(|(field, _)| field == name).map(|(_, entry)| &entry.value);
            let Some(Value::Name(id)) = cell("slot") else { continue };
            let Some(slot) = id.strip_prefix("Py_") else {
                self.broken(variable, "extract/slot-id", format!("`{id}` is no slot id"));
                continue;
            };
            let mut held = cell("pfunc").cloned().unwrap_or(Value::Null);
            if held == Value::Null {
                // `X_slots[0].pfunc = …;` before the type is made.
                let place = format!("{array}[{index}]");
                let set = unit.assignments.iter().find(|set| set.field == "pfunc" && set.object == place);
                if set.is_some() && self.function_slots.contains(&slot) {
                    ty.assigned.push(slot.to_owned());
                }
                held = set.map_or(held, |set| set.value.clone());
            }
            let entry = Entry { designator: None, value: held, at: entry.at };
            if slot.starts_with("tp_") {
                self.type_field(unit, variable, ty, slot, &entry);
            } else {
                self.slot(variable, ty, slot, &entry.value);
            }
        }
    }

    pub(super) fn struct_sequence(&mut self, unit: &'f UnitFacts, variable: &'f Variable) -> Type {
        let mut ty = self.new_type(unit, variable, TypeKind::StructSequence);
        let mut surplus = Vec::new();
        for (field, entry) in by_field(variable.value.list(), &["name", "doc", "fields", "n_in_sequence"], &mut surplus)
        {
            if field == "name" {
                ty.tp_name = text(&entry.value);
            } else if field == "fields" {
                let rows = entry
                    .value
                    .name()
                    .and_then(|name| self.lookup(unit, name))
                    .map_or(&[][..], |found| found.value.list());
                ty.members = rows.iter().filter_map(|row| sequence_member(&row.value)).collect();
            }
        }
        let renamed = unit.assignments.iter().find(|set| set.object == ty.c_name && set.field == "name");
        if let Some(name) = renamed.and_then(|set| set.value.text()) {
            ty.tp_name = name.to_owned();
        }
        self.sequence_slots(unit, variable, &mut ty);
        ty.base = Some("PyTuple_Type".to_owned());
        ty
    }

    /// What `structseq.c` puts into every struct sequence, and the flags that its maker adds.
    fn sequence_slots(&mut self, unit: &'f UnitFacts, variable: &'f Variable, ty: &mut Type) {
        let common = self.units.iter().find(|unit| unit.path == "Objects/structseq.c");
        for set in common.map_or(&[][..], |unit| &unit.assignments[..]).iter().filter(|set| set.object == "type") {
            if let Some(common) = common.filter(|_| set.field == "tp_methods") {
                ty.methods = self.methods(common, variable, &set.value);
            }
            if let Some(function) =
                self.function(&set.value).filter(|_| self.function_slots.contains(&set.field.as_str()))
            {
                ty.slots.insert(set.field.clone(), SlotValue { function, origin: SlotOrigin::Own, from: None });
            }
        }
        let common = ["Py_TPFLAGS_DEFAULT", "Py_TPFLAGS_HAVE_GC"];
        ty.flags = common.map(str::to_owned).to_vec();
        let Some((_, made)) = self.creation(unit, &ty.c_name) else { return };
        ty.flags.extend(made.flags.iter().cloned());
        self.set_later(unit, made, ty);
    }
}
