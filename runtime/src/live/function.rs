//! A C function as translated functions see it: its address and its identity.
use super::identity;
use generated::capi::FunctionId;

/// A C function pointer found in a slot.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its address; 0 for a function that only its identity names.
    pub(crate) pointer: usize,
    /// Its identity, if the tables know the pointer.
    pub(crate) id: Option<FunctionId>,
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        match (self.id, other.id) {
            (Some(mine), Some(theirs)) => mine == theirs,
            _ => self.pointer != 0 && self.pointer == other.pointer,
        }
    }
}

impl Function {
    /// The function at an address.
    pub(crate) fn at(pointer: usize) -> Option<Self> {
        (pointer != 0).then(|| Self { pointer, id: identity::at(pointer) })
    }

    /// The address of a function or of none; nothing for one that only its identity names.
    pub(crate) fn pointer(function: Option<&Self>) -> Option<usize> {
        match function {
            Some(function) if function.pointer == 0 => None,
            function => Some(function.map_or(0, |function| function.pointer)),
        }
    }
}
