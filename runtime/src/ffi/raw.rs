//! Reads and writes of one field at an offset.

/// Reads a field.
///
/// # Safety
/// `base + offset` must be an aligned, initialised `T` inside a live structure.
pub(super) unsafe fn read<T: Copy>(base: *const u8, offset: usize) -> T {
    // SAFETY: as the caller promises.
    unsafe { *base.add(offset).cast::<T>() }
}

/// Writes a field.
///
/// # Safety
/// `base + offset` must be an aligned `T` inside a live structure that may be changed.
pub(super) unsafe fn write<T>(base: *mut u8, offset: usize, value: T) {
    // SAFETY: as the caller promises.
    unsafe { base.add(offset).cast::<T>().write(value) }
}
