//! Functions that the program makes anew and compiles each time: those of one code object share what was compiled for it.
//!
//! The first function of a code object has a cache of its own. When another one, made of the same code with the same globals, is compiled
//! in the same way, it and all that follow share one cache, with guards on their cells. It lives while one of them does, and longer, for
//! each may be gone before the next is made: the latest few are kept.
use super::compiled::Compiled;
use super::shared::{Options, Shared};
use super::unit::CompilationUnit;
use crate::ffi::callable::{Choice, Dispatch};
use crate::ffi::{Args, function, inspect, weak_references};
use pyo3::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::Arc;

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
            return Ok(Ok(SharedDispatch(compiled)));
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
        Ok(Ok(SharedDispatch(compiled)))
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
pub struct SharedDispatch(pub Arc<Compiled>);

impl Dispatch for SharedDispatch {
    fn choose<'py>(&self, function: &Bound<'py, PyAny>, args: Args<'_, 'py>) -> PyResult<Choice> {
        Ok(match self.0.choose(function, args)? {
            Choice::Run(entry) => Choice::Run(function::with_closure(entry.bind(args.py()), function)?.unbind()),
            other => other,
        })
    }

    /// What others own, too, is not shown: the collector must not take it for this function's alone.
    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        if Arc::strong_count(&self.0) == 1 {
            self.0.traverse(visit);
        }
    }

    fn clear(&self) {
        if Arc::strong_count(&self.0) == 1 {
            self.0.clear();
        }
    }
}
