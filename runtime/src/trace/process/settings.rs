//! C functions that change a setting of the process which nothing in the trace sees but the functions that a row names: compiled code calls
//! them in the program's order.
use crate::ffi::callee;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::outcome::Effect;
use crate::trace::state::process::{ModuleLock, Setting, Takes};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyInt, PyString};

impl Takes {
    fn admits(self, object: &Bound<'_, PyAny>) -> bool {
        let bytes =
            |object: &Bound<'_, PyAny>| object.cast_exact::<PyBytes>().ok().map(|bytes| bytes.as_bytes().to_vec());
        match self {
            Self::Text => {
                object.cast_exact::<PyString>().is_ok_and(|text| text.to_str().is_ok_and(|text| !text.contains('\0')))
            }
            Self::Variable => {
                bytes(object).is_some_and(|name| !name.is_empty() && !name.contains(&0) && !name.contains(&b'='))
            }
            Self::Bytes => bytes(object).is_some_and(|value| !value.contains(&0)),
            Self::Nothing => object.is_none(),
            Self::Interval => {
                let number = object.is_exact_instance_of::<PyFloat>() || object.is_exact_instance_of::<PyInt>();
                number && object.extract::<f64>().is_ok_and(|seconds| seconds > 0.0 && seconds < 3600.0)
            }
        }
    }
}

impl Setting {
    /// Module and name.
    pub(crate) const fn names(&self) -> (&'static str, &'static str) {
        (self.module, self.name)
    }
}

const fn row(
    module: &'static str,
    name: &'static str,
    takes: &'static [Takes],
    seen_by: &'static [&'static str],
) -> Setting {
    Setting { module, name, takes, seen_by, lock: ModuleLock::None }
}

/// A function around the lock of the filters, from 3.14 on.
const fn of_filters(name: &'static str, lock: ModuleLock) -> Setting {
    Setting { lock, ..row("_warnings", name, &[], &["_warnings"]) }
}

/// Who reads the environment without being given it.
const OF_ENVIRONMENT: &[&str] = &["time", "datetime", "_locale"];

/// What is set where nothing in a trace looks.
pub(crate) const SETTINGS: &[Setting] = &[
    // Nothing warns within a trace.
    row("_warnings", "_filters_mutated", &[], &["_warnings"]),
    of_filters("_acquire_lock", ModuleLock::Takes),
    of_filters("_filters_mutated_lock_held", ModuleLock::Needs),
    of_filters("_release_lock", ModuleLock::Gives),
    // Nothing is collected within a trace but by `gc.collect()`, which does not ask.
    row("gc", "disable", &[], &["gc"]),
    row("gc", "enable", &[], &["gc"]),
    row("posix", "putenv", &[Takes::Variable, Takes::Bytes], OF_ENVIRONMENT),
    row("posix", "unsetenv", &[Takes::Variable], OF_ENVIRONMENT),
    row("readline", "set_completer_delims", &[Takes::Text], &["readline"]),
    // A trace function sees nothing of a trace.
    row("sys", "setprofile", &[Takes::Nothing], &["sys"]),
    row("sys", "setswitchinterval", &[Takes::Interval], &["sys"]),
    row("sys", "settrace", &[Takes::Nothing], &["sys"]),
];

impl<'py> Tracer<'py> {
    /// A function that sets something of the process; `None`: it is another, or might raise.
    pub(crate) fn set_outside(
        &mut self,
        function: &Bound<'py, PyAny>,
        module: &str,
        name: &str,
        args: &Arguments,
    ) -> Option<ValueId> {
        let setting = SETTINGS.iter().find(|row| row.module == module && row.name == name)?;
        let admitted = args.keywords.is_empty()
            && setting.takes.len() == args.positional.len()
            && setting
                .takes
                .iter()
                .zip(&args.positional)
                .all(|(takes, value)| self.known(*value).is_some_and(|known| takes.admits(&known)));
        let needs_lock = matches!(setting.lock, ModuleLock::Needs | ModuleLock::Gives);
        if !admitted || needs_lock && !self.holds_lock_of(module) {
            return None;
        }
        let callable = self.constant(function.clone());
        self.state.effects.push(Effect::Call { callable, args: args.positional.clone() });
        self.state.settings.push(setting);
        Some(self.none())
    }

    /// Whether the trace has taken the lock of the module, and not given it back.
    fn holds_lock_of(&self, module: &str) -> bool {
        let count = |lock: ModuleLock| {
            let of_module = self.state.settings.iter().filter(|setting| setting.module == module);
            of_module.filter(|setting| setting.lock == lock).count()
        };
        count(ModuleLock::Takes) > count(ModuleLock::Gives)
    }

    /// Whether functions of the module see what the trace has set, which is not in force before its effects are done.
    pub(crate) fn has_set_for(&self, module: &str) -> bool {
        self.state.settings.iter().any(|setting| setting.seen_by.contains(&module))
    }

    /// What reads the world outside reads it as it was before the trace.
    pub(crate) fn refuse_changed_world(&self, function: &Bound<'py, PyAny>) -> Traced<()> {
        if self.state.settings.is_empty() {
            return Ok(());
        }
        let module = match callee::owner_of(function) {
            Some(owner) => crate::ffi::types::c_name(&owner).split('.').next().unwrap_or_default().to_owned(),
            None => callee::module_of(function),
        };
        match self.has_set_for(&module) {
            true => unsupported("state of the process that the trace has set", callee::name_of(function)),
            false => Ok(()),
        }
    }
}
