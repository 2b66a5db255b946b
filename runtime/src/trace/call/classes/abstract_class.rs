//! Instance checks of abstract base classes. CPython: `Modules/_abc.c`.
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

impl<'py> Tracer<'py> {
    /// `_abc_subclasscheck(wanted, class)`: the answer comes from the two classes and from what was registered, which the proxy of the
    /// caches counts.
    pub(crate) fn abstract_check(&mut self, class: &Bound<'py, PyType>, wanted: &Bound<'py, PyType>) -> Traced<bool> {
        let token = self.import("_abc", "get_cache_token")?;
        self.call_and_guard(&token, &PyTuple::empty(self.py))?;
        self.rely_on_class(class);
        self.rely_on_class(wanted);
        let check = self.import("_abc", "_abc_subclasscheck")?;
        let answer = self.with_callbacks(|| check.call1((wanted, class)));
        if let Some(signal) = self.state.pending.take() {
            return Err(signal);
        }
        answer.and_then(|answer| answer.is_truthy()).or_else(|error| self.raise_error(error))
    }

    /// The checks of `_abc`, of classes that are known; `None`: another function.
    pub(crate) fn call_abc(&mut self, name: &str, args: &Arguments) -> Traced<Option<ValueId>> {
        // C fills the class itself: a proxy would not do.
        if let ("_abc_init", [made]) = (name, args.positional.as_slice())
            && let Some(class) = self.owned(*made)
        {
            let init = self.import("_abc", name)?;
            return self.run_native(&init, &[class], &[]).map(Some);
        }
        let [wanted, other] = args.positional[..] else { return Ok(None) };
        let class = match name {
            "_abc_subclasscheck" => self.known(other).and_then(|class| class.cast_into::<PyType>().ok()),
            "_abc_instancecheck" => {
                let class = self.class_of(other)?;
                (!self.says_its_class(&class)).then_some(class)
            }
            _ => None,
        };
        let wanted = self.known(wanted).and_then(|wanted| wanted.cast_into::<PyType>().ok());
        let (Some(class), Some(wanted)) = (class, wanted) else { return Ok(None) };
        let truth = self.abstract_check(&class, &wanted)?;
        Ok(Some(self.boolean(truth)))
    }
}
