//! Reads of containers from outside of which the trace has no copy: guards ask for what was read, and for nothing else.
use crate::ffi::containers::{self, Container, Kind};
use crate::ffi::{callee, types};
use crate::guard::Check;
use crate::guard::HasItem;
use crate::guard::source::Source;
use crate::trace::proxy::container_copies::entry_path;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::ValueId;
use crate::trace::value::kinds::{is_key, is_scalar};
use crate::trace::value::nans::has_nan;
use pyo3::prelude::*;
use pyo3::types::PyDict;

const WHY: &str = "the trace looked for it";

/// A container from outside that was not copied.
struct Outside<'py> {
    value: ValueId,
    object: Bound<'py, PyAny>,
    source: Source,
    of: Container<'py>,
}

impl<'py> Tracer<'py> {
    fn outside(&mut self, value: ValueId) -> Traced<Option<Outside<'py>>> {
        let copied = self.state.private_copies.of(value).is_some();
        let Some(object) = self.real(value).filter(|_| !copied && !self.is_namespace(value)) else { return Ok(None) };
        let class = object.get_type();
        let (Some(of), Some(source)) = (containers::of(&class), self.source(value)) else { return Ok(None) };
        // What is known by its value or identity needs no more guards.
        if matches!(of.kind, Kind::Tuple | Kind::FrozenSet) && self.known(value).is_some() {
            return Ok(None);
        }
        self.class_of(value)?;
        Ok(Some(Outside { value, object, source, of }))
    }

    /// What a method of the container's C class gives on such a container, if it reads one item or the length.
    pub(crate) fn read_by_method(
        &mut self,
        method: &Bound<'py, PyAny>,
        name: &str,
        args: &[ValueId],
    ) -> Traced<Option<ValueId>> {
        let Some((container, rest)) = args.split_first() else { return Ok(None) };
        let operator = match (name, rest) {
            ("__len__", []) => "len",
            ("__getitem__", [_]) => "getitem",
            ("__contains__", [_]) => "contains",
            ("get", [_] | [_, _]) => "get",
            _ => return Ok(None),
        };
        let Some(object) = self.real(*container) else { return Ok(None) };
        let of = containers::of(&object.get_type());
        let own = callee::owner_of(method).zip(of).is_some_and(|(owner, of)| types::is_subtype(&of.base, &owner));
        if own { self.read_container(operator, args) } else { Ok(None) }
    }

    /// What an operator of the container's C class gives on such a container; `None`: C must look into a copy.
    pub(crate) fn read_container(&mut self, operator: &str, operands: &[ValueId]) -> Traced<Option<ValueId>> {
        let Some((container, rest)) = operands.split_first() else { return Ok(None) };
        if !matches!(operator, "len" | "getitem" | "contains" | "get") {
            return Ok(None);
        }
        let Some(outside) = self.outside(*container)? else { return Ok(None) };
        if operator == "len" {
            let length = self.guard_length(outside.value, &outside.object, &outside.of, outside.source)?;
            return Ok(Some(self.integer(length as isize)));
        }
        let key = rest.first().and_then(|key| self.known(*key)).filter(|key| !has_nan(key));
        let Some(key) = key else { return Ok(None) };
        match outside.of.kind {
            Kind::List | Kind::Tuple | Kind::Deque if operator == "getitem" => self.read_index(&outside, &key),
            Kind::Dict | Kind::OrderedDict if is_key(&key) => {
                let default = rest.get(1).copied();
                self.read_entry(operator, &outside, &key, default)
            }
            Kind::Set | Kind::FrozenSet if operator == "contains" && is_scalar(&key) => {
                let Ok(holds) = HasItem::new(&key, &outside.object) else { return Ok(None) };
                let truth = holds.truth;
                self.guard(outside.source, Check::Domain(Box::new(holds)), WHY);
                Ok(Some(self.boolean(truth)))
            }
            _ => Ok(None),
        }
    }

    fn read_index(&mut self, outside: &Outside<'py>, index: &Bound<'py, PyAny>) -> Traced<Option<ValueId>> {
        let Ok(index) = index.extract::<isize>() else { return Ok(None) };
        let length = self.guard_length(outside.value, &outside.object, &outside.of, outside.source.clone())?;
        let index = if index < 0 { index + length as isize } else { index };
        let Some(index) = usize::try_from(index).ok().filter(|index| *index < length) else { return Ok(None) };
        let item = outside.of.method("__getitem__").and_then(|method| method.call1((&outside.object, index)));
        let Ok(item) = item else { return Ok(None) };
        let path = self.item_path(&outside.object, &outside.source, index)?;
        Ok(Some(self.sourced(item, path)))
    }

    fn read_entry(
        &mut self,
        operator: &str,
        outside: &Outside<'py>,
        key: &Bound<'py, PyAny>,
        default: Option<ValueId>,
    ) -> Traced<Option<ValueId>> {
        let Ok(dict) = outside.object.cast::<PyDict>() else { return Ok(None) };
        let Ok(found) = dict.get_item(key) else { return Ok(None) };
        match (operator, found) {
            ("contains", Some(_)) => {
                self.guard(entry_path(dict, &outside.source, key), Check::Exists, WHY);
                Ok(Some(self.boolean(true)))
            }
            ("getitem" | "get", Some(found)) => Ok(Some(self.sourced(found, entry_path(dict, &outside.source, key)))),
            ("contains" | "get", None) => {
                self.guard(outside.source.clone(), Check::Absent(key.clone().unbind()), WHY);
                Ok(Some(match operator {
                    "contains" => self.boolean(false),
                    _ => default.unwrap_or_else(|| self.none()),
                }))
            }
            _ => Ok(None),
        }
    }
}
