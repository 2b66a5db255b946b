//! The arguments of a call.
use super::value::ValueId;

/// Arguments of a call.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    /// Positional ones, stars unpacked.
    pub positional: Vec<ValueId>,
    /// Keyword ones.
    pub keywords: Vec<(String, ValueId)>,
    /// The first one is the receiver that the callable was bound to before it was called: C words some errors in another way then.
    pub bound: bool,
}

impl Arguments {
    /// Positional arguments only.
    pub fn positional(positional: Vec<ValueId>) -> Self {
        Self { positional, ..Self::default() }
    }

    /// With the receiver that the callable was bound to before it was called.
    pub(crate) fn bound_to(self, receiver: ValueId) -> Self {
        Self { bound: true, ..self.with_receiver(receiver) }
    }

    pub(crate) fn with_receiver(mut self, receiver: ValueId) -> Self {
        self.positional.insert(0, receiver);
        self
    }
}
