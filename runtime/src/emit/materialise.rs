//! Materialises objects made during the trace: mutable ones empty first, then filled, so that cycles close.
use super::failure::Failure;
use super::liveness::{LiveValues, children};
use super::writer::Writer;
use crate::trace::state::value::{New, Value, ValueId};
use rustc_hash::FxHashSet;

/// Why some objects that hold each other are left alone.
const CYCLE: &str = "an object whose construction looks into what holds it cannot be made again";

/// A step of building.
#[derive(Clone, Copy, Debug)]
enum Task {
    /// Gives a value its home, with all that it must be made of; if `true`, unless a cycle forbids it as yet.
    Allocate(ValueId, bool),
    /// The same once its parts exist.
    Make(ValueId, bool),
    /// Allocates and fills, and all that it holds, as far as no cycle forbids it.
    Complete(ValueId),
    /// Fills when everything that it holds exists.
    FillIfPossible(ValueId),
    /// Fills.
    Fill(ValueId),
}

impl Task {
    fn value(self) -> ValueId {
        match self {
            Self::Allocate(id, _)
            | Self::Make(id, _)
            | Self::Complete(id)
            | Self::FillIfPossible(id)
            | Self::Fill(id) => id,
        }
    }
}

/// How far building is.
#[derive(Debug, Default)]
struct Progress {
    opened: FxHashSet<ValueId>,
    completed: FxHashSet<ValueId>,
    filled: FxHashSet<ValueId>,
    unfilled: Vec<ValueId>,
}

impl Writer<'_, '_> {
    /// Builds every needed object; afterwards each has its home.
    pub fn build(&mut self, needed: &LiveValues) -> Result<(), Failure> {
        let mut progress = Progress::default();
        for id in &needed.values {
            self.work(Task::Allocate(*id, false), &mut progress)?;
        }
        while let Some(id) = progress.unfilled.pop() {
            self.work(Task::Fill(id), &mut progress)?;
        }
        Ok(())
    }

    /// Does a task and all that must come before it; without recursion, for nesting can be deep.
    fn work(&mut self, task: Task, progress: &mut Progress) -> Result<(), Failure> {
        let mut tasks = vec![task];
        while let Some(task) = tasks.pop() {
            let id = task.value();
            let Value::New(made) = self.value(id)? else { continue };
            match task {
                Task::Allocate(_, soft) => {
                    if !self.has_home(id) && progress.opened.insert(id) {
                        tasks.push(Task::Make(id, soft));
                        tasks.extend(parts(made).into_iter().rev().map(|part| Task::Allocate(part, soft)));
                        tasks.extend(looked_into(made).into_iter().rev().map(Task::Complete));
                    }
                }
                Task::Make(..) if self.has_home(id) => {}
                Task::Make(_, true) if parts(made).into_iter().any(|part| !self.is_ready(part)) => {
                    progress.opened.remove(&id);
                }
                Task::Make(..) => {
                    self.check_contents(made, progress)?;
                    self.allocate(id, made)?;
                    if is_filled_later(made) {
                        progress.unfilled.push(id);
                    }
                }
                Task::Complete(_) if progress.completed.insert(id) => {
                    tasks.push(Task::FillIfPossible(id));
                    tasks.extend(children(made).into_iter().rev().map(Task::Complete));
                    tasks.push(Task::Allocate(id, true));
                }
                Task::Complete(_) => {}
                Task::FillIfPossible(_) => {
                    if children(made).into_iter().chain([id]).all(|part| self.is_ready(part)) {
                        tasks.push(Task::Fill(id));
                    }
                }
                Task::Fill(_) if is_filled_later(made) && !progress.filled.contains(&id) => {
                    let missing: Vec<_> =
                        children(made).into_iter().chain([id]).filter(|part| !self.is_ready(*part)).collect();
                    if missing.is_empty() {
                        progress.filled.insert(id);
                        self.fill(id, made)?;
                    } else if missing.iter().any(|part| progress.opened.contains(part)) {
                        return Err(Failure::Refused(CYCLE.into()));
                    } else {
                        tasks.push(Task::Fill(id));
                        tasks.extend(missing.into_iter().rev().map(|part| Task::Allocate(part, false)));
                    }
                }
                Task::Fill(_) => {}
            }
        }
        Ok(())
    }

    /// What an object is made of exists, and what its construction looks into is complete.
    fn check_contents(&self, made: &New, progress: &Progress) -> Result<(), Failure> {
        let empty = |part: &ValueId| {
            matches!(self.value(*part), Ok(Value::New(made)) if is_filled_later(made))
                && !progress.filled.contains(part)
        };
        let hollow = !matches!(made, New::Exception { .. }) && looked_into(made).iter().any(empty);
        if hollow || parts(made).into_iter().any(|part| !self.is_ready(part)) {
            return Err(Failure::Refused(CYCLE.into()));
        }
        Ok(())
    }

    fn is_ready(&self, id: ValueId) -> bool {
        self.has_home(id) || !matches!(self.value(id), Ok(Value::New(_)))
    }
}

/// What must exist before the object can be allocated.
fn parts(made: &New) -> Vec<ValueId> {
    match made {
        New::Instance { class, args, .. } => std::iter::once(*class).chain(args.iter().copied()).collect(),
        New::Function { closure, .. } => closure.clone(),
        New::Exception { class, args, .. } => vec![*class, *args],
        New::Call { callable, args, .. } => std::iter::once(*callable).chain(args.iter().copied()).collect(),
        made if is_filled_later(made) => Vec::new(),
        made => children(made),
    }
}

/// What the construction itself looks into, so that it must be filled before: arguments of a callable, a sequence that is
/// iterated, keys that are hashed.
fn looked_into(made: &New) -> Vec<ValueId> {
    match made {
        New::Call { args, .. } => args.clone(),
        New::Exception { args, .. } => vec![*args],
        New::Instance { args, .. } => args.clone(),
        New::SequenceIterator { sequence, .. } => vec![*sequence],
        _ => Vec::new(),
    }
}

fn is_filled_later(made: &New) -> bool {
    matches!(
        made,
        New::Exception { .. }
            | New::Call { .. }
            | New::List(_)
            | New::Dict(_)
            | New::HashedDict(_)
            | New::Set(_)
            | New::Cell(_)
            | New::Function { .. }
            | New::Instance { .. }
    )
}
