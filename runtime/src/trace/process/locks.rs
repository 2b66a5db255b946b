//! Locks from outside: the trace knows who holds them; compiled code acquires and releases the real ones.
//!
//! Between its guards and its last side effect compiled code lets other threads run only in its graph. So what a lock protects is as the guards
//! found it if the lock is acquired, without waiting, before the graph is called, and released after its last use in the trace.
use crate::ffi::types;
use crate::graph::Node;
use crate::guard::Check;
use crate::guard::source::Source;
use crate::names::name;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::outcome::{Effect, LockHold};
use crate::trace::state::process::Lock;
use crate::trace::state::reasons::{READS_FILE, USED_LOCK};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyTuple, PyType};

/// How often a lock is acquired at most: its twin is acquired as often.
const DEEPEST: u32 = 64;

/// How often a lock is acquired, as a guard asks.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
struct Acquired {
    count: u32,
}

#[pymethods]
impl Acquired {
    /// Whether it is acquired as often as it was.
    fn __call__(&self, lock: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(acquired(lock)? == Some(self.count))
    }
}

/// How often a lock is acquired; `None`: by another thread, which will not let this one have it.
fn acquired(lock: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
    if lock.is_exact_instance_of::<PyCFunction>() {
        // Whether a thread waits for it nobody says; alone a thread need not wait.
        let alone = crate::ffi::modules::import(lock.py(), "_thread")?.call_method0("_count")?.eq(0)?;
        return Ok((alone && !lock.call0()?.is_truthy()?).then_some(0));
    }
    if !is_reentrant(&lock.get_type()) {
        return Ok(Some(lock.call_method0("locked")?.is_truthy()?.into()));
    }
    // It says so nowhere else, and trying would be acquiring.
    let text = types::text(lock.repr()?.as_any());
    if text.starts_with("<unlocked ") {
        return Ok(Some(0));
    }
    let count =
        text.split("count=").nth(1).and_then(|rest| rest.split(' ').next()).and_then(|count| count.parse().ok());
    Ok(count.filter(|_| lock.call_method0("_is_owned").is_ok_and(|owned| owned.is_truthy().unwrap_or_default())))
}

fn is_lock(class: &Bound<'_, PyType>) -> bool {
    matches!(&*types::c_name(class), "_thread.lock" | "_thread.RLock")
}

fn is_reentrant(class: &Bound<'_, PyType>) -> bool {
    types::is_c_class(class, "_thread.RLock")
}

impl<'py> Tracer<'py> {
    /// A method of a lock from outside; `None`: another method, or one that may wait.
    pub(crate) fn lock_method(
        &mut self,
        owner: &Bound<'py, PyType>,
        name: &str,
        args: &Arguments,
    ) -> Traced<Option<ValueId>> {
        const ENTER: [&str; 3] = ["acquire", "acquire_lock", "__enter__"];
        const LEAVE: [&str; 3] = ["release", "release_lock", "__exit__"];
        const LOOK: [&str; 4] = ["locked", "locked_lock", "_is_owned", "_recursion_count"];
        let Some((lock, rest)) = args.positional.split_first() else { return Ok(None) };
        let enters = ENTER.contains(&name);
        if !is_lock(owner) || !enters && !LEAVE.contains(&name) && !LOOK.contains(&name) {
            return Ok(None);
        }
        // What a `with` block tells the lock it does not look at; from 3.15 on it counts it.
        let rest = if name == "__exit__" { vec![self.none(); rest.len()] } else { rest.to_vec() };
        let given = Arguments { positional: rest, keywords: args.keywords.clone(), ..Arguments::default() };
        let given = self.given_to_lock(&given);
        if enters && !given.as_ref().is_some_and(does_not_wait) {
            self.refuse_own_wait(owner, *lock, name)?;
        }
        let (Some(object), Some(given)) = (self.real(*lock), given) else { return Ok(None) };
        if !self.class_of(*lock)?.is(owner) {
            return Ok(None);
        }
        let index = self.meet_lock(*lock, &object)?;
        let count = self.state.locks[index].count;
        if enters && count > 0 && !is_reentrant(owner) && !does_not_wait(&given) {
            return unsupported("lock that is held already", name);
        }
        if enters && !is_reentrant(owner) && self.state.graph.nodes.iter().any(|node| self.may_wait(node)) {
            // It is acquired before the graph is called: what runs there may wait for it.
            return unsupported("lock that the graph may wait for", name);
        }
        let (said, now) = self.ask_twin(owner, count, name, &given)?;
        let hold = self.hold_lock(owner, *lock)?;
        self.do_to_lock(index, hold, now);
        said.map(|said| Some(self.constant(said))).or_else(|error| self.raise_error(error))
    }

    /// Breaks where the program waits for a lock that the trace made and holds: another thread is to release it, which may find it by a change
    /// that the trace has not made yet.
    fn refuse_own_wait(&self, owner: &Bound<'py, PyType>, lock: ValueId, name: &str) -> Traced<()> {
        let Some(own) = self.owned(lock).filter(|_| !is_reentrant(owner)) else { return Ok(()) };
        let is_held = own.call_method0(name!("locked")).and_then(|held| held.is_truthy()).unwrap_or(true);
        if is_held { unsupported("lock that is held already", name) } else { Ok(()) }
    }

    /// Arguments that are numbers and the like.
    fn given_to_lock(&mut self, args: &Arguments) -> Option<Given<'py>> {
        let positional = self.known_scalars(&args.positional)?;
        let keywords = PyDict::new(self.py);
        for (name, value) in &args.keywords {
            let value = self.known_scalars(&[*value])?.pop()?;
            keywords.set_item(name, value).ok()?;
        }
        Some(Given { positional, keywords })
    }

    /// The place of a lock among those that the trace knows; guards ask how often it is acquired, and tell it from the others.
    fn meet_lock(&mut self, lock: ValueId, object: &Bound<'py, PyAny>) -> Traced<usize> {
        if let Some(index) = self.state.locks.iter().position(|known| known.lock == lock) {
            return Ok(index);
        }
        if self.state.guards.iter().any(|guard| guard.reason.why == READS_FILE) {
            return unsupported("lock in a trace that has asked a file", types::c_name(&object.get_type()));
        }
        let count = acquired(object).or_else(|error| internal(error.to_string()))?;
        let Some(count) = count.filter(|count| *count < DEEPEST) else {
            return unsupported("lock that another thread holds", types::c_name(&object.get_type()));
        };
        let Some(source) = self.source(lock) else { return internal("a lock from nowhere") };
        let check = Bound::new(self.py, Acquired { count }).or_else(|error| internal(error.to_string()))?;
        self.guard(source.clone(), Check::Call(check.into_any().unbind()), USED_LOCK);
        for index in 0..self.state.locks.len() {
            let Some(other) = self.source(self.state.locks[index].lock) else { continue };
            if !matches!((&source, &other), (Source::Constant(_), Source::Constant(_))) {
                self.guard(source.clone(), Check::NotSameAs(other), "the trace used two locks");
            }
        }
        let is_reentrant = is_reentrant(&object.get_type());
        self.state.locks.push(Lock { lock, start: count, count, acquired_first: false, is_reentrant });
        Ok(self.state.locks.len() - 1)
    }

    /// What another lock says that is acquired as often, and how often it is then.
    fn ask_twin(
        &mut self,
        class: &Bound<'py, PyType>,
        count: u32,
        name: &str,
        given: &Given<'py>,
    ) -> Traced<(PyResult<Bound<'py, PyAny>>, u32)> {
        let make = self.import("_thread", if is_reentrant(class) { "RLock" } else { "allocate_lock" })?;
        let twin = || {
            let twin = make.call0()?;
            (0..count).try_for_each(|_| twin.call_method0("acquire").map(drop))?;
            let args = PyTuple::new(twin.py(), &given.positional)?;
            let said = twin.call_method(name, args, Some(&given.keywords));
            PyResult::Ok((said, acquired(&twin)?.unwrap_or_default()))
        };
        twin().or_else(|error| internal(error.to_string()))
    }

    /// Compiled code does to the lock what was done to its twin.
    fn do_to_lock(&mut self, index: usize, hold: LockHold, now: u32) {
        let Lock { start, count, acquired_first, .. } = self.state.locks[index];
        if now == count {
            return;
        }
        match (now > count, count) {
            (true, 0) if start == 0 && !acquired_first => {
                self.state.acquired_first.push(hold);
                self.state.locks[index].acquired_first = true;
            }
            (true, 0) => self.keep_lock(hold),
            (true, _) => self.state.effects.push(hold.take()),
            (false, _) => self.state.effects.push(hold.give_back()),
        }
        self.state.locks[index].count = now;
    }

    /// Breaks where a node would run Python code that may wait for a lock which is held while the graph runs: compiled code acquires locks before it
    /// calls the graph, and releases them after it.
    pub(crate) fn refuse_waiting(&self, node: &Node) -> Traced<()> {
        let is_held = |lock: &Lock| (lock.acquired_first || lock.start > 0) && !lock.is_reentrant;
        match self.state.locks.iter().any(is_held) && self.may_wait(node) {
            true => unsupported("operation that runs Python code", "while compiled code holds a lock"),
            false => Ok(()),
        }
    }

    /// Whether what a node calls is, or calls, a function in Python: that may wait for a lock.
    fn may_wait(&self, node: &Node) -> bool {
        let Some(target) = node.target.as_ref().map(|target| target.bind(self.py)) else { return false };
        let is_c = matches!(
            &*types::c_name(&target.get_type()),
            "builtin_function_or_method" | "method_descriptor" | "wrapper_descriptor" | "type"
        );
        // A class method of C works for a class in Python.
        let of_class = || target.getattr(name!("__self__")).is_ok_and(|own| own.is_instance_of::<PyType>());
        !is_c || of_class()
    }

    /// A lock that is acquired again is not released before: a thread that waits for it would change what guards have found already.
    fn keep_lock(&mut self, hold: LockHold) {
        let releases = |effect: &Effect| match effect {
            Effect::Call { callable, args } => *callable == hold.release && args.iter().eq(&hold.lock),
            _ => false,
        };
        if let Some(index) = self.state.effects.iter().rposition(releases) {
            self.state.effects.remove(index);
        }
    }

    /// A function of the lock of imports; `None`: it is another one.
    pub(crate) fn import_lock(&mut self, name: &str, args: &Arguments) -> Traced<Option<ValueId>> {
        let named = matches!(name, "acquire_lock" | "release_lock" | "lock_held");
        if !named || !args.positional.is_empty() || !args.keywords.is_empty() {
            return Ok(None);
        }
        let held = self.import("_imp", "lock_held")?;
        let lock = self.constant(held.clone());
        let index = self.meet_lock(lock, &held)?;
        let count = self.state.locks[index].count;
        let now = match name {
            "lock_held" => return Ok(Some(self.boolean(count > 0))),
            "acquire_lock" => count + 1,
            // Nobody holds it: this raises.
            _ if count == 0 => {
                let released = self.import("_imp", name)?.call0();
                return released.map(|said| Some(self.constant(said))).or_else(|error| self.raise_error(error));
            }
            _ => count - 1,
        };
        let hold = self.hold_imports()?;
        self.do_to_lock(index, hold, now);
        Ok(Some(self.none()))
    }

    fn hold_imports(&mut self) -> Traced<LockHold> {
        let [acquire, release] = [self.import("_imp", "acquire_lock")?, self.import("_imp", "release_lock")?];
        Ok(LockHold { acquire: self.constant(acquire), release: self.constant(release), lock: None })
    }

    fn hold_lock(&mut self, class: &Bound<'py, PyType>, lock: ValueId) -> Traced<LockHold> {
        let method = |name: &str| class.getattr(name).or_else(|error| internal(error.to_string()));
        let [acquire, release] = [method("acquire")?, method("release")?];
        Ok(LockHold { acquire: self.constant(acquire), release: self.constant(release), lock: Some(lock) })
    }
}

/// What a lock's method is given.
struct Given<'py> {
    positional: Vec<Bound<'py, PyAny>>,
    keywords: Bound<'py, PyDict>,
}

/// Whether these arguments of `acquire` say that it shall not wait.
fn does_not_wait(given: &Given<'_>) -> bool {
    let blocking = given.positional.first().cloned();
    let blocking = blocking.or_else(|| given.keywords.get_item("blocking").ok().flatten());
    blocking.is_some_and(|blocking| !blocking.is_truthy().unwrap_or(true))
}
