//! The allocator of this crate's own data: mimalloc, by its calls without alignment where these align enough.
use libmimalloc_sys::{
    mi_free, mi_malloc, mi_malloc_aligned, mi_realloc, mi_realloc_aligned, mi_zalloc, mi_zalloc_aligned,
};
use std::alloc::{GlobalAlloc, Layout};

/// `MI_MAX_ALIGN_SIZE`: what mimalloc aligns pieces of at least that size to without being asked; smaller ones, to their size.
const ALIGNED: usize = 16;

/// A trace allocates many small pieces and frees them soon; mimalloc is fast at that.
pub(crate) struct Allocator;

fn is_plain(align: usize, size: usize) -> bool {
    align <= ALIGNED.min(size)
}

// SAFETY: mimalloc's functions do what the trait's say; what one of them gave, any of them takes back.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: plain calls.
        unsafe {
            let given = if is_plain(layout.align(), layout.size()) {
                mi_malloc(layout.size())
            } else {
                mi_malloc_aligned(layout.size(), layout.align())
            };
            given.cast()
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: plain calls.
        unsafe {
            let given = if is_plain(layout.align(), layout.size()) {
                mi_zalloc(layout.size())
            } else {
                mi_zalloc_aligned(layout.size(), layout.align())
            };
            given.cast()
        }
    }

    #[inline]
    unsafe fn dealloc(&self, piece: *mut u8, _layout: Layout) {
        // SAFETY: the caller says that `alloc` gave the piece.
        unsafe { mi_free(piece.cast()) }
    }

    #[inline]
    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller says that `alloc` gave the piece.
        unsafe {
            let given = if is_plain(layout.align(), size) {
                mi_realloc(piece.cast(), size)
            } else {
                mi_realloc_aligned(piece.cast(), size, layout.align())
            };
            given.cast()
        }
    }
}
