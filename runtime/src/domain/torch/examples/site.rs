//! Where the tensors of a call are, and where its result will be.
use super::place::{Place, is_asked, is_device};
use super::placed::place_of;
use crate::domain::Operand;
use crate::domain::torch::graph_break::stop;
use crate::graph_break::Break;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};

/// Where the tensors of a call are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::domain::torch) enum Site {
    /// They are all there, as the result will be.
    One(Place),
    /// At different places: PyTorch says where the result will be, or refuses.
    Several,
}

impl Site {
    /// The one place; the CPU for what knows no other.
    pub(in crate::domain::torch) fn place(&self) -> Place {
        match self {
            Self::One(place) => place.clone(),
            Self::Several => Place::default(),
        }
    }
}

/// Methods whose names, or texts that they are given, say where the result will be.
const MOVES: &[&str] = &["cpu", "cuda", "xpu", "hpu", "ipu", "mtia", "type"];

/// Functions whose kernels lay out their results as they see fit: rules, and kernels of the `meta` device, know those of the CPU.
const BY_KERNEL: &[&str] = &[
    "affine_grid_generator",
    "batch_norm",
    "grid_sampler",
    "group_norm",
    "gru",
    "instance_norm",
    "layer_norm",
    "lstm",
    "multi_head_attention_forward",
    "native_batch_norm",
    "native_layer_norm",
    "rms_norm",
    "rnn_relu",
    "rnn_tanh",
    "scaled_dot_product_attention",
];

/// Whether kernels for devices lay out the result in different ways.
pub(in crate::domain::torch) fn is_by_kernel(name: &str) -> bool {
    BY_KERNEL.contains(&name) || name.starts_with("conv") || name.starts_with("cudnn_") || name.contains("_pool")
}

impl Site {
    /// Of a call.
    pub(in crate::domain::torch) fn of(
        name: &str,
        args: &[Operand<'_>],
        kwargs: &[(String, Operand<'_>)],
    ) -> Result<Self, Box<Break>> {
        let named = named_place(args, kwargs)?;
        if !is_asked() {
            return Ok(Self::One(Place::default()));
        }
        let mut places = Vec::new();
        args.iter().chain(kwargs.iter().map(|(_, value)| value)).try_for_each(|value| collect(value, &mut places))?;
        let has_tensors = !places.is_empty();
        places.extend(named);
        places.dedup();
        Ok(match places.as_slice() {
            [] => Self::One(Place::default()),
            [place] if !(has_tensors && MOVES.contains(&name)) => Self::One(place.clone()),
            _ => Self::Several,
        })
    }
}

/// The place that a call names for its result.
fn named_place(args: &[Operand<'_>], kwargs: &[(String, Operand<'_>)]) -> Result<Option<Place>, Box<Break>> {
    let positional = args.iter().filter(|arg| matches!(arg, Operand::Known(object) if is_device(object)));
    let keyword = kwargs.iter().filter(|(name, _)| name == "device").map(|(_, value)| value);
    for value in positional.chain(keyword) {
        match value {
            Operand::Known(object) if object.is_none() => {}
            Operand::Known(object) if is_name(object) => {
                return Place::named(object).map(Some).ok_or_else(|| unknown(object));
            }
            _ => return Err(stop("unsupported form of a PyTorch call", "device=", "The device is not known.")),
        }
    }
    Ok(None)
}

fn is_name(object: &Bound<'_, PyAny>) -> bool {
    is_device(object) || object.is_exact_instance_of::<PyString>() || object.is_exact_instance_of::<PyInt>()
}

fn unknown(device: &Bound<'_, PyAny>) -> Box<Break> {
    let why = "Tensors without contents are not recorded, nor those on the current device, where there are several.";
    stop("unsupported device", crate::ffi::types::text(device), why)
}

/// The break at a tensor of which nobody has told where it is.
pub(in crate::domain::torch) fn unplaced() -> Box<Break> {
    stop("tensor whose device is not known", "", "What gave it does not say where it will be.")
}

/// The places of the tensors of an operand.
fn collect(operand: &Operand<'_>, places: &mut Vec<Place>) -> Result<(), Box<Break>> {
    match operand {
        Operand::Graph { example, .. } => {
            let place = place_of(example);
            let place = place.ok_or_else(unplaced)?;
            if !places.contains(&place) {
                places.push(place);
            }
            Ok(())
        }
        Operand::Tuple(items) | Operand::List(items) => items.iter().try_for_each(|item| collect(item, places)),
        Operand::Slice(parts) => parts.iter().try_for_each(|part| collect(part, places)),
        Operand::Known(_) | Operand::Number { .. } | Operand::Foreign(_) => Ok(()),
    }
}
