//! Caches across traces: what all traces share, and what the traces of one function share.
use crate::bytecode::{Code, Error, Op, Position};
use crate::domain::Domains;
use crate::ffi::codec_tables::CodecTables;
use crate::ffi::types;
use crate::names::name;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};

/// Classes that can change whose proxies' classes are kept at a time.
const MAX_CHANGING: usize = 128;

/// Code objects of functions that are kept decoded at a time.
const MAX_CODES: usize = 128;

/// Kept from trace to trace.
#[derive(Debug, Default)]
pub struct SharedCaches {
    pub(crate) domains: Domains,
    /// Which generated functions traces have run.
    pub(crate) entered: crate::trace::state::entered::Entered,
    pub(crate) class_numbers: crate::trace::state::class_numbers::ClassNumbers,
    pub(crate) warning_filters: crate::trace::state::warnings::WarningFilters,
    /// Classes of proxies by the address of the class that they stand for, which stands beside them: of classes that never change.
    proxy_classes: Mutex<FxHashMap<usize, [Py<PyType>; 2]>>,
    /// The class of the classes of proxies whose originals have a class that answers for them.
    proxy_metaclass: OnceLock<Py<PyType>>,
    /// Tables of codecs that only C names.
    pub(crate) codec_tables: CodecTables,
    /// Classes of C that no module names.
    nameless: Mutex<FxHashMap<&'static str, Py<PyType>>>,
    /// What classes of C that never change define themselves, by their addresses.
    members: Mutex<FxHashMap<usize, Members>>,
}

/// An instruction of a frame, the same in the frame's continuations.
pub type Place = (Position, Op);

/// Instructions of the outermost frame of a trace.
#[derive(Debug, Default)]
pub(crate) struct StopPlaces {
    /// Those before which the trace could stop so far; `None`: one of a frame that was entered.
    pub(crate) passed: Vec<Option<Place>>,
    /// Those that made what could not leave earlier traces.
    pub(crate) escaping: FxHashSet<Place>,
}

/// What belongs to a function and its continuations, and ends with it.
#[derive(Debug, Default)]
pub struct FunctionCaches {
    /// Classes of proxies for classes that can change, and may be gone, by address and version: no other class has that version.
    proxy_classes: Mutex<FxHashMap<(usize, u32), Py<PyAny>>>,
    /// What traces have guessed of contents, where that was wrong.
    failed_guesses: Mutex<Option<Py<PyDict>>>,
    /// How often all was forgotten before these were made.
    generation: AtomicU64,
    /// Code objects of functions by address; each keeps its own valid.
    codes: Mutex<FxHashMap<usize, Arc<Code>>>,
    /// Instructions of loops that make what cannot leave a trace.
    escapes: Mutex<FxHashSet<Place>>,
}

impl FunctionCaches {
    /// Traces end before this instruction from now on.
    pub fn note_escape(&self, place: Place) {
        let _ = self.escapes.lock().map(|mut escapes| escapes.insert(place));
    }

    /// The instructions before which traces end.
    pub fn escapes(&self) -> FxHashSet<Place> {
        self.escapes.lock().map(|escapes| escapes.clone()).unwrap_or_default()
    }

    /// The dict that compiled code notes wrong guesses in.
    pub fn failed_guesses<'py>(&self, py: Python<'py>) -> Bound<'py, PyDict> {
        let Ok(mut failed) = self.failed_guesses.lock() else { return PyDict::new(py) };
        failed.get_or_insert_with(|| PyDict::new(py).unbind()).bind(py).clone()
    }

    /// The same dict, if traces have guessed something.
    pub fn known_guesses<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyDict>> {
        Some(self.failed_guesses.lock().ok()?.as_ref()?.bind(py).clone())
    }

    /// Forgets those of an earlier generation.
    pub fn forget_guesses(&self, generation: u64) {
        if self.generation.swap(generation, Relaxed) == generation {
            return;
        }
        let failed = self.failed_guesses.lock().map(|mut failed| failed.take());
        drop(failed);
    }

    /// Decodes the code object of a function once.
    pub fn decode(&self, code: &Bound<'_, PyAny>) -> Result<Arc<Code>, Error> {
        let address = code.as_ptr() as usize;
        if let Some(known) = self.codes.lock().ok().and_then(|codes| codes.get(&address).cloned()) {
            return Ok(known);
        }
        let decoded = Arc::new(Code::decode(code)?);
        if let Ok(mut codes) = self.codes.lock() {
            let full = codes.len() >= MAX_CODES;
            let gone = if full { std::mem::take(&mut *codes) } else { FxHashMap::default() };
            let replaced = codes.insert(address, Arc::clone(&decoded));
            drop(codes);
            drop((gone, replaced));
        }
        Ok(decoded)
    }

    pub(crate) fn proxy_class<'py>(&self, class: &Bound<'py, PyType>) -> Option<Bound<'py, PyType>> {
        let key = version_of(class)?;
        let proxy_class =
            self.proxy_classes.lock().ok()?.get(&key)?.bind(class.py()).clone().cast_into::<PyType>().ok()?;
        types::has_names_of(&proxy_class, class).then_some(proxy_class)
    }

    pub(crate) fn keep_proxy_class(&self, class: &Bound<'_, PyType>, proxy_class: &Bound<'_, PyType>) {
        let (Some(key), Ok(mut kept)) = (version_of(class), self.proxy_classes.lock()) else { return };
        let full = kept.len() >= MAX_CHANGING;
        let gone = if full { std::mem::take(&mut *kept) } else { FxHashMap::default() };
        let replaced = kept.insert(key, proxy_class.clone().into_any().unbind());
        drop(kept);
        drop((gone, replaced));
    }

    /// Shows all of them to the garbage collector.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        if let Ok(proxy_classes) = self.proxy_classes.try_lock() {
            proxy_classes.values().for_each(&mut *visit);
        }
        if let Ok(codes) = self.codes.try_lock() {
            codes.values().flat_map(|code| &code.consts).for_each(visit);
        }
    }

    /// Lets go of all of them.
    pub fn clear(&self) {
        let proxy_classes = self.proxy_classes.lock().map(|mut proxy_classes| std::mem::take(&mut *proxy_classes));
        let codes = self.codes.lock().map(|mut codes| std::mem::take(&mut *codes));
        drop((proxy_classes, codes));
    }
}

/// Tells a class that can change from what it was and will be; `None` where a metaclass may change it unseen.
fn version_of(class: &Bound<'_, PyType>) -> Option<(usize, u32)> {
    let plain = class.get_type().is(class.py().get_type::<PyType>());
    let version = if plain { types::version_tag(class) } else { 0 };
    (version != 0).then_some((class.as_ptr() as usize, version))
}

/// The descriptors of fields that a class itself defines.
#[derive(Debug)]
struct Members {
    /// Keeps the address valid.
    _class: Py<PyType>,
    found: Arc<[Py<PyAny>]>,
}

impl SharedCaches {
    /// What all sessions share.
    ///
    /// # Errors
    /// What looking for C's tables raises.
    pub fn shared(py: Python<'_>) -> PyResult<Arc<Self>> {
        static SHARED: PyOnceLock<Arc<SharedCaches>> = PyOnceLock::new();
        let make = || Ok::<_, PyErr>(Arc::new(Self { codec_tables: CodecTables::new(py)?, ..Self::default() }));
        SHARED.get_or_try_init(py, make).map(Arc::clone)
    }

    /// The generated functions that traces have run since this was asked last: C file and name.
    #[must_use]
    pub fn take_entered(&self) -> Vec<(&'static str, &'static str)> {
        self.entered.take().into_iter().map(|function| (function.file(), function.name())).collect()
    }

    /// The class of the proxy classes whose originals have a class that answers for them: made once.
    pub(crate) fn proxy_metaclass<'py>(
        &self,
        py: Python<'py>,
        make: fn(Python<'py>) -> PyResult<Bound<'py, PyType>>,
    ) -> PyResult<&Bound<'py, PyType>> {
        if let Some(known) = self.proxy_metaclass.get() {
            return Ok(known.bind(py));
        }
        let made = make(py)?.unbind();
        Ok(self.proxy_metaclass.get_or_init(|| made).bind(py))
    }

    pub(crate) fn proxy_class<'py>(&self, class: &Bound<'py, PyType>) -> Option<Bound<'py, PyType>> {
        let proxy_classes = self.proxy_classes.lock().ok()?;
        let [_, proxy_class] = proxy_classes.get(&(class.as_ptr() as usize))?;
        Some(proxy_class.bind(class.py()).clone())
    }

    pub(crate) fn keep_proxy_class(&self, class: &Bound<'_, PyType>, proxy_class: &Bound<'_, PyType>) {
        if let Ok(mut proxy_classes) = self.proxy_classes.lock() {
            proxy_classes.insert(class.as_ptr() as usize, [class.clone().unbind(), proxy_class.clone().unbind()]);
        }
    }

    /// The fields that a class of C defines: found once where it never changes.
    pub(crate) fn members(&self, class: &Bound<'_, PyType>, find: impl FnOnce() -> Vec<Py<PyAny>>) -> Arc<[Py<PyAny>]> {
        let address = class.as_ptr() as usize;
        let known = self.members.lock().ok().and_then(|known| Some(Arc::clone(&known.get(&address)?.found)));
        if let Some(known) = known {
            return known;
        }
        let found: Arc<[_]> = find().into();
        if types::is_immutable(class)
            && let Ok(mut known) = self.members.lock()
        {
            known.insert(address, Members { _class: class.clone().unbind(), found: Arc::clone(&found) });
        }
        found
    }

    /// The class of C with this name, among those that derive from `object` alone.
    pub(crate) fn nameless<'py>(&self, object: &Bound<'py, PyAny>, name: &'static str) -> PyResult<Bound<'py, PyType>> {
        let py = object.py();
        if let Some(class) =
            self.nameless.lock().ok().and_then(|known| known.get(name).map(|class| class.clone_ref(py)))
        {
            return Ok(class.into_bound(py));
        }
        let classes = object.call_method0(name!("__subclasses__"))?.extract::<Vec<Bound<'py, PyType>>>()?;
        let class = classes.into_iter().find(|class| types::is_c_class(class, name));
        let class = class.ok_or_else(|| PyTypeError::new_err(format!("no C type {name}")))?;
        if let Ok(mut known) = self.nameless.lock() {
            known.insert(name, class.clone().unbind());
        }
        Ok(class)
    }
}
