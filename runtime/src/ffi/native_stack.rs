//! The C stack of the running thread: how much of it is left.
use std::cell::Cell;
use std::ffi::{c_int, c_void};

/// `pthread_attr_t` of Linux on 64-bit machines.
#[repr(C, align(8))]
struct Attributes([u8; 56]);

unsafe extern "C" {
    fn pthread_self() -> usize;
    fn pthread_getattr_np(thread: usize, attributes: *mut Attributes) -> c_int;
    fn pthread_attr_getstack(attributes: *const Attributes, low: *mut *mut c_void, size: *mut usize) -> c_int;
    fn pthread_attr_destroy(attributes: *mut Attributes) -> c_int;
}

thread_local! {
    /// Below this address nothing of ours starts; 0 where it is unknown yet, 1 where the system does not say.
    static FLOOR: Cell<usize> = const { Cell::new(0) };
}

/// Left free for the interpreter: it counts calls, not bytes, and our frames are larger than its own.
const SHARE: usize = 4;

/// Whether less than a quarter of the thread's stack is left.
#[must_use]
pub fn is_low() -> bool {
    let here = 0u8;
    let mut floor = FLOOR.get();
    if floor == 0 {
        floor = bounds().map_or(1, |(low, size)| low + size / SHARE);
        FLOOR.set(floor);
    }
    (&raw const here as usize) < floor
}

/// Lowest address and size of the thread's stack.
fn bounds() -> Option<(usize, usize)> {
    let mut attributes = Attributes([0; 56]);
    let (mut low, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: `attributes` is as large as the C type and is filled before it is read and destroyed.
    let known = unsafe {
        if pthread_getattr_np(pthread_self(), &mut attributes) != 0 {
            return None;
        }
        let status = pthread_attr_getstack(&attributes, &mut low, &mut size);
        pthread_attr_destroy(&mut attributes);
        status == 0
    };
    known.then_some((low as usize, size))
}
