//! Types from their tables: initialisers, suites, slot arrays, methods, getters, members.

use rustc_hash::FxHashMap;

use super::fields::{by_field, flags, text};
use super::unit::{Assignment, Creation, UnitFacts, Variable};
use super::value::{Entry, Value};
use crate::diagnostics::{Diagnostic, Diagnostics, Severity};
use crate::facts::{GetSet, Member, Method, SlotOrigin, SlotValue, Slotdef, Struct, Type, TypeKind, text_signature};

/// What linking needs to know beyond one unit.
pub(super) struct Linker<'f> {
    units: &'f [UnitFacts],
    /// Variables of all units by name, for those that are not of the unit at hand.
    global: FxHashMap<&'f str, Vec<&'f Variable>>,
    structs: FxHashMap<&'f str, &'f Struct>,
    /// Suite pointers of `PyTypeObject` and their structs.
    suites: Vec<(&'f str, &'f str)>,
    /// Fields of `PyTypeObject` that hold functions.
    function_slots: Vec<&'f str>,
    wrapperbase: Vec<&'f str>,
    alias: &'f dyn Fn(&str) -> String,
    body: &'f dyn Fn(&str) -> Option<String>,
    diagnostics: Diagnostics,
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
        Self { units, global, structs, suites, function_slots, wrapperbase, alias, body, diagnostics }
    }

    fn report(&mut self, variable: &Variable, code: &'static str, message: String) {
        let (file, line, column) = (variable.file.clone(), variable.line, variable.column);
        let (severity, help) = (Severity::Error, HELP.to_owned());
        self.diagnostics.push(Diagnostic { severity, code, file, line, column, message, help });
    }

    /// All types, by file and name, with what was not understood.
    pub(super) fn types(mut self) -> (Vec<Type>, Vec<Slotdef>, Diagnostics) {
        let (mut types, mut slotdefs) = (Vec::new(), Vec::new());
        for unit in self.units {
            for variable in &unit.variables {
                match variable.ty.as_str() {
                    "PyTypeObject" => types.push(self.static_type(unit, variable)),
                    "PyType_Spec" => types.push(self.spec(unit, variable)),
                    "PyStructSequence_Desc" => types.push(self.struct_sequence(unit, variable)),
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

    fn lookup(&self, unit: &'f UnitFacts, name: &str) -> Option<&'f Variable> {
        let own = unit.variables.iter().find(|variable| variable.name == name);
        own.or_else(|| match self.global.get(name)?.as_slice() {
            [only] => Some(*only),
            _ => None,
        })
    }

    fn function(&self, value: &Value) -> Option<String> {
        value.name().map(|name| (self.alias)(name))
    }

    fn new_type(&self, unit: &UnitFacts, variable: &Variable, kind: TypeKind) -> Type {
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
            self.report(
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

    fn type_field(&mut self, unit: &'f UnitFacts, variable: &Variable, ty: &mut Type, field: &str, entry: &Entry) {
        let value = &entry.value;
        match field {
            "ob_base" => ty.metatype = metatype(value),
            "tp_name" => match self.literal(value) {
                Some(name) => ty.tp_name = name,
                None => self.report(variable, "extract/type-name", format!("`{}` has no literal tp_name", ty.c_name)),
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

    fn slot(&mut self, variable: &Variable, ty: &mut Type, slot: &str, value: &Value) {
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
                    _ => return self.report(variable, "extract/suite", format!("`{name}` is no initialised {suite}")),
                },
                None => return self.report(variable, "extract/suite", format!("no initialiser of `{name}` was found")),
            },
            other => return self.report(variable, "extract/suite", format!("`{}` names no {suite}", text(other))),
        };
        let Some(layout) = self.structs.get(suite).copied() else { return };
        let fields = names(layout);
        let mut surplus = Vec::new();
        for (field, entry) in by_field(entries, &fields, &mut surplus) {
            self.slot(variable, ty, &field, &entry.value);
        }
        if !surplus.is_empty() {
            self.report(variable, "extract/suite", format!("{suite} of `{}` has more entries than fields", ty.c_name));
        }
    }

    fn spec(&mut self, unit: &'f UnitFacts, variable: &'f Variable) -> Type {
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
    fn base_name(&self, unit: &UnitFacts, base: &Value) -> Option<String> {
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
                    return self.report(
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
                self.report(variable, "extract/slot-id", format!("`{id}` is no slot id"));
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

    fn struct_sequence(&mut self, unit: &'f UnitFacts, variable: &'f Variable) -> Type {
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

    fn rows(&mut self, unit: &'f UnitFacts, variable: &Variable, value: &Value) -> Vec<(&'f Variable, &'f Entry)> {
        let found = match value {
            Value::Null => return Vec::new(),
            other => other.name().and_then(|name| self.lookup(unit, name)),
        };
        let Some(found) = found else {
            self.report(variable, "extract/table", format!("no initialiser of the table `{}` was found", text(value)));
            return Vec::new();
        };
        found.value.list().iter().map(|entry| (found, entry)).collect()
    }

    fn methods(&mut self, unit: &'f UnitFacts, variable: &Variable, value: &Value) -> Vec<Method> {
        let mut methods = Vec::new();
        for (_, row) in self.rows(unit, variable, value) {
            let mut surplus = Vec::new();
            let cells = by_field(row.value.list(), &["ml_name", "ml_meth", "ml_flags", "ml_doc"], &mut surplus);
            let cell = |name: &str| cells.iter().find(|(field, _)| field == name).map(|(_, entry)| &entry.value);
            let (Some(name), Some(function)) = (cell("ml_name").and_then(Value::text), cell("ml_meth")) else {
                continue;
            };
            let doc = match cell("ml_doc") {
                Some(Value::Text(doc)) => Some(doc.as_str()),
                Some(Value::Name(doc)) => self.lookup(unit, doc).and_then(|found| found.value.text()),
                _ => None,
            };
            let signature = doc.and_then(|doc| text_signature(name, doc));
            let Some(function) = self.function(function) else {
                self.report(
                    variable,
                    "extract/method",
                    format!("method `{name}` has no function: `{}`", text(function)),
                );
                continue;
            };
            let flags = cell("ml_flags").map(flags).unwrap_or_default();
            methods.push(Method { name: name.to_owned(), function, flags, signature });
        }
        methods
    }

    fn getset(&mut self, unit: &'f UnitFacts, variable: &Variable, value: &Value) -> Vec<GetSet> {
        let mut found = Vec::new();
        for (_, row) in self.rows(unit, variable, value) {
            let mut surplus = Vec::new();
            let cells = by_field(row.value.list(), &["name", "get", "set", "doc", "closure"], &mut surplus);
            let cell = |name: &str| cells.iter().find(|(field, _)| field == name).map(|(_, entry)| &entry.value);
            let Some(name) = cell("name").and_then(Value::text) else { continue };
            let function = |name: &str| cell(name).and_then(|value| self.function(value));
            let closure = cell("closure").filter(|value| **value != Value::Null).map(text);
            found.push(GetSet { name: name.to_owned(), get: function("get"), set: function("set"), closure });
        }
        found
    }

    fn members(&mut self, unit: &'f UnitFacts, variable: &Variable, value: &Value) -> Vec<Member> {
        let mut found = Vec::new();
        for (_, row) in self.rows(unit, variable, value) {
            let mut surplus = Vec::new();
            let cells = by_field(row.value.list(), &["name", "type", "offset", "flags", "doc"], &mut surplus);
            let cell = |name: &str| cells.iter().find(|(field, _)| field == name).map(|(_, entry)| &entry.value);
            let Some(name) = cell("name").and_then(Value::text) else { continue };
            let field = match cell("offset") {
                Some(Value::Offset(ty, member)) => format!("{ty}.{member}"),
                Some(other) => text(other),
                None => String::new(),
            };
            let ty = cell("type").map(text).unwrap_or_default();
            found.push(Member {
                name: name.to_owned(),
                ty,
                field,
                flags: cell("flags").map(flags).unwrap_or_default(),
            });
        }
        found
    }

    fn slotdefs(&mut self, variable: &'f Variable) -> Vec<Slotdef> {
        let mut found = Vec::new();
        for row in variable.value.list() {
            let mut surplus = Vec::new();
            let cells = by_field(row.value.list(), &self.wrapperbase, &mut surplus);
            let cell = |name: &str| cells.iter().find(|(field, _)| field == name).map(|(_, entry)| &entry.value);
            let Some(name) = cell("name").and_then(Value::text) else { continue };
            let Some(Value::Offset(owner, member)) = cell("offset") else {
                self.report(variable, "extract/slotdef", format!("`{name}` has no offsetof"));
                continue;
            };
            let Some(offset) = self.offset(owner, member) else {
                self.report(variable, "extract/slotdef", format!("`{owner}` has no member `{member}`"));
                continue;
            };
            let slot = member.rsplit('.').next().unwrap_or(member).to_owned();
            let doc = cell("doc").and_then(Value::text).unwrap_or_default().to_owned();
            let flags = match cell("flags") {
                Some(Value::Integer(number)) => *number as u32,
                Some(Value::Name(name)) if name == "PyWrapperFlag_KEYWORDS" => 1,
                _ => 0,
            };
            let function = |name: &str| cell(name).and_then(|value| self.function(value));
            let (function, wrapper) = (function("function"), function("wrapper"));
            found.push(Slotdef { name: name.to_owned(), slot, offset, function, wrapper, flags, doc });
        }
        found
    }

    /// `offsetof(owner, a.b)`.
    fn offset(&self, owner: &str, member: &str) -> Option<u32> {
        let (mut layout, mut offset) = (*self.structs.get(owner)?, 0);
        let mut parts = member.split('.').peekable();
        while let Some(part) = parts.next() {
            let field = layout.fields.iter().find(|field| field.name == part)?;
            offset += field.offset;
            if parts.peek().is_some() {
                layout = self.structs.get(field.ty.as_str())?;
            }
        }
        Some(offset)
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

fn sequence_member(row: &Value) -> Option<Member> {
    let name = row.list().first()?.value.text()?.to_owned();
    Some(Member { name, ty: String::new(), field: String::new(), flags: Vec::new() })
}
