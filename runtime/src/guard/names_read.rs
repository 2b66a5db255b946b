//! Which names a trace has looked up on a class: numbers that the class has under other names may be others at the next call, as those that
//! count its instances are.
use rustc_hash::FxHashSet;
use std::sync::{Arc, Mutex};

/// The names; shared by the guard and the trace, which adds to them until it ends.
#[derive(Clone, Debug)]
pub struct NamesRead(Arc<Mutex<Names>>);

#[derive(Debug)]
enum Names {
    All,
    These(FxHashSet<Box<str>>),
}

impl NamesRead {
    /// None so far.
    #[must_use]
    pub fn none() -> Self {
        Self(Arc::new(Mutex::new(Names::These(FxHashSet::default()))))
    }

    /// All of them: whoever looks at the class may see any.
    #[must_use]
    pub fn all() -> Self {
        Self(Arc::new(Mutex::new(Names::All)))
    }

    /// One more.
    pub fn add(&self, name: &str) {
        if let Ok(mut names) = self.0.lock()
            && let Names::These(these) = &mut *names
            && !these.contains(name)
        {
            these.insert(name.into());
        }
    }

    /// From now on all of them.
    pub fn add_all(&self) {
        if let Ok(mut names) = self.0.lock() {
            *names = Names::All;
        }
    }

    /// Whether it was read by this name.
    pub(super) fn names(&self, name: &str) -> bool {
        self.0.lock().is_ok_and(|names| matches!(&*names, Names::These(these) if these.contains(name)))
    }

    /// Whether it is one of them.
    pub(super) fn has(&self, name: &str) -> bool {
        let Ok(names) = self.0.lock() else { return true };
        match &*names {
            Names::All => true,
            Names::These(these) => these.contains(name),
        }
    }
}
