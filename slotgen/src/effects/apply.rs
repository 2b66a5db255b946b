//! What a callee does, in the terms of its caller; calls through pointers and slots.

use super::origin::Origin;
use super::program::Callee;
use super::summary::{Flags, Summary};
use super::value::{Class, Pointer, Value};
use super::walk::{FIXED, OWN, Walker};

impl Walker<'_> {
    pub(super) fn pointer_call(&mut self, function: &Value, args: &[Value]) -> Value {
        let mut result = Value::new(Origin::NONE, Class::Unknown);
        if function.pointers.is_empty() {
            self.unknown("a call through a pointer of unknown origin");
        }
        for pointer in function.pointers.clone() {
            let value = match pointer {
                Pointer::Slot(origin, slot) => self.slot_call(&slot, origin, args),
                Pointer::SlotAt(origin, index) => {
                    self.changed |= self.known.summary.slot_offsets.entry(index).or_default().add(origin);
                    Value::new(Origin::RESULT, Class::Object)
                }
                Pointer::Function(id) => self.apply_function(id, args),
                Pointer::Leaf(name) => match self.program.resolve_anywhere(&name) {
                    Callee::Leaf(leaf) => self.apply(&leaf.summary, args, None, &name, Class::Object),
                    _ => Value::default(),
                },
                Pointer::Parameter(index) => {
                    self.changed |= self.known.summary.calls.insert(index);
                    Value::new(Origin::OTHER, Class::Unknown)
                }
                Pointer::Member(member) => self.member_call(&member, args),
                Pointer::Offset(_) => continue,
                Pointer::Unknown(what) => {
                    self.unknown(&format!("a call through `{what}`"));
                    Value::new(Origin::OTHER, Class::Unknown)
                }
            };
            result.join(&value);
        }
        result
    }

    /// A call of what a member holds: any function that is ever stored there.
    fn member_call(&mut self, member: &str, args: &[Value]) -> Value {
        let Some(held) = self.program.held(member) else {
            self.unknown(&format!("a call through `->{member}`"));
            return Value::new(Origin::OTHER, Class::Unknown);
        };
        let mut result = Value::new(Origin::NONE, Class::Unknown);
        for id in &held.functions {
            result.join(&self.apply_function(*id, args));
        }
        // Whose slot it is cannot be told; it is one of the objects it is called with.
        let all = args.iter().fold(Origin::NONE, |all, arg| all.or(arg.origin));
        for slot in &held.slots {
            result.join(&self.slot_call(slot, all, args));
        }
        result
    }

    pub(super) fn slot_call(&mut self, slot: &str, origin: Origin, args: &[Value]) -> Value {
        if let Some(leaf) = self.program.leaves.slot(slot) {
            return self.apply(&leaf.summary, args, None, slot, Class::Object);
        }
        self.slot(slot, origin, None);
        self.set(Flags::RAISES.or(Flags::ALLOCATES));
        Value::new(Origin::RESULT, Class::Object)
    }

    /// A slot of the types of `origin` is called.
    pub(super) fn slot(&mut self, slot: &str, origin: Origin, callee: Option<usize>) {
        // A container made here has the slots of its builtin type, which look at what it holds.
        let mut origin = origin;
        if origin.meets(Origin::FRESH) {
            origin.add(self.known.summary.holds);
        }
        if origin.meets(Origin::MADE) {
            origin.add(Origin::RESULT);
        }
        let foreign = Origin::GLOBAL.or(Origin::OTHER);
        let origin = origin.without(OWN.or(FIXED));
        if origin.meets(foreign) {
            self.note("python", callee, || format!("{slot} of an object that the function did not get as an argument"));
            self.set(Flags::PYTHON);
        }
        let asked = origin.without(foreign);
        if !asked.is_none() {
            match self.known.summary.slots.get_mut(slot) {
                // Its first place is noted.
                Some(known) => self.changed |= known.add(asked),
                None => {
                    self.note(&format!("slot {slot}"), callee, || format!("{slot} of {}", asked.words().join(", ")));
                    self.changed |= self.known.summary.slots.entry(slot.to_owned()).or_default().add(asked);
                }
            }
            if self.program.leaves.is_changing(slot) {
                self.mutate(asked, callee, slot);
            }
        }
    }

    pub(super) fn release(&mut self, origin: Origin, callee: Option<usize>, text: &str) {
        let origin = origin.without(OWN.or(Origin::RESULT).or(FIXED));
        if !origin.is_none() {
            self.note("releases", callee, || text.to_owned());
            self.changed |= self.known.summary.releases.add(origin);
        }
    }

    pub(super) fn apply_function(&mut self, id: usize, args: &[Value]) -> Value {
        let summary = self.program.summary(id);
        let class = self.program.returns(id);
        self.apply(&summary, args, Some(id), self.program.name(id), class)
    }

    /// A call, in this function's terms.
    pub(super) fn apply(
        &mut self,
        callee: &Summary,
        args: &[Value],
        id: Option<usize>,
        name: &str,
        class: Class,
    ) -> Value {
        let last = super::origin::PARAMETERS - 1;
        let given = |index: usize| -> Origin {
            if index == last {
                return args.get(last..).unwrap_or_default().iter().fold(Origin::NONE, |all, arg| all.or(arg.origin));
            }
            args.get(index).map_or(Origin::NONE, |arg| arg.origin)
        };
        let of_each: [Origin; super::origin::PARAMETERS] = std::array::from_fn(given);
        let given = |index: usize| of_each.get(index).copied().unwrap_or(Origin::NONE);
        // What a buffer of this function's own refers to is the object that it was got from.
        let holds = self.known.summary.holds;
        let inside = |index: usize| -> Origin {
            let buffer = args.get(index).is_some_and(|arg| arg.origin.meets(OWN) && super::memory::is_buffer(arg));
            given(index).contents().or(if buffer { holds } else { Origin::NONE })
        };
        for word in callee.flags.words() {
            self.note(word, id, || name.to_owned());
        }
        self.set(callee.flags);
        self.changed |= self.known.summary.reads.add(callee.reads.mapped_with(&given, &inside).without(OWN.or(FIXED)));
        self.mutate(callee.mutates.mapped_with(&given, &inside), id, name);
        for (index, arg) in args.iter().enumerate().take(last + 1) {
            let stored = callee.stores.get(&index).map_or(Origin::NONE, |stored| stored.mapped(&given));
            if callee.sets.meets(Origin::parameter(index)) {
                self.put_at(arg, stored);
            } else if !stored.is_none() {
                self.keep(arg, stored);
            }
        }
        self.release(callee.releases.mapped(&given), id, name);
        for (slot, origin) in &callee.slots {
            let origin = origin.mapped(&given);
            if !origin.is_none() {
                self.slot(slot, origin, id);
            }
            // A type of C that is called may ask its arguments anything.
            if slot == "tp_call" && origin.meets(Origin::BUILTIN) {
                let all = args.iter().fold(Origin::NONE, |all, arg| all.or(arg.origin));
                self.slot("*", all.without(Origin::GLOBAL), id);
            }
        }
        self.pass_functions(callee, args, &given);
        let returns = callee.returns.mapped(&given);
        if returns.meets(OWN) {
            self.changed |= self.known.summary.holds.add(callee.holds.mapped(&given).without(Origin::FRESH));
        }
        let class =
            if class == Class::Objects && returns.without(Origin::FRESH).is_none() { Class::Arguments } else { class };
        Value::new(returns, class)
    }

    /// `stored` is in the memory of `arg` from now on.
    pub(super) fn keep(&mut self, arg: &Value, stored: Origin) {
        if let Some(name) =
            arg.local.clone().filter(|_| matches!(arg.class, Class::Arguments | Class::Data | Class::Numbers))
        {
            self.bind(&name, &Value { origin: stored, ..Value::default() });
        }
        if arg.origin.meets(OWN) {
            self.changed |= self.known.summary.holds.add(stored.without(Origin::FRESH));
        }
        for index in 0..super::origin::PARAMETERS {
            if arg.origin.meets(Origin::parameter(index)) {
                self.changed |= self.known.summary.stores.entry(index).or_default().add(stored);
            }
        }
    }

    /// Functions and slot offsets that are passed on.
    pub(super) fn pass_functions(&mut self, callee: &Summary, args: &[Value], given: &dyn Fn(usize) -> Origin) {
        let all = args.iter().fold(Value::new(Origin::NONE, Class::Object), |mut all, arg| {
            all.origin.add(arg.origin.or(arg.origin.contents()));
            all
        });
        for index in &callee.calls {
            let function = args.get(*index).cloned().unwrap_or_default();
            if function.pointers.is_empty() && function.origin.is_none() {
                continue; // NULL
            }
            self.pointer_call(&function, &vec![all.clone(); 4]);
        }
        for (index, asked) in &callee.slot_offsets {
            let origin = asked.mapped(given);
            let pointers = args.get(*index).map(|arg| arg.pointers.clone()).unwrap_or_default();
            if pointers.is_empty() {
                self.slot("*", origin, None);
            }
            for pointer in pointers {
                match pointer {
                    Pointer::Offset(slot) => self.slot(&slot, origin, None),
                    Pointer::Parameter(mine) => {
                        self.changed |= self.known.summary.slot_offsets.entry(mine).or_default().add(origin);
                    }
                    _ => self.slot("*", origin, None),
                }
            }
        }
    }
}
