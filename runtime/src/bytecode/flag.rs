//! Bits of `co_flags`, by their names without `CO_`. CPython: Include/cpython/code.h.
use pyo3::ffi;

/// The variables have slots: the code of a function, not of a module or class.
pub const OPTIMIZED: u32 = ffi::CO_OPTIMIZED as u32;
/// A frame begins with variables of its own.
pub const NEWLOCALS: u32 = ffi::CO_NEWLOCALS as u32;
/// It takes `*args`.
pub const VARARGS: u32 = ffi::CO_VARARGS as u32;
/// It takes `**kwargs`.
pub const VARKEYWORDS: u32 = ffi::CO_VARKEYWORDS as u32;
/// A call makes a generator.
pub const GENERATOR: u32 = ffi::CO_GENERATOR as u32;
/// A call makes a coroutine.
pub const COROUTINE: u32 = ffi::CO_COROUTINE as u32;
/// A generator of `types.coroutine`: it can be awaited.
pub const ITERABLE_COROUTINE: u32 = ffi::CO_ITERABLE_COROUTINE as u32;
/// A call makes an asynchronous generator.
pub const ASYNC_GENERATOR: u32 = ffi::CO_ASYNC_GENERATOR as u32;

/// A call makes an object that runs the code later.
pub const GENERATOR_LIKE: u32 = GENERATOR | COROUTINE | ASYNC_GENERATOR;
/// Such an object of `async def`.
pub const ASYNC: u32 = COROUTINE | ASYNC_GENERATOR;
/// What `from __future__` has left there for what the code compiles: from `CO_FUTURE_DIVISION` on.
pub const FUTURES: u32 = 0x1ff_0000;
/// Code of a function within another.
pub const NESTED: u32 = ffi::CO_NESTED as u32;
