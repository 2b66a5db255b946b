//! The chain of calls that leads from a function to the place that has an effect.

use std::collections::BTreeSet;

use super::Analysis;

/// One step of a chain.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Link {
    /// The function in which it is.
    pub function: String,
    /// The file.
    pub file: String,
    /// The line; 0 in a macro of a header.
    pub line: u32,
    /// What is there: the name that is called, or the effect itself.
    pub text: String,
}

impl Analysis {
    /// From a function to where the effect is; empty if it has none.
    pub fn evidence(&self, id: usize, effect: &str) -> Vec<Link> {
        let (mut chain, mut seen, mut at) = (Vec::new(), BTreeSet::new(), Some(id));
        while let Some(id) = at.filter(|id| seen.insert(*id)) {
            let Some(step) = self.known(id).and_then(|known| known.evidence.get(effect)) else { break };
            let (file, line) = self.program.place(id, step.at);
            chain.push(Link { function: self.program.name(id).to_owned(), file, line, text: step.text.clone() });
            at = step.callee;
        }
        chain
    }
}
