//! Binds arguments to parameters, with CPython's messages. CPython: `Python/ceval.c`, `initialize_locals`.
use crate::bytecode::{Code, flag};
use crate::ffi::inspect;
use crate::guard::source::{Fixed, Source};
use crate::names::interned;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::proxy::Proxy;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, internal};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// `'a', 'b', and 'c'`.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => format!("'{one}'"),
        [one, two] => format!("'{one}' and '{two}'"),
        [init @ .., last] => {
            let init: Vec<_> = init.iter().map(|name| format!("'{name}'")).collect();
            format!("{}, and '{last}'", init.join(", "))
        }
    }
}

impl<'py> Tracer<'py> {
    /// One entry per parameter slot, in the order of `co_varnames`.
    pub(crate) fn bind_arguments(
        &mut self,
        function: &Bound<'py, PyAny>,
        code: &Code,
        qualname: &str,
        args: Arguments,
    ) -> Traced<Vec<Option<ValueId>>> {
        let bound = self.bind_all(function, code, qualname, args);
        if matches!(bound, Err(Unwind::Raised(_))) {
            self.rely_on_qualname(function);
        }
        bound
    }

    fn bind_all(
        &mut self,
        function: &Bound<'py, PyAny>,
        code: &Code,
        qualname: &str,
        args: Arguments,
    ) -> Traced<Vec<Option<ValueId>>> {
        let (count, keyword_only) = (code.argcount as usize, code.kwonlyargcount as usize);
        let mut slots: Vec<Option<ValueId>> = vec![None; code.arguments()];
        let given = args.positional.len();
        slots.iter_mut().zip(&args.positional).take(count).for_each(|(slot, value)| *slot = Some(*value));
        if code.flags & flag::VARARGS != 0 {
            let rest = self.tuple(args.positional.get(count..).unwrap_or_default())?;
            slots[count + keyword_only] = Some(rest);
        }
        self.bind_keywords(function, code, qualname, &mut slots, &args)?;
        if given > count && code.flags & flag::VARARGS == 0 {
            return self.too_many(function, code, qualname, &slots, given);
        }
        self.fill_defaults(function, code, qualname, &mut slots)?;
        Ok(slots)
    }

    fn bind_keywords(
        &mut self,
        function: &Bound<'py, PyAny>,
        code: &Code,
        qualname: &str,
        slots: &mut [Option<ValueId>],
        args: &Arguments,
    ) -> Traced<()> {
        let total = (code.argcount + code.kwonlyargcount) as usize;
        let rest = (code.flags & flag::VARKEYWORDS != 0).then(|| PyDict::new(self.py));
        for (name, value) in &args.keywords {
            let first = code.posonlyargcount as usize;
            let slot = (first..total).find(|slot| code.locals[*slot].name == *name);
            match (slot, &rest) {
                (Some(slot), _) if slots[slot].is_some() => {
                    return self.raise("TypeError", format!("{qualname}() got multiple values for argument '{name}'"));
                }
                (Some(slot), _) => slots[slot] = Some(*value),
                (None, Some(rest)) => {
                    let value = self.stored(*value)?;
                    rest.set_item(name, value).or_else(|error| self.raise_error(error))?;
                }
                (None, None) => {
                    let positional_only = code.locals[..first].iter().any(|local| local.name == *name);
                    if positional_only {
                        let message = format!(
                            "{qualname}() got some positional-only arguments passed as keyword arguments: '{name}'"
                        );
                        return self.raise("TypeError", message);
                    }
                    return self.unexpected_keyword(function, args);
                }
            }
        }
        if let Some(rest) = rest {
            let rest = self.own(rest.into_any());
            if let Some(last) = slots.last_mut() {
                *last = Some(rest);
            }
        }
        Ok(())
    }

    /// The interpreter itself says it, with what may have been meant: the call fails before the function's first instruction.
    fn unexpected_keyword<T>(&mut self, function: &Bound<'py, PyAny>, args: &Arguments) -> Traced<T> {
        let keywords = PyDict::new(self.py);
        for (name, _) in &args.keywords {
            keywords.set_item(name, self.py.None()).or_else(|error| self.raise_error(error))?;
        }
        let positional = PyTuple::new(self.py, args.positional.iter().map(|_| self.py.None()));
        let positional = positional.or_else(|error| self.raise_error(error))?;
        match function.call(positional, Some(&keywords)) {
            Err(error) => self.raise_error(error),
            Ok(_) => internal("a call with an unexpected keyword went through"),
        }
    }

    fn too_many<T>(
        &mut self,
        function: &Bound<'py, PyAny>,
        code: &Code,
        qualname: &str,
        slots: &[Option<ValueId>],
        given: usize,
    ) -> Traced<T> {
        let count = code.argcount as usize;
        let defaults = inspect::function_defaults(function).and_then(|defaults| defaults.len().ok()).unwrap_or(0);
        let keyword_only =
            slots[count..count + code.kwonlyargcount as usize].iter().filter(|slot| slot.is_some()).count();
        let (signature, plural) = match defaults {
            0 => (count.to_string(), if count == 1 { "" } else { "s" }),
            _ => (format!("from {} to {count}", count - defaults), if count == 1 { "" } else { "s" }),
        };
        let plural = if defaults > 0 { "s" } else { plural };
        let keywords = match keyword_only {
            0 => String::new(),
            n => format!(
                " positional argument{} (and {n} keyword-only argument{})",
                if given == 1 { "" } else { "s" },
                if n == 1 { "" } else { "s" }
            ),
        };
        let verb = if given == 1 && keyword_only == 0 { "was" } else { "were" };
        self.raise(
            "TypeError",
            format!("{qualname}() takes {signature} positional argument{plural} but {given}{keywords} {verb} given"),
        )
    }

    fn fill_defaults(
        &mut self,
        function: &Bound<'py, PyAny>,
        code: &Code,
        qualname: &str,
        slots: &mut [Option<ValueId>],
    ) -> Traced<()> {
        let (count, named) = (code.argcount as usize, (code.argcount + code.kwonlyargcount) as usize);
        if slots[..count].contains(&None) {
            self.fill_positional(function, &mut slots[..count]);
            self.missing(code, qualname, slots, 0..count, "positional")?;
        }
        if slots[count..named].contains(&None) {
            self.fill_keyword_only(function, code, &mut slots[..named]);
            self.missing(code, qualname, slots, count..named, "keyword-only")?;
        }
        Ok(())
    }

    fn fill_positional(&mut self, function: &Bound<'py, PyAny>, slots: &mut [Option<ValueId>]) {
        let count = slots.len();
        let defaults = inspect::function_defaults(function).and_then(|defaults| defaults.cast_into::<PyTuple>().ok());
        let defaults: Vec<_> = defaults.iter().flatten().collect();
        let first = count.saturating_sub(defaults.len());
        let path = self.part_of_given(function, "__defaults__");
        for (index, (slot, default)) in (first..count).zip(defaults).enumerate() {
            if slots[slot].is_none() {
                let path = path.clone().map(|path| Source::Item(path, index));
                slots[slot] = Some(self.absorb_default(default, path));
            }
        }
    }

    fn fill_keyword_only(&mut self, function: &Bound<'py, PyAny>, code: &Code, slots: &mut [Option<ValueId>]) {
        let keyword = inspect::function_kwdefaults(function).and_then(|defaults| defaults.cast_into::<PyDict>().ok());
        let path = self.part_of_given(function, "__kwdefaults__");
        for (slot, value) in slots.iter_mut().enumerate().skip(code.argcount as usize) {
            if value.is_some() {
                continue;
            }
            let name = &code.locals[slot].name;
            let default = keyword.as_ref().and_then(|defaults| defaults.get_item(name).ok().flatten());
            let path = path.clone().map(|path| Source::DictItem(path, Fixed::new(&interned(self.py, name))));
            *value = default.map(|default| self.absorb_default(default, path));
        }
    }

    /// A default is reached through its function, where the caller gave that: compiled code must not keep it alive.
    fn absorb_default(&mut self, default: Bound<'py, PyAny>, path: Option<Source>) -> ValueId {
        let made = self.state.identity.get(&(default.as_ptr() as usize)).is_some_and(|id| self.owned(*id).is_some());
        match path {
            Some(path) if !made && !default.is_instance_of::<Proxy>() => self.sourced(default, path),
            _ => self.absorb_static(default),
        }
    }

    fn missing(
        &mut self,
        code: &Code,
        qualname: &str,
        slots: &[Option<ValueId>],
        range: std::ops::Range<usize>,
        kind: &str,
    ) -> Traced<()> {
        let names: Vec<String> =
            range.filter(|slot| slots[*slot].is_none()).map(|slot| code.locals[slot].name.clone()).collect();
        if names.is_empty() {
            return Ok(());
        }
        let plural = if names.len() == 1 { "" } else { "s" };
        self.raise(
            "TypeError",
            format!("{qualname}() missing {} required {kind} argument{plural}: {}", names.len(), listed(&names)),
        )
    }
}
