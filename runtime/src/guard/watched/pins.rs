//! What calls look at besides steps: which objects, which classes and which namespaces a residual program was made with.
use crate::ffi::watch::Word;
use crate::guard::load::Load;
use crate::guard::program::Program;
use crate::guard::step::Action;
use crate::guard::test::Test;
use pyo3::prelude::*;
use rustc_hash::FxHashSet;

/// What calls look at besides steps, and what there is to look at.
#[derive(Debug, Default)]
pub(in crate::guard) struct Pins {
    pub words: Vec<Word>,
    /// Steps of the plan that compare with an object, and the steps of the program that they stand for.
    pub anchors: Vec<(usize, u32)>,
    /// Registers from which the program goes on to attributes.
    pub bases: FxHashSet<usize>,
    /// Addresses of classes that live, and that the program looks at.
    pub classes: FxHashSet<usize>,
    /// Registers of whose object the class is known, and those of whose object the namespace is.
    pub classed: FxHashSet<usize>,
    pub spaced: FxHashSet<usize>,
}

impl Pins {
    /// For a residual program of this one.
    pub fn new(program: &Program, py: Python<'_>) -> Self {
        let mut pins = Self::default();
        for step in &program.steps {
            match &step.action {
                Action::Load { from: Load::Attribute(base, _) | Load::Dict(base), .. } => {
                    pins.bases.insert(*base);
                }
                Action::Check { test, .. } => {
                    if let Test::Unchanged(class, _) = &**test {
                        pins.classes.extend(class.address(py));
                    }
                }
                Action::Load { .. } | Action::Compare { .. } => {}
            }
        }
        pins
    }

    /// Words and anchors.
    pub fn into_parts(self) -> (Box<[Word]>, Vec<(usize, u32)>) {
        (self.words.into(), self.anchors)
    }
}
