//! Which operations give no warning: compiled code runs the graph before it sets the filters of warnings that the program sets.
use crate::domain::Operand;
use crate::domain::torch::library::Torch;
use crate::domain::torch::named::own_name;
use crate::domain::torch::undo::effects::base;
use crate::ffi::libtorch::Quiet;
use crate::ffi::types;
use crate::names::name;
use pyo3::prelude::*;

/// Operations on plain numbers that warn of nothing, whatever their operands hold or are.
const SILENT: &[&str] = &[
    "abs",
    "add",
    "addmm",
    "and",
    "bmm",
    "cat",
    "clamp",
    "cos",
    "div",
    "dropout",
    "eq",
    "exp",
    "ge",
    "gelu",
    "gt",
    "layer_norm",
    "le",
    "linear",
    "log",
    "log_softmax",
    "lt",
    "matmul",
    "maximum",
    "mean",
    "minimum",
    "mm",
    "mul",
    "ne",
    "neg",
    "ones",
    "or",
    "pow",
    "rand",
    "randn",
    "relu",
    "reshape",
    "rsqrt",
    "rsub",
    "select",
    "sigmoid",
    "silu",
    "sin",
    "softmax",
    "sqrt",
    "square",
    "stack",
    "sub",
    "sum",
    "tanh",
    "transpose",
    "truediv",
    "unsqueeze",
    "view",
    "zeros",
];

/// Whether operations on it may warn: a complex number that becomes a real one, a byte that is taken for a truth.
fn is_odd_to_warnings(operand: &Operand<'_>) -> bool {
    match operand {
        Operand::Graph { example, .. } => {
            let _quiet = Quiet::about([example]);
            let dtype = example.getattr(name!("dtype")).map(|dtype| types::text(&dtype));
            dtype.is_ok_and(|dtype| dtype.contains("complex") || dtype.contains("int8"))
        }
        Operand::Tuple(items) | Operand::List(items) => items.iter().any(is_odd_to_warnings),
        Operand::Known(known) => types::is_c_class(&known.get_type(), "torch.dtype"),
        Operand::Number { .. } | Operand::Slice(_) | Operand::Foreign(_) => false,
    }
}

impl Torch {
    /// Whether a call of this on these gives no warning, whatever the contents.
    pub(in crate::domain::torch) fn is_silent(&self, target: &Bound<'_, PyAny>, args: &[Operand<'_>]) -> bool {
        let name = own_name(target);
        let is_view = || match args {
            // PyTorch warns where there are not two dimensions.
            [Operand::Graph { example, .. }, Operand::Known(_)] if name == "getattr" => {
                self.rules.metadata(example).is_some_and(|known| known.shape.len() == 2)
            }
            _ => false,
        };
        let is_known = SILENT.contains(&base(&name));
        (is_known || is_view()) && !args.iter().any(is_odd_to_warnings)
    }
}
