//! The C API: `slotrt.h`.
