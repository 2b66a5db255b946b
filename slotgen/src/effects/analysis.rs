//! What was found out about the functions of a release.

use super::{Known, ModuleFunction, Program};

/// What was found out about a release.
pub struct Analysis {
    /// What was read.
    pub program: Program,
    /// What is known of each function, by its number.
    pub known: Vec<Known>,
    /// Functions of modules.
    pub modules: Vec<ModuleFunction>,
}

impl Analysis {
    /// What is known of a function.
    pub fn known(&self, id: usize) -> Option<&Known> {
        self.known.get(id)
    }

    /// The functions of a name: one, unless files have their own.
    pub fn find(&self, name: &str) -> Vec<usize> {
        (0..self.known.len()).filter(|id| self.program.name(*id) == name).collect()
    }
}
