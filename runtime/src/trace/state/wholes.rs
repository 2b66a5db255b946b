//! What compiled code has C make of whole containers from outside.
use super::value::ValueId;

/// A call of C that makes a container.
#[derive(Clone, Debug)]
pub(crate) struct Whole {
    /// The method or class.
    pub(crate) callable: ValueId,
    /// The containers.
    pub(crate) args: Vec<ValueId>,
}

impl Whole {
    /// The container of which it is a copy.
    pub(crate) fn original(&self) -> Option<ValueId> {
        match self.args.as_slice() {
            [original] => Some(*original),
            _ => None,
        }
    }
}
