//! What a trace keeps of context variables: contexts, what they hold, tokens.
use super::value::ValueId;
use rustc_hash::FxHashMap;

/// What a context has for a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// What it had before the trace.
    Outside,
    /// A value that the trace has set.
    Value(ValueId),
    /// Nothing.
    Nothing,
}

/// What a context of the trace has where the trace has changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Base {
    /// What the thread's context had when the trace began.
    Current,
    /// What a context object from outside had then.
    Object(ValueId),
    /// Nothing at all.
    Empty,
}

/// A variable that the trace has changed in a context.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub(crate) variable: ValueId,
    pub(crate) now: Held,
    /// What side effects have made of it so far.
    pub(crate) replayed: Held,
}

/// A context.
#[derive(Clone, Debug)]
pub(crate) struct TracedContext {
    pub(crate) base: Base,
    pub(crate) changes: Vec<Change>,
    /// Whether `run` of it is running.
    pub(crate) entered: bool,
}

impl TracedContext {
    pub(crate) fn new(base: Base) -> Self {
        Self { base, changes: Vec::new(), entered: false }
    }

    /// What it has for a variable.
    pub(crate) fn held(&self, variable: ValueId) -> Held {
        let unchanged = if self.base == Base::Empty { Held::Nothing } else { Held::Outside };
        self.changes.iter().find(|change| change.variable == variable).map_or(unchanged, |change| change.now)
    }

    /// The variable as the trace has changed it.
    pub(crate) fn change(&mut self, variable: ValueId, now: Held) -> &mut Change {
        let known = self.changes.iter().position(|change| change.variable == variable);
        let index = known.unwrap_or_else(|| {
            let replayed = self.held(variable);
            self.changes.push(Change { variable, now, replayed });
            self.changes.len() - 1
        });
        self.changes[index].now = now;
        &mut self.changes[index]
    }
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    /// Index of its context; `None`: another one, which the trace does not know.
    pub(crate) context: Option<usize>,
    pub(crate) variable: ValueId,
    pub(crate) old: Held,
    pub(crate) used: bool,
    /// Whether it is an object from outside.
    pub(crate) outside: bool,
}

/// Everything about context variables.
#[derive(Debug)]
pub(crate) struct ContextVariables {
    /// Variables from outside that the trace has met.
    pub(crate) variables: Vec<ValueId>,
    /// What contexts from outside, and that of the thread, had for a variable.
    pub(crate) seen: FxHashMap<(Base, ValueId), Option<ValueId>>,
    /// The thread's context is the first.
    pub(crate) contexts: Vec<TracedContext>,
    /// Those whose `run` is running.
    pub(crate) entered: Vec<usize>,
    /// Which context a value is.
    pub(crate) objects: FxHashMap<ValueId, usize>,
    pub(crate) tokens: FxHashMap<ValueId, Token>,
}

impl Default for ContextVariables {
    fn default() -> Self {
        Self {
            variables: Vec::new(),
            seen: FxHashMap::default(),
            contexts: vec![TracedContext::new(Base::Current)],
            entered: Vec::new(),
            objects: FxHashMap::default(),
            tokens: FxHashMap::default(),
        }
    }
}

impl ContextVariables {
    /// Index of the context that is in force.
    pub(crate) fn current(&self) -> usize {
        self.entered.last().copied().unwrap_or(0)
    }

    /// What the context in force has for a variable.
    pub(crate) fn held(&self, variable: ValueId) -> Held {
        self.contexts[self.current()].held(variable)
    }

    /// Values that contexts and tokens of the trace hold.
    pub(crate) fn values(&self) -> impl Iterator<Item = ValueId> {
        let set = self.contexts.iter().flat_map(|context| context.changes.iter().map(|change| change.now));
        set.chain(self.tokens.values().map(|token| token.old)).filter_map(|held| match held {
            Held::Value(value) => Some(value),
            Held::Outside | Held::Nothing => None,
        })
    }

    /// Whether the trace has changed a context from outside.
    pub(crate) fn has_changes(&self) -> bool {
        let outside = |context: &&TracedContext| matches!(context.base, Base::Current | Base::Object(_));
        self.contexts.iter().filter(outside).any(|context| context.changes.iter().any(|c| c.now != c.replayed))
    }
}
