//! When objects end: weak references, finalisers, and who can see a frame after its end.
//!
//! In: what frames and values hold. Out: answers, guards, and graph breaks where an end would run code of the program.
//! Must not know: what the objects are used for.
pub(crate) mod finalisers;
pub(crate) mod followed;
pub(crate) mod frame_observers;
pub(crate) mod pending_ends;
pub(crate) mod reachability;
pub(crate) mod tracked;
pub(crate) mod weak_proxies;
pub(crate) mod weak_references;
