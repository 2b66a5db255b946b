//! The layers of `test`, in the order in which they run.
use super::tally::Tally;
use super::{effects, generated, link, python, rust, tables, unpacked};
use crate::obtain::{Interpreter, torch};
use anyhow::Result;
use clap::ValueEnum;

/// One kind of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Layer {
    /// Rust tests of every crate, documentation tests included
    Rust,
    /// `generated/` equals what slotgen produces from CPython's sources, and what it makes of a changed tree compiles
    Generated,
    /// Slots, methods, getters and members equal those of compiled libraries and running interpreters
    Tables,
    /// C functions do only what their effects claim: a bounded part of `prove effects`
    Effects,
    /// Python tests on every supported interpreter
    Python,
    /// The Python tests again, under PYTHONMALLOC=debug and -X dev, on the newest release
    Strict,
    /// A part of the Python tests on releases that are not installed, on Debian's interpreters, unpacked
    Unpacked,
    /// Wheel and link kit, used in C and C++ from an empty prefix, on the newest release
    Link,
    /// A host in C++ beside libtorch, on the newest release
    LinkTorch,
    /// Python tests that need PyTorch
    Torch,
}

impl Layer {
    /// What `test` runs without options.
    pub const STANDARD: &[Layer] =
        &[Layer::Rust, Layer::Generated, Layer::Tables, Layer::Effects, Layer::Python, Layer::Strict];

    /// As on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// Runs all of the layer.
    pub fn run(self, interpreters: &[Interpreter], filter: Option<&str>) -> Result<Tally> {
        match self {
            Layer::Rust => rust::run(interpreters, filter),
            Layer::Generated => generated::run(),
            Layer::Tables => tables::run(),
            Layer::Effects => effects::run(interpreters),
            Layer::Python => python::run(interpreters, filter, python::Kind::Plain),
            // Slow, and what it finds is the runtime's own: the newest release only, unless another is asked for.
            Layer::Strict => python::run(newest_alone(interpreters), filter, python::Kind::Strict),
            Layer::Link => newest(interpreters).map(link::run).unwrap_or_else(|| Ok(Tally::default())),
            Layer::Unpacked => unpacked::run(filter),
            // An environment with PyTorch takes 5 GB: the newest release only, unless another is asked for.
            Layer::Torch => python::run(newest_alone(interpreters), filter, python::Kind::Torch),
            Layer::LinkTorch => match newest(interpreters) {
                Some(base) => link::torch(base, &torch::ensure(base)?),
                None => Ok(Tally::default()),
            },
        }
    }
}

fn newest_alone(interpreters: &[Interpreter]) -> &[Interpreter] {
    newest(interpreters).map_or(&[], std::slice::from_ref)
}

fn newest(interpreters: &[Interpreter]) -> Option<&Interpreter> {
    interpreters.last()
}
