//! Modes of the running thread.
use super::functions::Functions;
use pyo3::prelude::*;

/// Modes of the thread that are words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModeWords {
    /// Whether gradients are recorded, the thread is in inference mode, autocast keeps what it has cast, and programs are being recorded.
    flags: [bool; 4],
    default_dtype: i8,
    /// How many modes see functions called, and operations dispatched.
    modes: [i64; 2],
    /// Whether a function is being transformed.
    is_transforming: bool,
}

impl ModeWords {
    /// As they are now; `None` where PyTorch has not the functions that tell.
    #[must_use]
    pub fn now(py: Python<'_>) -> Option<Self> {
        let functions = Functions::get(py)?;
        // SAFETY: these read variables of the thread; the references that two of them give are to live objects, which begin as they say.
        unsafe {
            let [begin, end] = *(functions.layers)();
            Some(Self {
                flags: [
                    (functions.grad)(),
                    (functions.inference)(),
                    (functions.autocast_cache)(),
                    *(functions.tracing)() != 0,
                ],
                default_dtype: (functions.default_dtype)(),
                modes: [(functions.function_modes)(), (functions.dispatch_modes)()],
                is_transforming: begin != end,
            })
        }
    }

    /// Whether modes see functions being called.
    #[must_use]
    pub fn sees_functions(&self) -> bool {
        self.modes[0] != 0
    }

    /// Whether nothing sees functions or operations, and nothing transforms them.
    #[must_use]
    pub fn are_plain(&self) -> bool {
        self.modes == [0, 0] && !self.is_transforming
    }
}
