//! Loads and stores: whose memory an expression reads or changes.

use super::origin::Origin;
use super::program::Callee;
use super::summary::Flags;
use super::value::{Class, Pointer, Value};
use super::walk::{FIXED, OWN, Walker};
use crate::lower::{Expr, Kind};

impl Walker<'_> {
    /// What objects of an origin refer to, what was put there by this function included.
    pub(super) fn load(&self, origin: Origin) -> Origin {
        let mut out = origin.contents();
        for (index, stored) in &self.known.summary.stores {
            if origin.meets(Origin::parameter(*index)) {
                out.add(*stored);
            }
        }
        if origin.meets(OWN) {
            out.add(self.known.summary.holds);
        }
        out
    }

    pub(super) fn read(&mut self, value: &Value) {
        self.changed |= self.known.summary.reads.add(value.origin.without(OWN.or(FIXED)));
    }

    pub(super) fn member(&mut self, base: &Value, member: &str) -> Value {
        if self.program.is_slot(member) {
            if let Some(function) = base.global.as_ref().and_then(|ty| self.program.slot_of(ty, member)) {
                return match self.program.resolve_anywhere(&function) {
                    Callee::Function(id) => Value::pointer(Pointer::Function(id)),
                    // A static function of the type's own file.
                    _ => match self.program.named(&function).as_slice() {
                        [] => Value::pointer(Pointer::Unknown(function)),
                        all => Value {
                            pointers: all.iter().map(|id| Pointer::Function(*id)).collect(),
                            ..Value::default()
                        },
                    },
                };
            }
            return Value::pointer(Pointer::Slot(base.origin, member.to_owned()));
        }
        match member {
            "ob_type" => return Value::new(base.origin.types(), Class::Object),
            "ob_base" | "ob_refcnt" | "super" => return base.clone(),
            _ if member.starts_with("tp_as_") => return base.clone(),
            _ => {}
        }
        self.read(base);
        if base.origin.meets(Origin::GLOBAL) && base.class == Class::Thread && !self.program.leaves.is_benign(member) {
            self.flag(Flags::READS_GLOBAL, || format!("`->{member}` of the thread or the interpreter is read"));
        }
        let typed = self.program.typed(base.structure.as_deref(), member);
        let class = typed.class;
        let origin = match class {
            _ if is_exported(base, member) => self.load(base.origin),
            Class::Object => self.load(base.origin),
            Class::Unknown => base.origin.or(self.load(base.origin)),
            Class::Thread => Origin::GLOBAL,
            Class::Data if typed.number => Origin::NONE,
            _ => base.origin,
        };
        let pointers = [Pointer::Member(member.to_owned())].into();
        Value { origin, class, pointers, structure: typed.structure.clone(), ..Value::default() }
    }

    /// `*base` and `base[i]`.
    pub(super) fn element(&mut self, base: &Value) -> Value {
        self.read(base);
        match base.class {
            Class::Objects => Value::new(self.load(base.origin), Class::Object),
            Class::Arguments => {
                let held = if base.local.is_some() { self.known.summary.holds } else { Origin::NONE };
                Value::new(base.origin.or(held), Class::Object)
            }
            Class::Numbers => Value { pointers: base.pointers.clone(), ..Value::default() },
            Class::Data => Value { origin: base.origin, pointers: base.pointers.clone(), ..Value::default() },
            Class::Object | Class::Thread => base.clone(),
            Class::Struct | Class::Unknown => {
                let mut value = base.clone();
                value.origin.add(self.load(base.origin));
                value
            }
        }
    }

    pub(super) fn address(&mut self, inner: &Expr) -> Value {
        match &inner.kind {
            Kind::Name(name) if self.variables.contains_key(name) => {
                let mut value = self.variables.get(name).cloned().unwrap_or_default();
                let is_memory = value.local.as_ref() == Some(name);
                match value.class {
                    Class::Data | Class::Numbers if !is_memory => value.origin = Origin::FRESH,
                    Class::Objects | Class::Thread => {}
                    _ if !is_memory => value.class = Class::Arguments,
                    _ => {}
                }
                value.local = Some(name.clone());
                value
            }
            Kind::Member(base, member) => {
                let base = self.eval(base);
                let typed = self.program.typed(base.structure.as_deref(), member);
                let (class, structure) = match typed.class {
                    Class::Object => (Class::Objects, None),
                    Class::Data if typed.number => (Class::Numbers, None),
                    Class::Data => (Class::Data, None),
                    _ => (Class::Struct, typed.structure.clone()),
                };
                Value { origin: base.origin, class, local: base.local, structure, ..Value::default() }
            }
            Kind::Index(base, index) => {
                let mut base = self.eval(base);
                let index = self.eval(index);
                base.pointers.extend(index.pointers);
                base
            }
            Kind::Deref(base) => self.eval(base),
            _ => self.eval(inner),
        }
    }

    /// `target = value`.
    pub(super) fn store(&mut self, target: &Expr, value: &Value) {
        match &target.kind {
            Kind::Name(name) if self.variables.contains_key(name) => self.bind(name, value),
            Kind::Name(name) if self.program.leaves.is_cache(name) => {}
            Kind::Name(name) => self.flag(Flags::WRITES_GLOBAL, || format!("`{name}` is set")),
            Kind::Member(base, member) => {
                let base = self.eval(base);
                if member != "ob_refcnt" {
                    self.put(base.origin, value.origin);
                }
            }
            Kind::Index(base, _) | Kind::Deref(base) => {
                if let Kind::Index(_, index) = &target.kind {
                    self.eval(index);
                }
                let base = self.eval(base);
                self.put_at(&base, value.origin);
            }
            Kind::Cast(_, _, inner) => self.store(inner, value),
            Kind::Conditional(_, yes, no) => {
                self.store(yes, value);
                self.store(no, value);
            }
            // A macro of the API that names a place in the memory of its arguments.
            Kind::Call(_, args) => {
                let into = args.iter().fold(Origin::NONE, |all, arg| all.or(self.eval(arg).origin));
                self.put(into.or(into.contents()), value.origin);
            }
            _ => self.unknown("an assignment to something that is no variable, member or element"),
        }
    }

    /// `*pointer = value`.
    pub(super) fn put_at(&mut self, pointer: &Value, value: Origin) {
        // A number leads nowhere.
        let value = if pointer.class == Class::Numbers { Origin::NONE } else { value };
        if let Some(name) = pointer.local.clone() {
            if matches!(pointer.class, Class::Arguments | Class::Data | Class::Numbers) {
                self.bind(&name, &Value { origin: value, ..Value::default() });
            }
            self.changed |= self.known.summary.holds.add(value.without(Origin::FRESH));
        }
        if matches!(pointer.class, Class::Arguments | Class::Data | Class::Numbers) {
            for index in 0..super::origin::PARAMETERS {
                let parameter = Origin::parameter(index);
                if pointer.origin.meets(parameter) && pointer.pointers.contains(&Pointer::Parameter(index)) {
                    self.changed |= self.known.summary.sets.add(parameter);
                    self.changed |= self.known.summary.stores.entry(index).or_default().add(value);
                    return self.put(pointer.origin.without(parameter), value);
                }
            }
            if pointer.class == Class::Arguments && pointer.local.is_some() {
                return;
            }
        }
        self.put(pointer.origin, value);
    }

    /// A store of `value` into the memory of `into`.
    pub(super) fn put(&mut self, into: Origin, value: Origin) {
        if into.meets(OWN) {
            self.changed |= self.known.summary.holds.add(value.without(Origin::FRESH));
        }
        for index in 0..super::origin::PARAMETERS {
            if into.meets(Origin::parameter(index).or(Origin::inside(index))) && !value.is_none() {
                self.changed |= self.known.summary.stores.entry(index).or_default().add(value);
            }
        }
        self.mutate(into, None, "a store");
    }

    pub(super) fn mutate(&mut self, into: Origin, callee: Option<usize>, text: &str) {
        if into.meets(Origin::GLOBAL.or(Origin::BUILTIN)) {
            self.note("writes global", callee, || text.to_owned());
            self.set(Flags::WRITES_GLOBAL);
        }
        let seen = into.without(OWN.or(Origin::GLOBAL).or(FIXED));
        if !seen.is_none() {
            self.note("mutates", callee, || format!("{text}: {}", seen.words().join(", ")));
            self.changed |= self.known.summary.mutates.add(seen);
        }
    }
}

/// Whether a member is memory of the object that a buffer was got from, not of the `Py_buffer` itself.
fn is_exported(base: &Value, member: &str) -> bool {
    member == "buf" && is_buffer(base)
}

/// Whether a value is a `Py_buffer`, or points to one.
pub(super) fn is_buffer(value: &Value) -> bool {
    value.structure.as_deref() == Some("Py_buffer")
}
