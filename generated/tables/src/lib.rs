//! CPython's tables for C, without Python and without Rust's standard library: `slotrt_tables.h` and what stands behind it.
//!
//! `build/` packs the committed facts; `packed` reads them; `api` has the functions of the header. A release is chosen at run time by
//! `PY_VERSION_HEX >> 16`.
#![no_std]
#![allow(non_camel_case_types)]

pub mod api;
mod effect;
mod packed;
pub mod rows;
pub mod status;

/// A program that is no Rust program ends where a bug of this library would make Rust panic.
#[cfg(all(feature = "standalone", not(test)))]
#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        safe fn abort() -> !;
    }
    abort()
}
