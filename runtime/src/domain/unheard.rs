//! What a library warns of while a domain makes what stands for values: the program makes no such objects, and nobody hears of it.
use std::cell::Cell;

thread_local! {
    static UNHEARD: Cell<bool> = const { Cell::new(false) };
}

/// Whether what warns now, warns of nothing that the program does.
#[must_use]
pub fn is_unheard() -> bool {
    UNHEARD.get()
}

/// Does something that the program does not do.
pub fn unheard<T>(act: impl FnOnce() -> T) -> T {
    let before = UNHEARD.replace(true);
    let done = act();
    UNHEARD.set(before);
    done
}
