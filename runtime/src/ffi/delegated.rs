//! Generators and coroutines that others' frames delegate to after a hand-over: those that wait for the variables of such a frame get them
//! when it has ended, which the generator's death tells.
use super::heirs::{Waiting, alive, bequeath};
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyWeakrefReference};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::{Arc, Mutex};

/// What is kept while the generator lives, by the address of its frame object.
struct Kept {
    waiting: Arc<Mutex<Waiting>>,
    _death: Py<PyWeakrefReference>,
}

thread_local! {
    static KEPT: RefCell<FxHashMap<usize, Kept>> = RefCell::default();
}

/// Whether nobody waits for any.
pub(super) fn is_empty() -> bool {
    KEPT.with_borrow(FxHashMap::is_empty)
}

/// Looks at those that wait for the generator's frame with this object; `None`: it goes on for nobody.
pub(super) fn of<T>(object: &Bound<'_, PyAny>, look: impl FnOnce(&mut Waiting) -> T) -> Option<T> {
    let waiting = KEPT.with_borrow(|kept| Some(Arc::clone(&kept.get(&(object.as_ptr() as usize))?.waiting)))?;
    let mut waiting = waiting.lock().ok()?;
    Some(look(&mut waiting))
}

/// Gives the heirs the variables of the generator's frame once that has ended. A generator that moves to another thread and hands over
/// there is forgotten: its heirs get what that frame held then.
pub(super) fn wait(generator: &Bound<'_, PyAny>, heirs: Vec<Py<PyAny>>) -> PyResult<()> {
    let py = generator.py();
    let frame =
        ["gi_frame", "cr_frame", "ag_frame"].iter().find_map(|name| generator.getattr_opt(*name).ok().flatten());
    let Some(frame) = frame.filter(|frame| !frame.is_none()) else { return Ok(()) };
    let key = frame.as_ptr() as usize;
    let waiting = Arc::new(Mutex::new(Waiting { heirs, shared: false }));
    let (left, frame) = (Arc::clone(&waiting), frame.unbind());
    let told = PyCFunction::new_closure(py, None, None, move |args, _| {
        let py = args.py();
        let heirs = left.lock().map(|mut left| std::mem::take(&mut left.heirs)).unwrap_or_default();
        bequeath(frame.bind(py), &alive(py, heirs));
        // What it held ends when all is done.
        let kept = KEPT.with_borrow_mut(|kept| kept.remove(&key));
        drop(kept);
    })?;
    let death = PyWeakrefReference::new_with(generator, told)?.unbind();
    KEPT.with_borrow_mut(|kept| kept.insert(key, Kept { waiting, _death: death }));
    Ok(())
}
