//! Types from their tables: initialisers, suites, slot arrays, methods, getters, members.

use rustc_hash::FxHashMap;

use super::fields::{by_field, flags, text};
use super::unit_facts::{Assignment, UnitFacts, Variable};
use super::value::{Entry, Value};
use crate::diagnostics::{Diagnostic, Diagnostics, Severity};
use crate::facts::{Member, SlotOrigin, SlotValue, Slotdef, Struct, Type, TypeKind};

/// What linking needs to know beyond one unit.
pub(super) struct Linker<'f> {
    pub(super) units: &'f [UnitFacts],
    /// Variables of all units by name, for those that are not of the unit at hand.
    pub(super) global: FxHashMap<&'f str, Vec<&'f Variable>>,
    pub(super) structs: FxHashMap<&'f str, &'f Struct>,
    /// Suite pointers of `PyTypeObject` and their structs.
    pub(super) suites: Vec<(&'f str, &'f str)>,
    /// Fields of `PyTypeObject` that hold functions.
    pub(super) function_slots: Vec<&'f str>,
    pub(super) wrapperbase: Vec<&'f str>,
    pub(super) alias: &'f dyn Fn(&str) -> String,
    pub(super) body: &'f dyn Fn(&str) -> Option<String>,
    pub(super) diagnostics: Diagnostics,
    /// The type at hand is not understood as a whole, and is left out.
    pub(super) is_broken: bool,
}

const HELP: &str = "look at the initialiser; slotgen/src/extract/tables.rs must learn its form";

impl<'f> Linker<'f> {
    /// `structs` are the slot structs and `struct wrapperbase`; `is_function` says which field types are function pointers.
    pub(super) fn new(
        units: &'f [UnitFacts],
        structs: &'f [Struct],
        is_function: &dyn Fn(&str) -> bool,
        alias: &'f dyn Fn(&str) -> String,
        body: &'f dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let mut global: FxHashMap<&str, Vec<&Variable>> = FxHashMap::default();
        for variable in units.iter().flat_map(|unit| &unit.variables) {
            global.entry(&variable.name).or_default().push(variable);
        }
        let structs: FxHashMap<_, _> = structs.iter().map(|layout| (layout.name.as_str(), layout)).collect();
        let type_fields = structs.get("PyTypeObject").map_or(&[][..], |layout| &layout.fields[..]);
        let suite =
            |ty: &'f str| ty.strip_suffix(" *").filter(|name| structs.contains_key(name) && *name != "PyTypeObject");
        let suites = type_fields.iter().filter_map(|field| Some((field.name.as_str(), suite(&field.ty)?))).collect();
        let function_slots = type_fields.iter().filter(|field| is_function(&field.ty)).map(|field| field.name.as_str());
        let function_slots = function_slots.collect();
        let wrapperbase = structs.get("wrapperbase").map_or(&[][..], |layout| &layout.fields[..]);
        let wrapperbase = wrapperbase.iter().map(|field| field.name.as_str()).collect();
        let diagnostics = Diagnostics::default();
        let is_broken = false;
        Self { units, global, structs, suites, function_slots, wrapperbase, alias, body, diagnostics, is_broken }
    }

    pub(super) fn report(&mut self, variable: &Variable, code: &'static str, message: String) {
        let (file, line, column) = (variable.file.clone(), variable.line, variable.column);
        let (severity, help) = (Severity::Gap, HELP.to_owned());
        self.diagnostics.push(Diagnostic { severity, code, file, line, column, message, help });
    }

    /// Tells what prevents a type from being believed at all: which slots it fills is not known.
    pub(super) fn broken(&mut self, variable: &Variable, code: &'static str, message: String) {
        self.is_broken = true;
        self.report(variable, code, format!("{message}: the type is left out"));
    }

    /// A type, unless reading it met something without which it cannot be believed.
    fn whole(&mut self, ty: Type, types: &mut Vec<Type>) {
        if !std::mem::take(&mut self.is_broken) {
            types.push(ty);
        }
    }

    /// All types, by file and name, with what was not understood.
    pub(super) fn types(mut self) -> (Vec<Type>, Vec<Slotdef>, Diagnostics) {
        let (mut types, mut slotdefs) = (Vec::new(), Vec::new());
        for unit in self.units {
            for variable in &unit.variables {
                match variable.ty.as_str() {
                    "PyTypeObject" => {
                        let ty = self.static_type(unit, variable);
                        self.whole(ty, &mut types);
                    }
                    "PyType_Spec" => {
                        let ty = self.spec(unit, variable);
                        self.whole(ty, &mut types);
                    }
                    "PyStructSequence_Desc" => {
                        let ty = self.struct_sequence(unit, variable);
                        self.whole(ty, &mut types);
                    }
                    "pytype_slotdef[]" | "slotdef[]" | "wrapperbase[]" if variable.name == "slotdefs" => {
                        slotdefs = self.slotdefs(variable);
                    }
                    _ => {}
                }
            }
        }
        types.sort_by(|a, b| (a.unit(), &a.c_name).cmp(&(b.unit(), &b.c_name)));
        (types, slotdefs, self.diagnostics)
    }

    pub(super) fn lookup(&self, unit: &'f UnitFacts, name: &str) -> Option<&'f Variable> {
        let own = unit.variables.iter().find(|variable| variable.name == name);
        own.or_else(|| match self.global.get(name)?.as_slice() {
            [only] => Some(*only),
            _ => None,
        })
    }

    pub(super) fn function(&self, value: &Value) -> Option<String> {
        value.name().map(|name| (self.alias)(name))
    }

    pub(super) fn new_type(&self, unit: &UnitFacts, variable: &Variable, kind: TypeKind) -> Type {
        let unit = (variable.file != unit.path).then(|| unit.path.clone());
        Type { file: variable.file.clone(), line: variable.line, unit, ..Type::new(&variable.name, kind) }
    }

    fn static_type(&mut self, unit: &'f UnitFacts, variable: &'f Variable) -> Type {
        let mut ty = self.new_type(unit, variable, TypeKind::Static);
        let names: Vec<&str> = self.structs.get("PyTypeObject").map_or(Vec::new(), |layout| names(layout));
        let mut surplus = Vec::new();
        for (field, entry) in by_field(variable.value.list(), &names, &mut surplus) {
            self.type_field(unit, variable, &mut ty, &field, entry);
        }
        if !surplus.is_empty() {
            self.broken(
                variable,
                "extract/type-field",
                format!("`{}` initialises fields that PyTypeObject does not have", ty.c_name),
            );
        }
        for assignment in self.assignments(unit, &variable.name) {
            let entry = Entry { designator: None, value: assignment.value.clone(), at: 0 };
            let known = ty.base.clone();
            let filled: Vec<String> = ty.slots.keys().cloned().collect();
            self.type_field(unit, variable, &mut ty, &assignment.field, &entry);
            let fresh: Vec<String> = ty.slots.keys().filter(|slot| !filled.contains(slot)).cloned().collect();
            ty.assigned.extend(fresh);
            // A base that only a local variable knows does not replace the initialiser's.
            ty.base = ty.base.or(known);
        }
        ty
    }

    /// Assignments to fields of a variable: in its own unit, and in others if no second variable has its name.
    fn assignments(&self, unit: &'f UnitFacts, name: &str) -> Vec<&'f Assignment> {
        let is_only = self.global.get(name).is_none_or(|found| found.len() == 1);
        let units = self.units.iter().filter(|other| is_only || other.path == unit.path);
        units.flat_map(|unit| &unit.assignments).filter(|assignment| assignment.object == name).collect()
    }

    pub(super) fn type_field(
        &mut self,
        unit: &'f UnitFacts,
        variable: &Variable,
        ty: &mut Type,
        field: &str,
        entry: &Entry,
    ) {
        let value = &entry.value;
        match field {
            "ob_base" => ty.metatype = metatype(value),
            "tp_name" => match self.literal(value) {
                Some(name) => ty.tp_name = name,
                None => self.broken(variable, "extract/type-name", format!("`{}` has no literal tp_name", ty.c_name)),
            },
            "tp_basicsize" => ty.basicsize = text(value),
            "tp_itemsize" => ty.itemsize = text(value),
            "tp_flags" => ty.flags = flags(value),
            "tp_base" => ty.base = self.base_name(unit, value),
            "tp_methods" => ty.methods = self.methods(unit, variable, value),
            "tp_getset" => ty.getset = self.getset(unit, variable, value),
            "tp_members" => ty.members = self.members(unit, variable, value),
            _ => {
                if let Some(&(_, suite)) = self.suites.iter().find(|(pointer, _)| *pointer == field) {
                    if *value != Value::Null {
                        ty.suites.push(field.to_owned());
                    }
                    self.suite(unit, variable, ty, suite, value);
                } else if self.function_slots.contains(&field) {
                    self.slot(variable, ty, field, value);
                }
            }
        }
    }

    /// A string, parts of which may be macros from the compiler's command line: `MODULE_NAME ".Row"`.
    fn literal(&self, value: &Value) -> Option<String> {
        let Value::Other(text) = value else { return value.text().map(str::to_owned) };
        let mut whole = String::new();
        for (i, part) in text.split('"').enumerate() {
            // Odd parts stand in quotes.
            if i % 2 == 1 {
                whole.push_str(part);
            } else {
                for word in part.split_whitespace() {
                    whole.push_str((self.body)(word)?.strip_prefix('"')?.strip_suffix('"')?);
                }
            }
        }
        Some(whole)
    }

    pub(super) fn slot(&mut self, variable: &Variable, ty: &mut Type, slot: &str, value: &Value) {
        match value {
            Value::Null => {
                ty.slots.remove(slot);
            }
            Value::Name(name) => {
                let function = (self.alias)(name);
                ty.slots.insert(slot.to_owned(), SlotValue { function, origin: SlotOrigin::Own, from: None });
            }
            // `X.tp_clear = base->tp_clear` does by hand what inheritance does; the model puts the function in.
            Value::Other(text) if text.ends_with(&format!("->{slot}")) => {
                ty.slots.insert(
                    slot.to_owned(),
                    SlotValue { function: text.clone(), origin: SlotOrigin::Inherited, from: None },
                );
            }
            other => {
                let message =
                    format!("`{}.{slot}` is initialised with `{}`, which names no function", ty.c_name, text(other));
                self.report(variable, "extract/slot-value", message);
                // It is there, and nothing is known of what it does.
                let value = SlotValue { function: text(other), origin: SlotOrigin::Own, from: None };
                ty.slots.insert(slot.to_owned(), value);
            }
        }
    }

    fn suite(&mut self, unit: &'f UnitFacts, variable: &Variable, ty: &mut Type, suite: &str, value: &Value) {
        let entries = match value {
            Value::Null => return,
            Value::List(entries) => entries,
            Value::Name(name) => match self.lookup(unit, name) {
                Some(found) => match &found.value {
                    Value::List(entries) => entries,
                    _ => return self.broken(variable, "extract/suite", format!("`{name}` is no initialised {suite}")),
                },
                None => return self.broken(variable, "extract/suite", format!("no initialiser of `{name}` was found")),
            },
            other => return self.broken(variable, "extract/suite", format!("`{}` names no {suite}", text(other))),
        };
        let Some(layout) = self.structs.get(suite).copied() else { return };
        let fields = names(layout);
        let mut surplus = Vec::new();
        for (field, entry) in by_field(entries, &fields, &mut surplus) {
            self.slot(variable, ty, &field, &entry.value);
        }
        if !surplus.is_empty() {
            self.broken(variable, "extract/suite", format!("{suite} of `{}` has more entries than fields", ty.c_name));
        }
    }
}

fn names(layout: &Struct) -> Vec<&str> {
    layout.fields.iter().map(|field| field.name.as_str()).collect()
}

/// `ob_type` in the nested initialiser of `ob_base`.
fn metatype(value: &Value) -> Option<String> {
    let object = value.list().first()?;
    object.value.list().get(1)?.value.name().map(str::to_owned)
}

pub(super) fn sequence_member(row: &Value) -> Option<Member> {
    let name = row.list().first()?.value.text()?.to_owned();
    Some(Member { name, ty: String::new(), field: String::new(), flags: Vec::new() })
}
