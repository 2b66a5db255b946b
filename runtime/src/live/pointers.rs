//! Pointers of translated functions: to slots, arrays, static variables.
use super::function::Function;
use super::world::{Live, Stop};
use crate::ffi::{pointer, set_table, symbol_table, types};
use crate::semantics::members::STRUCTS;
use generated::members;
use generated::slots::{Slot, Suite};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use rustc_hash::FxHashMap;
use std::sync::{Mutex, OnceLock};

type Object<'py> = Bound<'py, PyAny>;

/// Members of the interpreter's state in which a function keeps something for itself; the translation has them for itself, too.
const CACHES: &[(&str, usize)] = &[
    ("PyInterpreterState_cached_objects_type_slots_pname", 1),
    ("PyInterpreterState_cached_objects_type_slots_ptrs", 10),
];

/// Where a variable of so many pointers is that lives as long as the process.
fn static_place(name: &'static str, count: usize) -> Option<usize> {
    static MADE: OnceLock<Mutex<FxHashMap<&'static str, usize>>> = OnceLock::new();
    let mut made = MADE.get_or_init(Mutex::default).lock().ok()?;
    Some(
        *made
            .entry(name)
            .or_insert_with(|| Box::leak(vec![0_usize; count.max(1)].into_boxed_slice()).as_ptr() as usize),
    )
}

impl<'py> Live<'py> {
    fn pointer(&self, address: usize) -> Result<Object<'py>, Stop> {
        pointer::to(self.py, address).ok_or(Stop::Unsupported("memory for a pointer"))
    }

    /// The address of a variable of C that is a struct, or an array of structs.
    pub(super) fn variable_at(&self, name: &'static str) -> Result<Object<'py>, Stop> {
        if name == "PyInterpreterState" {
            return self.pointer(pointer::interpreter());
        }
        if name == "_dummy_struct" {
            return Ok(set_table::removed(self.py));
        }
        match self.class(name) {
            Some(object) => Ok(object),
            None => self.pointer(symbol_table::variable(name).ok_or(Stop::Unsupported(name))?),
        }
    }

    /// What a function keeps in the interpreter's state for itself: read, or set.
    pub(super) fn cache(
        &self,
        name: &'static str,
        value: Option<Option<&Object<'py>>>,
    ) -> Option<Result<Option<Object<'py>>, Stop>> {
        if name == "PyInterpreterState_cached_objects_objreduce" {
            let object = self.class("PyBaseObject_Type")?;
            return Some(Ok(types::lookup(object.cast().ok()?, &PyString::new(self.py, "__reduce__"))));
        }
        let member = name.strip_prefix("set_").unwrap_or(name);
        let (name, count) = *CACHES.iter().find(|row| row.0 == member)?;
        let place = match static_place(name, count).map(|address| self.pointer(address))? {
            Ok(place) => place,
            Err(stop) => return Some(Err(stop)),
        };
        if count > 1 {
            return Some(Ok(Some(place)));
        }
        match value {
            None => pointer::object(&place).map(Ok),
            Some(value) => pointer::set_object(&place, value).map(|()| Ok(None)),
        }
    }

    /// Where the interpreter keeps what changes of a static type of its own.
    pub(super) fn static_state(&self, class: &Bound<'py, PyType>) -> Result<Object<'py>, Stop> {
        let name = "_PyStaticType_GetState";
        let function = symbol_table::function("Objects/typeobject.c", name).ok_or(Stop::Unsupported(name))?;
        match pointer::static_state(function, class) {
            0 => Err(Stop::Unsupported(name)),
            state => self.pointer(state),
        }
    }

    /// A variable that a function keeps between its calls.
    pub(super) fn static_variable_at(&self, name: &'static str, count: usize) -> Result<Object<'py>, Stop> {
        self.pointer(static_place(name, count).ok_or(Stop::Unsupported(name))?)
    }

    /// Room for an array of pointers.
    pub(super) fn array(&mut self, count: usize) -> Result<Object<'py>, Stop> {
        let room = vec![0_usize; count].into_boxed_slice();
        let address = room.as_ptr() as usize;
        self.arrays.push(room);
        self.pointer(address)
    }

    /// A pointer some elements further.
    pub(super) fn stepped(&self, from: &Object<'py>, by: isize, structure: &'static str) -> Result<Object<'py>, Stop> {
        let size = match structure {
            "char" | "Py_UCS1" => 1,
            "Py_UCS2" => 2,
            "Py_UCS4" => 4,
            pointer if pointer.ends_with('*') => size_of::<usize>(),
            structure => members::size(STRUCTS, structure).ok_or(Stop::Unsupported(structure))?,
        };
        let by = by.checked_mul(size.cast_signed()).ok_or(Stop::Unsupported(structure))?;
        self.pointer(pointer::address(from).wrapping_add_signed(by))
    }

    /// The place of a slot of a type.
    pub(super) fn slot_place(&self, class: &Bound<'py, PyType>, slot: Slot) -> Result<Object<'py>, Stop> {
        let start = match slot.suite() {
            Suite::PyTypeObject => class.as_ptr() as usize,
            suite => types::suite(class, suite).ok_or(Stop::Unsupported(slot.name()))?,
        };
        self.pointer(start + slot.offset())
    }

    /// The pointer at a place.
    pub(super) fn pointer_in(&self, place: &Object<'py>) -> Result<Option<Object<'py>>, Stop> {
        match pointer::word(place) {
            None => Err(Stop::Unsupported("pointer to a pointer")),
            Some(0) => Ok(None),
            Some(address) => self.pointer(address).map(Some),
        }
    }

    /// Calls the wrapper of a slot.
    pub(super) fn wrapper(
        &self,
        wrapper: &Function,
        of: &Object<'py>,
        args: &Object<'py>,
        wrapped: &Function,
        keywords: Option<Option<&Object<'py>>>,
    ) -> Result<Object<'py>, Stop> {
        if wrapper.pointer == 0 || wrapped.pointer == 0 {
            return Err(Stop::Unsupported("address of a function hidden in its file"));
        }
        self.note_slot(wrapper);
        Ok(pointer::call_wrapper(wrapper.pointer, of, args, wrapped.pointer, keywords)?)
    }

    /// The function in a slot, by its place.
    pub(super) fn function_in(&self, place: &Object<'py>) -> Result<Option<Function>, Stop> {
        pointer::word(place).map(Function::at).ok_or(Stop::Unsupported("void **"))
    }

    /// Fills or empties a slot, by its place.
    pub(super) fn fill(&self, place: &Object<'py>, function: Option<&Function>) -> Result<(), Stop> {
        let pointer =
            Function::pointer(function).ok_or(Stop::Unsupported("address of a function hidden in its file"))?;
        pointer::set_word(place, pointer).ok_or(Stop::Unsupported("void **"))
    }
}
