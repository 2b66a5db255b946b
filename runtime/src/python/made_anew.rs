//! Functions that the program makes anew and compiles each time: those of one code object share what was compiled for it.
//!
//! The first function of a code object has a cache of its own. When another one, made of the same code with the same globals, is compiled
//! in the same way, it and all that follow share one cache, with guards on their cells. It lives while one of them does, and longer, for
//! each may be gone before the next is made: the latest few are kept. Where it is full, a function for which nothing in it is right gets
//! a cache of its own.
use super::compiled::Compiled;
use super::shared::{Options, Shared};
use super::unit::CompilationUnit;
use crate::ffi::callable::{Choice, Dispatch};
use crate::ffi::{Args, function, inspect, weak_references};
use pyo3::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

/// Caches that are kept whether or not one of their functions lives.
const KEPT: usize = 32;

/// Code objects whose first function is remembered.
const REMEMBERED: usize = 1_024;

/// What is known of code objects that were compiled.
#[derive(Debug, Default)]
pub struct MadeAnew {
    /// Weak references to the code and to the function that was compiled first, by the address of the code.
    first: FxHashMap<usize, [Py<PyAny>; 2]>,
    kept: VecDeque<SharedCache>,
}

/// The cache of all functions of one code object with the same globals.
#[derive(Debug)]
struct SharedCache {
    code: Py<PyAny>,
    globals: Py<PyAny>,
    compiled: Arc<Compiled>,
}

impl MadeAnew {
    /// The dispatcher that this function shares with others of its code; `None`: it is the first of them.
    pub fn dispatcher(
        &mut self,
        shared: &Arc<Shared>,
        options: Options,
        function: &Bound<'_, PyAny>,
    ) -> PyResult<Result<SharedDispatch, Options>> {
        let (Some(code), Some(globals)) = (inspect::function_code(function), inspect::globals(function)) else {
            return Ok(Err(options));
        };
        let of = |known: &SharedCache| {
            let compiled = &known.compiled.unit.options;
            known.code.is(&code)
                && known.globals.is(&globals)
                && compiled.fullgraph == options.fullgraph
                && compiled.compile_like(&options)
        };
        if let Some(index) = self.kept.iter().position(of) {
            let compiled = Arc::clone(&self.kept[index].compiled);
            let used = self.kept.remove(index);
            self.kept.extend(used);
            return Ok(Ok(SharedDispatch::new(compiled)));
        }
        if !self.is_another(&code, function)? {
            return Ok(Err(options));
        }
        let like = function::from_code(&code, function)?;
        let compiled = Arc::new(Compiled::of_code(CompilationUnit::new(Arc::clone(shared), options, &like)));
        if self.kept.len() >= KEPT {
            self.kept.pop_front();
        }
        let (code, globals) = (code.unbind(), globals.unbind());
        self.kept.push_back(SharedCache { code, globals, compiled: Arc::clone(&compiled) });
        Ok(Ok(SharedDispatch::new(compiled)))
    }

    /// Whether another function of the code was compiled before.
    fn is_another(&mut self, code: &Bound<'_, PyAny>, function: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = code.py();
        let address = code.as_ptr() as usize;
        let referent = |reference: &Py<PyAny>| weak_references::referent(reference.bind(py));
        if let Some([known, first]) = self.first.get(&address)
            && referent(known).is_some_and(|known| known.is(code))
        {
            return Ok(!referent(first).is_some_and(|first| first.is(function)));
        }
        if self.first.len() >= REMEMBERED {
            self.first.retain(|_, [known, _]| referent(known).is_some());
        }
        if self.first.len() < REMEMBERED {
            let both = [weak_references::refer(code)?.unbind(), weak_references::refer(function)?.unbind()];
            self.first.insert(address, both);
        }
        Ok(false)
    }

    /// Forgets all.
    pub fn take(&mut self) -> Self {
        std::mem::take(self)
    }
}

/// The dispatcher of one of several functions of a code object: each runs with its own cells.
#[derive(Debug)]
pub struct SharedDispatch {
    pub(super) shared: Arc<Compiled>,
    /// The function's own cache, where what all share is full and right for other functions.
    own: OnceLock<Compiled>,
}

impl SharedDispatch {
    fn new(shared: Arc<Compiled>) -> Self {
        Self { shared, own: OnceLock::new() }
    }

    /// The cache that this call is looked up in.
    fn compiled<'py>(&self, function: &Bound<'py, PyAny>, args: Args<'_, 'py>) -> PyResult<&Compiled> {
        if let Some(own) = self.own.get() {
            return Ok(own);
        }
        if self.shared.has_room()? || self.shared.allows(function, args)? {
            return Ok(&self.shared);
        }
        let unit = &self.shared.unit;
        let options = unit.options.alike(function.py());
        Ok(self.own.get_or_init(|| Compiled::root(CompilationUnit::new(Arc::clone(&unit.shared), options, function))))
    }
}

impl Dispatch for SharedDispatch {
    fn choose<'py>(&self, function: &Bound<'py, PyAny>, args: Args<'_, 'py>) -> PyResult<Choice> {
        let compiled = self.compiled(function, args)?;
        Ok(match compiled.choose(function, args)? {
            Choice::Run(entry) if std::ptr::eq(compiled, &*self.shared) => {
                Choice::Run(function::with_closure(entry.bind(args.py()), function)?.unbind())
            }
            other => other,
        })
    }

    /// What others own, too, is not shown: the collector must not take it for this function's alone.
    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        self.own.get().into_iter().for_each(|own| own.traverse(visit));
        if Arc::strong_count(&self.shared) == 1 {
            self.shared.traverse(visit);
        }
    }

    fn clear(&self) {
        self.own.get().into_iter().for_each(Dispatch::clear);
        if Arc::strong_count(&self.shared) == 1 {
            self.shared.clear();
        }
    }
}
