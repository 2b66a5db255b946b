//! Argument transfer for calls under the hook: objects end where they end without a hook.
//!
//! Without a hook, CPython runs a call of a Python function inside its caller's loop: the new frame takes its arguments from the caller's
//! stack. Under a hook it gets copies, and what the function drops is freed only after the call. So the caller's stack drops what the new
//! frame has. Arguments of `f(*args)` and those that a `**` parameter gathers are still freed after the call.
use crate::bytecode::{Code, flag};
use crate::ffi::frame::Frame;
use crate::ffi::layout::{code, frame};
use crate::ffi::release::Reference;
use crate::ffi::{raw, release};
use generated::opcodes::Op;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyWeakrefMethods, PyWeakrefReference};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Code objects whose calls are kept.
const CODES: usize = 4096;

/// What a call instruction finds on the stack.
#[derive(Clone, Debug)]
struct Call {
    /// The first of the two slots of the callable and its receiver.
    callable: usize,
    /// The arguments.
    args: Range<usize>,
}

/// By the offset of the instruction, in bytes.
type Calls = Arc<FxHashMap<usize, Call>>;

/// The calls of code objects, as far as they were asked for.
#[derive(Debug, Default)]
pub(super) struct CallSites(Mutex<FxHashMap<usize, (Py<PyWeakrefReference>, Calls)>>);

impl CallSites {
    fn of(&self, code: &Bound<'_, PyAny>) -> Option<Calls> {
        let address = code.as_ptr() as usize;
        let bound = |of: &Py<PyWeakrefReference>| of.clone_ref(code.py()).into_bound(code.py());
        let known = self.0.lock().ok()?.get(&address).map(|(of, calls)| (bound(of), Arc::clone(calls)));
        if let Some((of, calls)) = known
            && of.upgrade().is_some_and(|of| of.is(code))
        {
            return Some(calls);
        }
        // Attached, what it drops is released at once: the constants of the code.
        Python::try_attach(|_| self.learn(code))?
    }

    fn learn(&self, code: &Bound<'_, PyAny>) -> Option<Calls> {
        let address = code.as_ptr() as usize;
        let calls = Arc::new(calls(code).unwrap_or_default());
        let entry = (PyWeakrefReference::new(code).ok()?.unbind(), Arc::clone(&calls));
        let mut all = self.0.lock().ok()?;
        let dropped = if all.len() < CODES { FxHashMap::default() } else { std::mem::take(&mut *all) };
        let replaced = all.insert(address, entry);
        drop(all);
        drop((dropped, replaced));
        Some(calls)
    }
}

/// The calls of a code object that CPython runs inside the caller's loop; `None` for code that it would not run.
fn calls(code: &Bound<'_, PyAny>) -> Option<FxHashMap<usize, Call>> {
    let code = Code::decode(code).ok()?;
    let depths = code.depths().ok()?;
    let (isa, locals) = (code.isa(), code.locals.len());
    let sites = code.instrs.iter().zip(&depths.before).filter_map(|(instr, depth)| {
        if !matches!(instr.op, Op::CALL | Op::CALL_KW) {
            return None;
        }
        let callable = locals + (*depth)? as usize - isa.popped(instr.op, instr.arg)?;
        Some((instr.offset? as usize, Call { callable, args: callable + 2..callable + 2 + instr.arg as usize }))
    });
    Some(sites.collect())
}

/// Has the caller's stack drop what the fresh frame has, if an instruction of the caller calls the frame's function.
pub(super) fn drop_arguments(sites: &CallSites, callee: Frame<'_>) {
    if !callee.has_shared_values() {
        return;
    }
    // SAFETY: the hook is called by the attached thread whose state this is.
    let caller = unsafe { release::current_frame(callee.state) };
    // SAFETY: a thread's current frame is alive; the executable of one that it owns, or a generator's, is a code object.
    let site = unsafe {
        if caller.is_null() || raw::read::<u8>(caller, frame::OWNER) > frame::OWNED_BY_GENERATOR {
            return;
        }
        let raw = frame::code(caller);
        if ffi::PyCode_Check(raw) == 0 || release::is_monitored(raw) {
            return;
        }
        let at: *mut u8 = raw::read(caller, frame::INSTR);
        let offset = at as usize - (raw as usize + code::CO_CODE_ADAPTIVE);
        let py = Python::assume_attached();
        sites.of(&Bound::from_borrowed_ptr(py, raw)).and_then(|calls| calls.get(&offset).cloned())
    };
    let Some(Call { callable, args }) = site else { return };
    // SAFETY: the instruction runs, so that its operands are in these slots.
    unsafe {
        let function = frame::function(callee.raw);
        let [first, second] = [callable, callable + 1].map(|slot| (*frame::slot(caller, slot)).object());
        let held = match () {
            // A method: its receiver comes next.
            () if first == function => callable + usize::from(release::KEEPS_RECEIVER) + 1..args.end,
            () if first.is_null() && second == function => args,
            () => return,
        };
        held.for_each(|slot| callee.drop_argument(frame::slot(caller, slot)));
    }
}

impl Frame<'_> {
    /// Whether somebody else than the fresh frame holds a value that only one other holds: there is an argument to drop.
    fn has_shared_values(self) -> bool {
        // SAFETY: a fresh frame's parameters are live objects.
        let shared = |value: &*mut ffi::PyObject| unsafe {
            !value.is_null() && ffi::Py_REFCNT(*value) == 2 && !is_plain(*value)
        };
        self.values().0.iter().any(shared) || self.rest().iter().any(shared)
    }

    /// The items of its `*args`.
    fn rest(&self) -> &[*mut ffi::PyObject] {
        let code = self.executable().cast::<u8>();
        // SAFETY: the executable is a code object, and the slot behind its named parameters holds a tuple where it has `*args`.
        unsafe {
            if raw::read::<u32>(code, code::CO_FLAGS) & flag::VARARGS == 0 {
                return &[];
            }
            let named = raw::read::<u32>(code, code::CO_ARGCOUNT) + raw::read::<u32>(code, code::CO_ARGCOUNT + 8);
            let tuple = (*frame::slot(self.raw, named as usize)).object();
            let count = usize::try_from(ffi::PyTuple_GET_SIZE(tuple)).unwrap_or(0);
            std::slice::from_raw_parts((&raw const (*tuple.cast::<ffi::PyTupleObject>()).ob_item).cast(), count)
        }
    }

    /// Puts `None` in the place of a value that the frame has, too.
    ///
    /// # Safety
    /// The slot must own what it holds, or hold NULL.
    unsafe fn drop_argument(self, slot: *mut Reference) {
        // SAFETY: as the caller promises; the frame keeps the value alive.
        unsafe {
            let value = (*slot).object();
            if (*slot).counts() && (self.values().0.contains(&value) || self.rest().contains(&value)) {
                *slot = Reference::owned(ffi::Py_NewRef(ffi::Py_None()));
                ffi::Py_DECREF(value);
            }
        }
    }
}

/// Whether nobody can observe the object's end.
///
/// # Safety
/// `object` must be a live object.
unsafe fn is_plain(object: *mut ffi::PyObject) -> bool {
    // SAFETY: as the caller promises.
    unsafe {
        let class = ffi::Py_TYPE(object);
        [
            &raw mut ffi::PyLong_Type,
            &raw mut ffi::PyFloat_Type,
            &raw mut ffi::PyUnicode_Type,
            &raw mut ffi::PyBytes_Type,
        ]
        .contains(&class)
    }
}
