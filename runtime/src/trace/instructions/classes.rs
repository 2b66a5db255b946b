//! Class statements. CPython: `builtin___build_class__`, `update_bases`.
use crate::ffi::types;
use crate::names::{interned, name};
use crate::trace::state::arguments::Arguments;
use crate::trace::state::frame::{Flow, Frame, FrameExit};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::ValueId;
use generated::slots::Slot;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

/// What makes the class: a metaclass, or any callable.
struct Metaclass<'py> {
    value: ValueId,
    class: Option<Bound<'py, PyType>>,
}

impl<'py> Tracer<'py> {
    pub(crate) fn load_build_class(&mut self, frame: &mut Frame) -> Traced<Flow> {
        const NAME: &str = "__build_class__";
        let name = interned(self.py, NAME);
        match self.frame_builtin(frame, NAME, &name)? {
            Some(function) => frame.push(function),
            None => return self.raise("NameError", format!("{NAME} not found")),
        }
        Ok(Flow::Next)
    }

    /// `__build_class__(function, name, *bases, metaclass=…, **keywords)`.
    pub(crate) fn build_class(&mut self, args: &Arguments) -> Traced<ValueId> {
        let [body, name, written @ ..] = args.positional.as_slice() else {
            return internal("class without a body and a name");
        };
        let (bases, changed) = self.update_bases(written)?;
        let mut keywords = args.keywords.clone();
        let meta = self.metaclass(&mut keywords, &bases)?;
        let bases_value = self.tuple_of(&bases)?;
        let namespace = self.prepare(&meta, &[*name, bases_value], &keywords)?;
        let cell = self.run_class_body(*body, namespace)?;
        if changed {
            let original = self.tuple_of(written)?;
            let key = self.string("__orig_bases__");
            self.operator("setitem", &[namespace, key, original])?;
        }
        let positional = vec![*name, bases_value, namespace];
        let made = self.call(meta.value, Arguments { positional, keywords, ..Arguments::default() })?;
        self.check_class_cell(cell, made, *name)?;
        Ok(made)
    }

    /// Bases that are no classes say by `__mro_entries__` which classes they stand for.
    fn update_bases(&mut self, written: &[ValueId]) -> Traced<(Vec<ValueId>, bool)> {
        let (mut bases, mut changed) = (Vec::new(), false);
        let all = self.tuple_of(written)?;
        for base in written {
            if types::is_subtype(&self.class_of(*base)?, &self.py.get_type::<PyType>()) {
                bases.push(*base);
                continue;
            }
            let Some(hook) = self.optional_attr(*base, "__mro_entries__")? else {
                bases.push(*base);
                continue;
            };
            let entries = self.call(hook, Arguments::positional(vec![all]))?;
            if !self.class_of(entries)?.is_subclass_of::<PyTuple>().unwrap_or(false) {
                return self.raise("TypeError", "__mro_entries__ must return a tuple");
            }
            bases.extend(self.list_of(entries, None)?);
            changed = true;
        }
        Ok((bases, changed))
    }

    fn metaclass(&mut self, keywords: &mut Vec<(String, ValueId)>, bases: &[ValueId]) -> Traced<Metaclass<'py>> {
        let given = keywords.iter().position(|(keyword, _)| keyword == "metaclass").map(|at| keywords.remove(at).1);
        let class = match (given, bases.first()) {
            (Some(given), _) => {
                let is_class = types::is_subtype(&self.class_of(given)?, &self.py.get_type::<PyType>());
                if !is_class {
                    return Ok(Metaclass { value: given, class: None });
                }
                match self.known(given).and_then(|class| class.cast_into::<PyType>().ok()) {
                    Some(class) => class,
                    None => return unsupported("class made during the trace", "metaclass that is not known"),
                }
            }
            (None, Some(base)) => self.class_of(*base)?,
            (None, None) => self.py.get_type::<PyType>(),
        };
        let class = self.calculate_metaclass(&class, bases)?;
        Ok(Metaclass { value: self.constant(class.clone().into_any()), class: Some(class) })
    }

    /// `metaclass.__prepare__(name, bases, **keywords)`.
    fn prepare(
        &mut self,
        meta: &Metaclass<'py>,
        positional: &[ValueId],
        keywords: &[(String, ValueId)],
    ) -> Traced<ValueId> {
        let plain = meta.class.as_ref().is_some_and(|class| class.is(self.py.get_type::<PyType>()));
        let hook = if plain { None } else { self.optional_attr(meta.value, "__prepare__")? };
        let Some(hook) = hook else { return Ok(self.own(PyDict::new(self.py).into_any())) };
        let args = Arguments { positional: positional.to_vec(), keywords: keywords.to_vec(), ..Arguments::default() };
        let namespace = self.call(hook, args)?;
        let class = self.class_of(namespace)?;
        if self.slot_function(&class, Slot::mp_subscript)?.is_none() {
            let meta = meta.class.as_ref().map_or_else(|| "<metaclass>".to_owned(), types::name);
            let found = types::name(&class);
            return self.raise("TypeError", format!("{meta}.__prepare__() must return a mapping, not {found}"));
        }
        Ok(namespace)
    }

    fn run_class_body(&mut self, body: ValueId, namespace: ValueId) -> Traced<ValueId> {
        let Some(function) = self.at_hand(body) else { return internal("class body") };
        let code = function.getattr(name!("__code__")).or_else(|error| self.raise_error(error))?;
        let code = self.decode(&code)?;
        let mut frame = self.frame_of(&function, code, Vec::new())?;
        frame.namespace = Some(namespace);
        match self.run_called(&mut frame)? {
            FrameExit::Returned(cell) => Ok(cell),
            _ => internal("a class body yielded"),
        }
    }

    /// The body's cell for `__class__` must hold the class by now.
    fn check_class_cell(&mut self, cell: ValueId, made: ValueId, name: ValueId) -> Traced<()> {
        let is_cell = types::is_c_class(&self.class_of(cell)?, "cell");
        let is_class = types::is_subtype(&self.class_of(made)?, &self.py.get_type::<PyType>());
        if !is_cell || !is_class {
            return Ok(());
        }
        let held = self.cell_contents(cell)?;
        let right = match held {
            Some(held) => self.is(held, made)?,
            None => false,
        };
        if right {
            Ok(())
        } else {
            unsupported("class statement whose metaclass loses __classcell__", self.known_str(name).unwrap_or_default())
        }
    }

    fn tuple_of(&mut self, items: &[ValueId]) -> Traced<ValueId> {
        let mut natives = Vec::with_capacity(items.len());
        for item in items {
            natives.push(self.native(*item)?);
        }
        let tuple = PyTuple::new(self.py, natives).or_else(|error| self.raise_error(error))?;
        Ok(self.absorb(tuple.into_any()))
    }
}
