//! Where the tensors of a call are, and where its result will be.
use super::array_scalars::is_scalar;
use super::layout::layout_of;
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

/// Who says what a call gives.
pub(in crate::domain::torch) enum Way {
    /// Kernels of the `meta` device; the kernel itself where that lays out its result otherwise.
    Meta,
    /// PyTorch's fake tensors.
    Fakes,
    /// The kernel that will run.
    Kernel,
}

/// Methods whose names, or texts that they are given, say where the result will be.
const MOVES: &[&str] = &["cpu", "cuda", "xpu", "hpu", "ipu", "mtia", "type"];

/// Functions whose kernels lay out results as they see fit where an operand is not contiguous; so do those of convolutions, of transforms
/// of Fourier's, and of pools of lines and volumes. Kernels of the `meta` device do not know it.
const LAID_OUT: &[&str] = &["batch_norm", "group_norm", "native_batch_norm", "native_group_norm", "rrelu"];

/// The same elsewhere than on the CPU, whatever the operands.
pub(super) const ATTENTION: &str = "scaled_dot_product_attention";

/// Whether only the kernels themselves know how the result of a call will lie in memory.
pub(in crate::domain::torch) fn is_by_kernel(name: &str, place: &Place, args: &[Operand<'_>]) -> bool {
    if name == ATTENTION {
        return !place.is_cpu();
    }
    let chooses = LAID_OUT.contains(&name)
        || ["conv", "fft_"].iter().any(|begin| name.starts_with(begin))
        || ["pool1d", "pool3d"].iter().any(|end| name.ends_with(end));
    chooses && !args.iter().all(is_contiguous)
}

/// Of those, what kernels of the CPU do in ways that rules know, where these are sure.
const KNOWN: &[&str] = &["batch_norm", "conv1d", "conv2d", "conv_transpose1d", "conv_transpose2d", "group_norm"];

/// Whether rules may be asked about such a function.
pub(in crate::domain::torch) fn is_known(name: &str, place: &Place) -> bool {
    place.is_cpu() && KNOWN.contains(&name)
}

/// Whether what is, or holds, tensors lies in memory as their sizes say.
fn is_contiguous(operand: &Operand<'_>) -> bool {
    let example = match operand {
        Operand::Graph { example, .. } => example,
        Operand::Tuple(items) | Operand::List(items) => return items.iter().all(is_contiguous),
        _ => return true,
    };
    let Some(layout) = layout_of(example) else { return false };
    let mut next = 1;
    layout.sizes.iter().zip(layout.strides.iter()).rev().all(|(size, stride)| {
        let fits = *size == 1 || *stride == next;
        next *= size;
        fits
    })
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
    let why = "It is the current device, where there are several.";
    stop("unsupported device", crate::ffi::types::text(device), why)
}

/// The break at a tensor of which nobody has told where it is.
pub(in crate::domain::torch) fn unplaced() -> Box<Break> {
    stop("tensor whose device is not known", "", "What gave it does not say where it will be.")
}

/// The places of the tensors of an operand.
fn collect(operand: &Operand<'_>, places: &mut Vec<Place>) -> Result<(), Box<Break>> {
    match operand {
        Operand::Graph { example, .. } if is_scalar(example) => Ok(()),
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
