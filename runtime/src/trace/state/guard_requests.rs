//! Which guards each value has already.
use crate::trace::state::value::ValueId;

bitflags::bitflags! {
    /// What there is to ask of a value once.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(crate) struct GuardRequest: u32 {
        const TYPE = 1;
        const EQUALS = 1 << 1;
        const IS = 1 << 2;
        const DOMAIN = 1 << 3;
        const LENGTH = 1 << 4;
        const KEYS = 1 << 5;
        const ORDER = 1 << 6;
        const ITEMS = 1 << 7;
        const STATE = 1 << 8;
        const FUNCTION = 1 << 9;
        /// A cell without content.
        const EMPTY = 1 << 10;
        const OBSERVED = 1 << 11;
        const NAME = 1 << 13;
        const QUALNAME = 1 << 14;
        const HANDLED = 1 << 15;
        const END = 1 << 16;
        const WHOLE_END = 1 << 17;
        /// Type and domain are settled.
        const CLASS = 1 << 18;
        /// The object is known.
        const KNOWN = 1 << 19;
        /// The names in the globals of a module that the value stands for.
        const NAMES = 1 << 20;
        /// C got the object.
        const LENT = 1 << 21;
        const TRUTH = 1 << 22;
        /// The trace goes through the container.
        const GONE_THROUGH = 1 << 23;
        const VALUE = 1 << 24;
        /// What a guard at the value's own source answers.
        const LOOKS_AT_IT = Self::SAYS_TYPE.bits() | Self::LENGTH.bits() | Self::KEYS.bits() | Self::FUNCTION.bits() | Self::ITEMS.bits();
        /// What says the type, too.
        const SAYS_TYPE = Self::TYPE.bits() | Self::EQUALS.bits() | Self::IS.bits();
    }
}

/// What is asked of which value, and in which order it came to be.
#[derive(Debug, Default)]
pub(crate) struct GuardRequests {
    of: Vec<GuardRequest>,
    order: Vec<(ValueId, GuardRequest)>,
}

impl GuardRequests {
    /// Whether it is new.
    pub(crate) fn insert(&mut self, value: ValueId, asked: GuardRequest) -> bool {
        let index = value.0 as usize;
        if index >= self.of.len() {
            self.of.resize(index + 1, GuardRequest::empty());
        }
        let new = !self.of[index].contains(asked);
        if new {
            self.of[index] |= asked;
            self.order.push((value, asked));
        }
        new
    }

    /// Whether any of these is asked of the value.
    pub(crate) fn has_any(&self, value: ValueId, any: GuardRequest) -> bool {
        self.of.get(value.0 as usize).is_some_and(|asked| asked.intersects(any))
    }

    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    pub(crate) fn truncate(&mut self, length: usize) {
        for (value, asked) in self.order.drain(length..) {
            self.of[value.0 as usize].remove(asked);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.of.clear();
        self.order.clear();
    }
}
