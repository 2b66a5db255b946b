//! Objects that the trace reached over several paths.
use super::journal::{AliasMark, OrderedSet};
use super::value::{ValueId, ValueSet};
use crate::guard::source::Source;
use rustc_hash::FxHashSet;

/// Which values are one object outside, and what the trace learnt of that.
#[derive(Debug, Default)]
pub(crate) struct Aliases {
    /// Pairs of values of one object: that which was there first, and one for another path.
    pub(crate) twins: Vec<(ValueId, ValueId)>,
    /// Paths that share a value where they lead to one object: an earlier attempt needed that.
    pub(crate) merged: FxHashSet<Source>,
    /// Values of one object whose identity C has observed.
    pub(crate) observed: Vec<ValueId>,
    /// Containers from outside whose private copies the trace has changed, if only for a while.
    pub(crate) changed: ValueSet,
    /// Pairs of values that guards tell apart, or say to be one object.
    pub(crate) compared: OrderedSet<(ValueId, ValueId)>,
}

impl Aliases {
    /// The other values of an object, by the first.
    pub(crate) fn of(&self, first: ValueId) -> impl Iterator<Item = ValueId> {
        self.twins.iter().filter(move |(known, _)| *known == first).map(|(_, twin)| *twin)
    }

    /// How much is known now.
    pub(crate) fn mark(&self) -> AliasMark {
        AliasMark { observed: self.observed.len(), changed: self.changed.len(), compared: self.compared.order.len() }
    }

    /// Forgets all but the first values, and what was not yet known at the mark.
    pub(crate) fn truncate(&mut self, values: usize, mark: AliasMark) {
        while self.twins.pop_if(|(_, twin)| twin.0 as usize >= values).is_some() {}
        self.observed.truncate(mark.observed);
        self.changed.truncate(mark.changed);
        self.compared.truncate(mark.compared);
    }
}
