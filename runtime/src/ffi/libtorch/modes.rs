//! Modes of the running thread.
use super::functions::Functions;
use crate::ffi::modules;
use pyo3::intern;
use pyo3::prelude::*;

/// Modes of the thread, as words.
#[derive(Debug)]
pub struct ModeWords {
    functions: &'static Functions,
    words: Words,
    /// Which kinds of kernels the thread passed over. Those that choose types are among them unless autocast is on for their device.
    excluded: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Words {
    /// Whether gradients are recorded, the thread is in inference mode, autocast keeps what it has cast, programs are being recorded, and
    /// hooks look at what operations save.
    flags: [bool; 5],
    default_dtype: i8,
    /// Whether classes take over calls with their instances.
    overrides: i32,
    /// How many modes see functions called, and operations dispatched.
    modes: [i64; 2],
    /// Whether a function is being transformed.
    is_transforming: bool,
}

impl ModeWords {
    /// As they are now; `None` where PyTorch has not the functions that tell.
    #[must_use]
    pub fn of_thread(py: Python<'_>) -> Option<Self> {
        let functions = Functions::get(py)?;
        let words = Words::now(functions);
        Some(Self { functions, words, excluded: passed_over(py)? })
    }

    /// Whether modes see functions being called, or nothing tells.
    #[must_use]
    pub fn see_functions(py: Python<'_>) -> bool {
        // SAFETY: this reads a variable of the thread.
        Functions::get(py).is_none_or(|functions| unsafe { (functions.function_modes)() } != 0)
    }

    /// Whether it is known that nothing sees functions or operations, nor what operations save.
    #[must_use]
    pub fn see_nothing(py: Python<'_>) -> bool {
        // SAFETY: these read variables of the thread; the reference is to a live object, which begins as it says.
        Functions::get(py).is_some_and(|functions| unsafe {
            (functions.function_modes)() == 0
                && (functions.dispatch_modes)() == 0
                && (*(functions.saving_hooks)()).is_empty()
        })
    }

    /// Whether nothing sees functions or operations, and nothing transforms them.
    #[must_use]
    pub fn are_plain(&self) -> bool {
        self.words.are_unseen() && !self.words.is_transforming
    }

    /// Whether they are still so, and autocast is on for no device for which it was off.
    #[must_use]
    pub fn hold(&self, _py: Python<'_>) -> bool {
        // SAFETY: this reads a variable of the thread; a set of kinds of kernels is a struct of one number, passed as that.
        Words::now(self.functions) == self.words && unsafe { (self.functions.excludes)(self.excluded) }
    }
}

/// Which kinds of kernels the thread passes over, which are bits.
#[must_use]
pub fn passed_over(py: Python<'_>) -> Option<u64> {
    let native = modules::imported(intern!(py, "torch._C"))?;
    let kinds = native.getattr(intern!(py, "_dispatch_tls_local_exclude_set")).ok()?.call0().ok()?;
    kinds.call_method0(intern!(py, "raw_repr")).ok()?.extract().ok()
}

/// Whether the thread passes over all of these kinds of kernels; `None` where PyTorch has not the function that tells, as below.
#[must_use]
pub fn passes_over(py: Python<'_>, kinds: u64) -> Option<bool> {
    // SAFETY: this reads a variable of the thread; a set of kinds of kernels is a struct of one number, passed as that.
    Functions::get(py).map(|functions| unsafe { (functions.excludes)(kinds) })
}

/// Whether the thread records gradients.
#[must_use]
pub fn records_gradients(py: Python<'_>) -> Option<bool> {
    // SAFETY: this reads a variable of the thread.
    Functions::get(py).map(|functions| unsafe { (functions.grad)() })
}

/// The number of the type that tensors have by default.
#[must_use]
pub fn default_dtype(py: Python<'_>) -> Option<i8> {
    // SAFETY: this reads a variable of the process.
    Functions::get(py).map(|functions| unsafe { (functions.default_dtype)() })
}

/// Whether a function is being transformed.
#[must_use]
pub fn is_transforming(py: Python<'_>) -> Option<bool> {
    // SAFETY: the reference is to a live object, which begins as the function says.
    Functions::get(py).map(|functions| unsafe {
        let [begin, end] = *(functions.layers)();
        begin != end
    })
}

/// Sets whether the process repeats what it warns of once, and tells whether it did.
pub fn repeat_warnings(py: Python<'_>, repeat: bool) -> Option<bool> {
    // SAFETY: these read and set a variable of the process.
    Functions::get(py).map(|functions| unsafe {
        let before = (functions.repeats_warnings)();
        (functions.repeat_warnings)(repeat);
        before
    })
}

/// Where [`Words::flags`] has the hooks.
const HOOKS: usize = 4;

impl Words {
    fn are_unseen(&self) -> bool {
        self.modes == [0, 0] && !self.flags[HOOKS]
    }

    fn now(functions: &Functions) -> Self {
        // SAFETY: these read variables of the thread; the references that three of them give are to live objects, which begin as they say.
        unsafe {
            let [begin, end] = *(functions.layers)();
            Self {
                flags: [
                    (functions.grad)(),
                    (functions.inference)(),
                    (functions.autocast_cache)(),
                    *(functions.tracing)() != 0,
                    !(*(functions.saving_hooks)()).is_empty(),
                ],
                default_dtype: (functions.default_dtype)(),
                overrides: (functions.overrides)(),
                modes: [(functions.function_modes)(), (functions.dispatch_modes)()],
                is_transforming: begin != end,
            }
        }
    }
}
