//! Functions and methods whose results depend on metadata and on known arguments alone: a short reviewed table.
use super::graph_break::stop;
use crate::domain::Operand;
use crate::graph_break::Break;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;

/// Attributes that are metadata.
pub(super) const METADATA: &[&str] = &["shape", "dtype", "ndim", "size", "itemsize", "nbytes"];

/// Attributes that give another array.
pub(super) const VIEWS: &[&str] = &["T", "real", "imag", "mT"];

/// Which arguments may be arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Only the first (or a sequence of arrays as the first): the others say how.
    First,
    /// All positional ones.
    Any,
    /// None: a constructor.
    None,
}

/// Functions of the module `numpy`, and methods of arrays under the same names. Reasons by group:
/// reductions and scans have the shape of their axes; rearrangements have the shape that arguments give; products follow
/// the shapes of their operands; constructors have the shape that arguments give.
const TABLE: &[(Rule, &[&str])] = &[
    (
        Rule::First,
        &[
            "sum",
            "prod",
            "mean",
            "std",
            "var",
            "max",
            "min",
            "amax",
            "amin",
            "any",
            "all",
            "argmax",
            "argmin",
            "cumsum",
            "cumprod",
            "ptp",
            "median",
            "percentile",
            "quantile",
            "average",
            "round",
            "reshape",
            "transpose",
            "ravel",
            "squeeze",
            "expand_dims",
            "swapaxes",
            "moveaxis",
            "broadcast_to",
            "flip",
            "fliplr",
            "flipud",
            "rot90",
            "repeat",
            "pad",
            "roll",
            "tile",
            "array",
            "copy",
            "diff",
            "sort",
            "argsort",
            "diagonal",
            "trace",
            "triu",
            "tril",
            "concatenate",
            "stack",
            "vstack",
            "hstack",
            "dstack",
            "atleast_1d",
            "atleast_2d",
            "empty_like",
            "zeros_like",
            "ones_like",
            "full_like",
            "linalg.norm",
        ],
    ),
    (Rule::Any, &["dot", "inner", "outer", "vdot", "kron", "where", "clip"]),
    (Rule::None, &["asarray", "empty", "zeros", "ones", "full", "arange", "linspace", "eye", "identity"]),
];

/// Methods; those that change the array in place (`sort`, `fill`, `resize`…) or look at contents (`item`, `tolist`…) are left out.
const METHODS: &[(Rule, &[&str])] = &[
    (
        Rule::First,
        &[
            "sum",
            "prod",
            "mean",
            "std",
            "var",
            "max",
            "min",
            "any",
            "all",
            "argmax",
            "argmin",
            "cumsum",
            "cumprod",
            "round",
            "reshape",
            "transpose",
            "ravel",
            "flatten",
            "squeeze",
            "swapaxes",
            "copy",
            "astype",
            "argsort",
            "diagonal",
            "trace",
            "conj",
            "conjugate",
        ],
    ),
    (Rule::Any, &["dot", "clip"]),
];

/// The module's functions that have rules, by address.
#[derive(Debug)]
pub(super) struct Functions(FxHashMap<usize, (Rule, Py<PyAny>)>);

impl Functions {
    pub(super) fn of(module: &Bound<'_, PyModule>) -> Self {
        let names = TABLE.iter().flat_map(|(rule, names)| names.iter().map(move |name| (*rule, *name)));
        let found = names.filter_map(|(rule, name)| {
            let function = name.split('.').try_fold(module.clone().into_any(), |room, part| room.getattr(part)).ok()?;
            Some((function.as_ptr() as usize, (rule, function.unbind())))
        });
        Self(found.collect())
    }

    pub(super) fn rule(&self, callable: &Bound<'_, PyAny>) -> Option<Rule> {
        self.0.get(&(callable.as_ptr() as usize)).map(|(rule, _)| *rule)
    }
}

/// Functions and operators whose results are arrays with memory of their own, whatever they are given.
const NEW: &[&str] = &[
    "empty",
    "empty_like",
    "zeros",
    "ones",
    "full",
    "arange",
    "linspace",
    "eye",
    "identity",
    "array",
    "copy",
    "zeros_like",
    "ones_like",
    "full_like",
    "concatenate",
    "stack",
    "vstack",
    "hstack",
    "dstack",
    "tile",
    "outer",
    "kron",
    "add",
    "sub",
    "mul",
    "mod",
    "lshift",
    "rshift",
    "and_",
    "xor",
    "or_",
    "floordiv",
    "truediv",
    "pow",
    "neg",
    "abs",
    "invert",
    "lt",
    "le",
    "eq",
    "ne",
    "gt",
    "ge",
    "flatten",
];

/// Whether a function, or method of arrays, of this name gives an array with memory of its own.
pub(super) fn is_new(name: &str) -> bool {
    NEW.contains(&name)
}

/// Whether a call lets a function use its operand for its own work: numbers are in another order then.
pub(super) fn overwrites(name: &str, args: &[Operand<'_>], kwargs: &[(String, Operand<'_>)]) -> bool {
    let place = match name {
        "median" => 3,
        "percentile" | "quantile" => 4,
        _ => return false,
    };
    let named = kwargs.iter().find(|(name, _)| name == "overwrite_input").map(|(_, value)| value);
    args.get(place).or(named).is_some_and(|truth| match truth {
        Operand::Known(truth) => truth.is_truthy().unwrap_or(true),
        _ => true,
    })
}

/// Whether floats among the arguments of a function of this name are but contents of what it gives.
pub(super) fn holds_floats(name: &str) -> bool {
    ["array", "asarray", "full", "full_like", "linspace"].contains(&name)
}

/// The rule for a method of arrays.
pub(super) fn method(name: &str) -> Option<Rule> {
    METHODS.iter().find(|(_, names)| names.contains(&name)).map(|(rule, _)| *rule)
}

impl Rule {
    /// Breaks where an argument that must be known is an array, or where the result is to go into an existing one.
    pub(super) fn admit(self, args: &[Operand<'_>], kwargs: &[(String, Operand<'_>)]) -> Result<(), Box<Break>> {
        let free = match self {
            Self::First => 1,
            Self::Any => args.len(),
            Self::None => 0,
        };
        let positional = args.iter().skip(free).all(is_known);
        let named = kwargs.iter().all(|(name, value)| name != "out" && name != "where" && is_known(value));
        if positional && named {
            return Ok(());
        }
        Err(stop(
            "unsupported form of a numpy call",
            "out=, where=, or an array that says how",
            "The result may depend on contents.",
        ))
    }
}

fn is_known(operand: &Operand<'_>) -> bool {
    match operand {
        // Floats are left open only where they say nothing but contents.
        Operand::Known(_) | Operand::Number { .. } => true,
        Operand::Tuple(items) | Operand::List(items) => items.iter().all(is_known),
        Operand::Slice(parts) => parts.iter().all(is_known),
        Operand::Graph { .. } | Operand::Foreign(_) => false,
    }
}
