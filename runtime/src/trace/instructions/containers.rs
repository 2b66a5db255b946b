//! Builds, fills and unpacks containers.
use crate::ffi::types;
use crate::trace::release;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::frame::{Flow, Frame};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, internal, unsupported};
use crate::trace::state::value::{New, ValueId};
use generated::slots::Slot;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySet, PyTuple, PyType};

impl<'py> Tracer<'py> {
    pub(crate) fn natives(&mut self, values: &[ValueId]) -> Traced<Vec<Bound<'py, PyAny>>> {
        values.iter().map(|value| self.native(*value)).collect()
    }

    /// What containers of the trace's own hold for the values.
    fn all_stored(&mut self, values: &[ValueId]) -> Traced<Vec<Bound<'py, PyAny>>> {
        values.iter().map(|value| self.stored(*value)).collect()
    }

    pub(crate) fn fresh<T>(&mut self, made: PyResult<Bound<'py, T>>) -> Traced<ValueId> {
        match made {
            Ok(object) => Ok(self.absorb(object.into_any())),
            Err(error) => self.after_native(Err(error), &[]),
        }
    }

    pub(crate) fn tuple(&mut self, values: &[ValueId]) -> Traced<ValueId> {
        let items = self.all_stored(values)?;
        let tuple = PyTuple::new(self.py, items);
        self.fresh(tuple)
    }

    pub(crate) fn build_tuple(&mut self, frame: &mut Frame, count: u32) -> Traced<Flow> {
        let values = frame.pop_many(count as usize)?;
        let tuple = match self.returned(frame, &values, New::Tuple) {
            Some(tuple) => tuple,
            None => self.tuple(&values)?,
        };
        frame.push(tuple);
        Ok(Flow::Next)
    }

    pub(crate) fn build_list(&mut self, frame: &mut Frame, count: u32) -> Traced<Flow> {
        let values = frame.pop_many(count as usize)?;
        let list = match self.returned(frame, &values, New::List) {
            Some(list) => list,
            None => {
                let items = self.all_stored(&values)?;
                self.fresh(PyList::new(self.py, items))?
            }
        };
        frame.push(list);
        Ok(Flow::Next)
    }

    pub(crate) fn build_set(&mut self, frame: &mut Frame, count: u32) -> Traced<Flow> {
        let values = frame.pop_many(count as usize)?;
        let items = self.natives(&values)?;
        let py = self.py;
        let set = self.with_callbacks(|| {
            let set = PySet::empty(py)?;
            items.iter().try_for_each(|item| set.add(item)).map(|()| set.into_any())
        });
        let set = self.after_native(set, &[])?;
        frame.push(set);
        Ok(Flow::Next)
    }

    fn dict(&mut self, pairs: &[(ValueId, ValueId)]) -> Traced<ValueId> {
        let dict = PyDict::new(self.py);
        for (key, value) in pairs {
            let (key, value) = (self.native(*key)?, self.stored(*value)?);
            let stored = self.with_callbacks(|| dict.set_item(key, value));
            let none = self.py.None().into_bound(self.py);
            self.after_native(stored.map(|()| none), &[])?;
        }
        Ok(self.own(dict.into_any()))
    }

    fn built_dict(&mut self, frame: &Frame, pairs: &[(ValueId, ValueId)]) -> Traced<ValueId> {
        self.returned_dict(frame, pairs).map_or_else(|| self.dict(pairs), Ok)
    }

    pub(crate) fn build_map(&mut self, frame: &mut Frame, count: u32) -> Traced<Flow> {
        let values = frame.pop_many(count as usize * 2)?;
        let pairs: Vec<_> = values.chunks(2).map(|pair| (pair[0], pair[1])).collect();
        let dict = self.built_dict(frame, &pairs)?;
        frame.push(dict);
        Ok(Flow::Next)
    }

    pub(crate) fn build_const_key_map(&mut self, frame: &mut Frame, count: u32) -> Traced<Flow> {
        let keys = frame.pop()?;
        let values = frame.pop_many(count as usize)?;
        let Some(keys) = self.known(keys).and_then(|keys| keys.cast_into::<PyTuple>().ok()) else {
            return internal("BUILD_CONST_KEY_MAP without a constant tuple");
        };
        let keys: Vec<_> = keys.iter().map(|key| self.constant(key)).collect();
        let dict = self.built_dict(frame, &keys.into_iter().zip(values).collect::<Vec<_>>())?;
        frame.push(dict);
        Ok(Flow::Next)
    }

    /// A method of a builtin container, on the container `depth` below the item.
    pub(crate) fn in_place(&mut self, frame: &mut Frame, depth: u32, class: &str, method: &str) -> Traced<Flow> {
        let item = frame.pop()?;
        let container = frame.peek(depth as usize)?;
        let function = self.import("builtins", class)?.getattr(method).or_else(|error| self.raise_error(error))?;
        let function = self.constant(function);
        self.call(function, Arguments::positional(vec![container, item]))?;
        Ok(Flow::Next)
    }

    pub(crate) fn list_extend(&mut self, frame: &mut Frame, depth: u32) -> Traced<Flow> {
        let iterable = frame.peek(1)?;
        let class = self.class_of(iterable)?;
        if !self.iterates(&class)? {
            let name = types::name(&class);
            return self.raise("TypeError", format!("Value after * must be an iterable, not {name}"));
        }
        self.in_place(frame, depth, "list", "extend")
    }

    /// `[key, value]` into the dict `depth` below them.
    pub(crate) fn map_add(&mut self, frame: &mut Frame, depth: u32) -> Traced<Flow> {
        let value = frame.pop()?;
        let key = frame.pop()?;
        let dict = frame.peek(depth as usize)?;
        self.operator("setitem", &[dict, key, value])?;
        Ok(Flow::Next)
    }

    /// CPython: `PyDict_Update`; an `AttributeError` says that it is no mapping.
    pub(crate) fn dict_update(&mut self, frame: &mut Frame, depth: u32) -> Traced<Flow> {
        let other = frame.peek(1)?;
        if self.has_plain_table(other)? {
            return self.in_place(frame, depth, "dict", "update");
        }
        frame.pop()?;
        let dict = frame.peek(depth as usize)?;
        match self.merge_mapping(dict, other, false) {
            Ok(()) => Ok(Flow::Next),
            Err(signal) if self.raised_is(&signal, "AttributeError")? => self.is_no_mapping(other, signal),
            Err(signal) => Err(signal),
        }
    }

    /// What C makes of an `AttributeError` of `PyDict_Update`: from 3.15 on it asks once more whether there are keys.
    fn is_no_mapping<T>(&mut self, other: ValueId, signal: Unwind) -> Traced<T> {
        let name = if release::ASKS_AGAIN_FOR_KEYS {
            match self.optional_attr(other, "keys") {
                Ok(Some(_)) => return Err(signal),
                Ok(None) => self.full_name_of_class(other)?,
                // Its context is the first exception.
                Err(Unwind::Raised(_)) => return unsupported("a mapping whose `keys` raises", "DICT_UPDATE"),
                Err(other) => return Err(other),
            }
        } else {
            types::name(&self.class_of(other)?)
        };
        self.raise("TypeError", format!("'{name}' object is not a mapping"))
    }

    /// Whether C merges the table of a dict, or of an instance of a derived class, without asking its methods. CPython: `dict_merge`.
    fn has_plain_table(&mut self, value: ValueId) -> Traced<bool> {
        let class = self.class_of(value)?;
        let own = self.slot_function(&class, Slot::tp_iter)?;
        let of_dict = self.slot_function(&self.py.get_type::<PyDict>(), Slot::tp_iter)?;
        let plain = own.zip(of_dict).is_some_and(|(own, of_dict)| own.pointer == of_dict.pointer);
        let is_dict = types::is_subtype(&class, &self.py.get_type::<PyDict>());
        if plain && !is_dict && !types::is_c_type(&class) {
            // C reads the table of a frozen dict, too, and does not ask what its class has for `keys`.
            return unsupported("merging a dict of another kind", types::name(&class));
        }
        Ok(plain && is_dict)
    }

    /// CPython: `dict_merge` of something that is no dict, `method_output_as_list`; `once`: no key comes twice.
    fn merge_mapping(&mut self, dict: ValueId, other: ValueId, once: bool) -> Traced<()> {
        let keys = self.get_attr(other, "keys")?;
        let keys = self.call(keys, Arguments::default())?;
        let keys = match self.get_iter(keys) {
            Err(signal) if self.raised_is(&signal, "TypeError")? => {
                let class = self.class_of(other)?;
                let before =
                    |keys: &str| format!("{}.keys() returned a non-iterable (type {keys})", types::name(&class));
                return self.raise_wrong_result((other, "keys"), "an iterable", keys, before);
            }
            iterator => iterator?,
        };
        for key in self.gathered("list", keys)? {
            if once && self.contains(dict, key)? {
                return unsupported("** repeats a keyword", "DICT_MERGE");
            }
            let value = self.operator("getitem", &[other, key])?;
            self.operator("setitem", &[dict, key, value])?;
        }
        Ok(())
    }

    pub(crate) fn dict_merge(&mut self, frame: &mut Frame, depth: u32) -> Traced<Flow> {
        let other = frame.peek(1)?;
        let target = frame.peek(depth as usize + 1)?;
        let Some(held) = self.mapping(target)? else {
            return unsupported("** of a mapping that is no dict", "DICT_MERGE");
        };
        if let Some(other) = self.mapping(other)? {
            if other.keys().iter().any(|key| held.contains(key).unwrap_or(true)) {
                return unsupported("** repeats a keyword", "DICT_MERGE");
            }
            return self.in_place(frame, depth, "dict", "update");
        }
        if self.has_plain_table(other)? {
            let table = self.receiver(other)?.cast_into::<PyDict>();
            if table.is_ok_and(|table| table.keys().iter().all(|key| held.contains(key).is_ok_and(|found| !found))) {
                return self.in_place(frame, depth, "dict", "update");
            }
            return unsupported("** repeats a keyword", "DICT_MERGE");
        }
        frame.pop()?;
        match self.merge_mapping(target, other, true) {
            Err(signal) if self.raised_is(&signal, "AttributeError")? => {
                unsupported("** of an object that is no mapping", "DICT_MERGE")
            }
            // C takes it for a keyword that is given twice. CPython: `_PyEval_FormatKwargsError`.
            Err(signal) if self.raised_is(&signal, "KeyError")? => {
                unsupported("** of a mapping that raises KeyError", "DICT_MERGE")
            }
            merged => merged.map(|()| Flow::Next),
        }
    }

    /// The dict that stands for an exact dict value.
    pub(crate) fn mapping(&mut self, value: ValueId) -> Traced<Option<Bound<'py, PyDict>>> {
        if self.real(value).is_some_and(|real| !real.is_exact_instance_of::<PyDict>()) {
            return Ok(None);
        }
        let native = self.native(value)?;
        Ok(native.cast_into_exact::<PyDict>().ok())
    }

    /// All items of an iterable, in order.
    pub(crate) fn list_of(&mut self, iterable: ValueId, limit: Option<usize>) -> Traced<Vec<ValueId>> {
        if let Some(items) = self.unread_items(iterable, limit)? {
            return Ok(items);
        }
        if self.real(iterable).is_none_or(|real| real.is_exact_instance_of::<PyTuple>())
            && let Ok(tuple) = self.native(iterable)?.cast_into_exact::<PyTuple>()
        {
            return Ok(tuple.iter().map(|item| self.absorb(item)).collect());
        }
        let iterator = self.get_iter(iterable)?;
        self.taken(iterator, limit)
    }

    /// What an iterator gives, up to so many items.
    fn taken(&mut self, iterator: ValueId, limit: Option<usize>) -> Traced<Vec<ValueId>> {
        let mut items = Vec::new();
        while limit.is_none_or(|limit| items.len() < limit) {
            match self.next(iterator)? {
                Some(item) => items.push(item),
                None => break,
            }
        }
        Ok(items)
    }

    /// What C's own list or tuple of an iterable holds: C asks how many items there will be, and makes room for them at once.
    /// CPython: `PySequence_List`, `PySequence_Tuple`.
    pub(crate) fn gathered(&mut self, class: &str, iterable: ValueId) -> Traced<Vec<ValueId>> {
        let is_tuple = self.class_of(iterable)?.is(self.py.get_type::<PyTuple>());
        let made = if is_tuple { iterable } else { self.call_builtin(class, &[iterable])? };
        self.list_of(made, None)
    }

    /// Whether `PyObject_GetIter` has a slot to call.
    pub(crate) fn iterates(&mut self, class: &Bound<'py, PyType>) -> Traced<bool> {
        Ok(self.slot_function(class, Slot::tp_iter)?.is_some() || self.slot_function(class, Slot::sq_item)?.is_some())
    }

    fn check_iterable(&mut self, value: ValueId) -> Traced<()> {
        let class = self.class_of(value)?;
        if self.iterates(&class)? {
            return Ok(());
        }
        let name = types::name(&class);
        self.raise("TypeError", format!("cannot unpack non-iterable {name} object"))
    }

    pub(crate) fn unpack_sequence(&mut self, frame: &mut Frame, count: u32) -> Traced<Flow> {
        let value = frame.pop()?;
        self.check_iterable(value)?;
        let count = count as usize;
        let items = self.list_of(value, Some(count + 1))?;
        if items.len() < count {
            return self
                .raise("ValueError", format!("not enough values to unpack (expected {count}, got {})", items.len()));
        }
        if items.len() > count {
            let got = self.counted(value)?.map(|got| format!(", got {got}")).unwrap_or_default();
            return self.raise("ValueError", format!("too many values to unpack (expected {count}{got})"));
        }
        items.into_iter().rev().for_each(|item| frame.push(item));
        Ok(Flow::Next)
    }

    /// How many items an error says that there are: from 3.14 on, where the object itself knows.
    fn counted(&mut self, value: ValueId) -> Traced<Option<usize>> {
        let class = self.class_of(value)?;
        let types = [self.py.get_type::<PyTuple>(), self.py.get_type::<PyList>(), self.py.get_type::<PyDict>()];
        if !release::COUNTS_UNPACKED || !types.iter().any(|known| class.is(known)) {
            return Ok(None);
        }
        self.size(value).map(Some)
    }

    pub(crate) fn unpack_ex(&mut self, frame: &mut Frame, arg: u32) -> Traced<Flow> {
        let (before, after) = ((arg & 0xff) as usize, (arg >> 8) as usize);
        let value = frame.pop()?;
        self.check_iterable(value)?;
        let items = self.items_with_rest(value, before)?;
        if items.len() < before + after {
            let message =
                format!("not enough values to unpack (expected at least {}, got {})", before + after, items.len());
            return self.raise("ValueError", message);
        }
        let middle = self.all_stored(&items[before..items.len() - after])?;
        let middle = PyList::new(self.py, middle);
        let middle = self.fresh(middle)?;
        self.state.with_other_room.insert(middle);
        items[items.len() - after..].iter().rev().for_each(|item| frame.push(*item));
        frame.push(middle);
        items[..before].iter().rev().for_each(|item| frame.push(*item));
        Ok(Flow::Next)
    }

    /// All items: those `before` the starred name one by one, the rest at once. CPython: `_PyEval_UnpackIterable`.
    fn items_with_rest(&mut self, value: ValueId, before: usize) -> Traced<Vec<ValueId>> {
        if self.class_of(value)?.is(self.py.get_type::<PyTuple>()) {
            return self.list_of(value, None);
        }
        let iterator = self.get_iter(value)?;
        let mut items = self.taken(iterator, Some(before))?;
        if items.len() == before {
            items.extend(self.gathered("list", iterator)?);
        }
        Ok(items)
    }
}
