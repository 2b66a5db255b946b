//! What PyTorch's tags say of an operation: whether contents decide what it gives, and whether it works element by element.
use crate::domain::torch::library::Torch;
use crate::ffi::callee;
use crate::names::{interned, name};
use pyo3::prelude::*;
use pyo3::types::PyString;

/// What tags say of an operation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tags {
    /// Contents decide how long its results are, or which number it gives.
    pub by_contents: bool,
    /// What sizes its operands have changes nothing but the sizes of its results.
    pub elementwise: bool,
}

const CTC_LOSS: &str = "ctc_loss";

/// Operators of Python, and functions, whose work another operation of PyTorch's does.
const DONE_BY: &[(&str, &str)] = &[
    ("getitem", "index"),
    ("truediv", "div"),
    ("mod", "remainder"),
    ("invert", "bitwise_not"),
    ("and", "bitwise_and"),
    ("or", "bitwise_or"),
    ("xor", "bitwise_xor"),
    (CTC_LOSS, "_ctc_loss"),
];

/// Operations without such a tag that change nothing but sizes either, and give what their operands lie in perhaps.
const OTHERS: &[&str] = &[
    "addbmm",
    "addmm",
    "addmv",
    "addr",
    "argsort",
    "baddbmm",
    "bfloat16",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "bmm",
    "bool",
    "bucketize",
    "cartesian_prod",
    "cat",
    "cdist",
    "combinations",
    "concat",
    "cosine_similarity",
    "cross",
    "cross_entropy_loss",
    "cumprod",
    "cumsum",
    "detach",
    "diff",
    "dot",
    "double",
    "dropout",
    "einsum",
    "embedding",
    "empty_like",
    "flatten",
    "flip",
    "float",
    "full_like",
    "gather",
    "group_norm",
    "half",
    "huber_loss",
    "index_add",
    "index_copy",
    "index_fill",
    "index_select",
    "int",
    "isin",
    "kl_div",
    "kthvalue",
    "l1_loss",
    "layer_norm",
    "linalg_norm",
    "linalg_vector_norm",
    "linear",
    "log_softmax",
    "logcumsumexp",
    "logsumexp",
    "long",
    "matmul",
    "mm",
    "mse_loss",
    "mv",
    "nll_loss",
    "nll_loss_nd",
    "norm",
    "ones_like",
    "outer",
    "permute",
    "rand_like",
    "randn_like",
    "reshape",
    "rms_norm",
    "scaled_dot_product_attention",
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "searchsorted",
    "smooth_l1_loss",
    "softmax",
    "sort",
    "stack",
    "t",
    "take_along_dim",
    "tensordot",
    "to",
    "transpose",
    "tril",
    "triu",
    "unsqueeze",
    "view",
    "zeros_like",
];

/// Operations without a tag that look at contents to see whether these are right.
const CHECKED: &[&str] = &["corrcoef", "cov", "istft"];

/// Whether PyTorch's compilers would look at contents to see what a function gives, which they do not.
pub(in crate::domain::torch) fn is_left_by_compilers(name: &str) -> bool {
    CHECKED.contains(&name) || name == CTC_LOSS
}

/// Whether what it gives may lie in the memory of its operand.
pub(super) fn gives_views(name: &str) -> bool {
    const VIEWS: &[&str] = &[
        "detach",
        "expand",
        "flatten",
        "index",
        "narrow",
        "permute",
        "reshape",
        "t",
        "transpose",
        "unsqueeze",
        "view",
    ];
    VIEWS.contains(&name)
}

/// The operation's name as PyTorch's operators have it; `None`: it changes its operand.
pub(super) fn operation(target: &Bound<'_, PyAny>) -> Option<String> {
    let name = callee::name_of(target).into_owned();
    let dunder = name.strip_prefix("__").and_then(|name| name.strip_suffix("__"));
    if dunder.is_none() && name.ends_with('_') {
        return None;
    }
    let plain = dunder.unwrap_or(&name);
    let done_by = |name: &str| DONE_BY.iter().find(|(known, _)| *known == name).map(|(_, by)| (*by).to_owned());
    Some(done_by(plain).unwrap_or_else(|| plain.to_owned()))
}

impl Torch {
    /// What the tags of all overloads say; those of an operator whose operands are swapped are those of the operator.
    pub(super) fn tags_of(&self, py: Python<'_>, name: &str) -> PyResult<Tags> {
        if OTHERS.contains(&name) {
            return Ok(Tags { by_contents: false, elementwise: true });
        }
        if CHECKED.contains(&name) {
            return Ok(Tags { by_contents: true, elementwise: false });
        }
        let found = self.tags_of_packet(py, name)?;
        match (found, name.strip_prefix('r')) {
            (Some(found), _) => Ok(found),
            (None, Some(plain)) => {
                let done_by = DONE_BY.iter().find(|(known, _)| *known == plain).map_or(plain, |(_, by)| *by);
                Ok(self.tags_of_packet(py, done_by)?.unwrap_or_default())
            }
            (None, None) => Ok(Tags::default()),
        }
    }

    /// The same of an operation in place, or of an operator of that kind, by the name without what says so.
    pub(super) fn tags_in_place(&self, py: Python<'_>, name: &str) -> PyResult<Tags> {
        let done_by = DONE_BY.iter().find(|(known, _)| *known == name).map_or(name, |(_, by)| *by);
        self.tags_of(py, done_by)
    }

    /// The operators of PyTorch's own that have this name.
    fn packet<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let operators = self.module.bind(py).getattr(name!("ops"))?.getattr(name!("aten"))?;
        operators.getattr_opt(interned(py, name))
    }

    /// Whether a call does what an operator of PyTorch's own does that changes none of its operands, and nothing else.
    pub(super) fn is_plain_operator(&self, target: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Some(name) = operation(target) else { return Ok(false) };
        Ok(self.packet(target.py(), &name)?.is_some())
    }

    fn tags_of_packet(&self, py: Python<'_>, name: &str) -> PyResult<Option<Tags>> {
        let module = self.module.bind(py);
        let Some(packet) = self.packet(py, name)? else { return Ok(None) };
        let kinds = module.getattr(name!("Tag"))?;
        let mut found = Tags::default();
        for overload in packet.call_method0(name!("overloads"))?.try_iter()? {
            let overload = overload?.cast_into::<PyString>()?;
            if overload.to_string_lossy().ends_with("out") {
                continue;
            }
            let tags = packet.getattr(overload)?.getattr(name!("tags"))?;
            let has = |tag: &str| match kinds.getattr_opt(tag)? {
                Some(tag) => tags.contains(tag),
                None => PyResult::Ok(false),
            };
            found.by_contents |= has("dynamic_output_shape")? || has("data_dependent_output")?;
            found.elementwise |= has("pointwise")? || has("reduction")?;
        }
        Ok(Some(found))
    }
}
