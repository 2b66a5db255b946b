//! What operations of PyTorch do besides giving something new: their schemas say what they change and share; a table says which of them
//! raise for no contents.
use super::super::library::Torch;
use super::super::named::module_of;
use super::super::own::{
    ADDRESS_OF, BYTES_OF, CLEAR_GRADIENT, EXTREMES, GRADIENT_OF, MAKES, OFFSET_OF, PARAMETER_OF, SET_DATA,
    STORAGE_ADDRESS_OF, VERSION_OF, is_check, is_named, is_through_hook,
};
use super::super::thread::modes;
use super::indices::{are_chosen_by_truths, raises_by};
use super::sure::SURE;
use crate::domain::torch::named::own_name;
use crate::domain::{CallEffects, NodeEffects, Operand};
use crate::names::{interned, name};
use pyo3::prelude::*;
use pyo3::types::{PyModule, PyString};

/// Gives the state of the generator of random numbers.
pub(in crate::domain::torch) const GET_STATE: &str = "get_rng_state";
/// Sets it to such a state.
pub(in crate::domain::torch) const SET_STATE: &str = "set_rng_state";
/// Gives indices that a generator of its own draws.
pub(in crate::domain::torch) const DRAWN_INDICES: &str = "drawn_indices";
/// Sets it by a number.
pub(in crate::domain::torch) const SEED_STATE: &str = "seed_generators";

/// The function that sets the attribute of what is known to be a leaf: it raises nothing.
pub(in crate::domain::torch) const SET_REQUIRES_GRAD: &str = "set_requires_grad";

/// The method that sees a tensor as an instance of another class.
pub(in crate::domain::torch) const AS_SUBCLASS: &str = "as_subclass";

/// What makes an array of a tensor in the same memory, and the other way round.
const OF_ARRAYS: &[&str] = &["numpy", "from_numpy", "as_tensor", "asarray"];

/// Operations that raise only where an index is a tensor: a number's range is checked when the trace is made.
const INDEXED: &[&str] = &["getitem", "setitem"];

/// What gives attributes, and those that are views: only their metadata can make them raise.
const ATTRIBUTE: &str = "getattr";
const VIEWS: &[&str] = &["T", "mT", "H", "mH", "real", "imag", "data"];

/// Functions of this package that set a mode, and raise nothing.
const MODES: &[&str] = &["overrides_on", "subclass_overrides_off", "overrides_off"];

/// Functions that count how deep a mode is nested.
const NESTING: &[&str] = &["autocast_increment_nesting", "autocast_decrement_nesting"];

/// What counts extremes, scales and zero points, each an operand that it changes, and rounds by them.
pub(in crate::domain::torch) const OBSERVES: &str = "fused_moving_avg_obs_fake_quant";

/// Operations that change operands beside their first one, and which.
const WRITES: &[(&str, &[usize])] = &[("batch_norm", &[3, 4]), ("instance_norm", &[3, 4]), (OBSERVES, &[3, 4, 5, 6])];

/// What a node does that calls this.
pub(in crate::domain::torch) fn of(torch: &Torch, target: &Bound<'_, PyAny>) -> NodeEffects {
    if is_check(target) {
        return NodeEffects {
            raises: true,
            shares_first: false,
            is_unknown: false,
            draws: false,
            ..NodeEffects::unknown()
        };
    }
    if is_through_hook(target) || EXTREMES.iter().any(|name| is_named(target, name)) {
        return NodeEffects { raises: false, draws: false, ..NodeEffects::unknown() };
    }
    // It was tried on what stands for its operands, as `backward` is.
    if torch.is_grad(target) && !torch.is_anomaly_looked_for(target.py()).unwrap_or(true) {
        return NodeEffects { raises: false, draws: false, keeps_contents: true, ..NodeEffects::unknown() };
    }
    if torch.is_backward(target) || is_of_numbers(target) {
        return NodeEffects {
            raises: false,
            shares_first: false,
            is_unknown: false,
            draws: false,
            ..NodeEffects::unknown()
        };
    }
    let name = own_name(target).into_owned();
    if let Some(known) = torch.rules.effects.lock().ok().and_then(|known| known.get(&name).cloned()) {
        return known;
    }
    let found = look_up(torch.module.bind(target.py()), &name);
    if let Ok(mut known) = torch.rules.effects.lock() {
        known.insert(name, found.clone());
    }
    found
}

/// What a call with these operands does.
pub(in crate::domain::torch) fn of_call(torch: &Torch, target: &Bound<'_, PyAny>, args: &[Operand<'_>]) -> CallEffects {
    let runs_program = torch.is_backward(target) || torch.is_of_program(target);
    let own = own_name(target);
    // Sizes are compared before anything is written.
    let is = |name: &str| own == name && are_chosen_by_truths(&torch.rules, args);
    let (copies, raises_first) = (is("getitem"), is("setitem"));
    // A number is written wherever it is true; how long a mask is was compared before.
    let draws_all = args.len() == 1 && own == "random_";
    let is_view = own == ATTRIBUTE
        && matches!(args, [_, Operand::Known(name)] if VIEWS.iter().any(|view| name.eq(view).unwrap_or(false)));
    let is_sure =
        raises_first && matches!(args, [_, _, Operand::Known(_)]) || draws_all || is_view || is_by_number(&own, args);
    CallEffects { copies, raises_first, runs_program, is_sure }
}

/// Whether it divides by a number that is known, and not zero.
fn is_by_number(own: &str, args: &[Operand<'_>]) -> bool {
    let divides = matches!(base(own), "remainder" | "mod" | "fmod" | "floor_divide" | "floordiv");
    divides && matches!(args, [_, Operand::Known(number)] if number.is_truthy().unwrap_or(false))
}

/// Whether a function works on numbers and their texts.
fn is_of_numbers(target: &Bound<'_, PyAny>) -> bool {
    module_of(target).is_some_and(|module| module == "slotrt._numbers")
}

/// Whether an object remembers what it was computed from.
pub(in crate::domain::torch) fn keeps_history(torch: &Torch, example: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = example.py();
    Ok(example.getattr(name!("requires_grad"))?.is_truthy()?
        && torch.module.bind(py).call_method0(name!("is_grad_enabled"))?.is_truthy()?
        && !torch.rules.below_gradients.is_now(py)?)
}

/// Whether a tensor was made in inference mode, which is off now.
pub(in crate::domain::torch) fn is_of_inference(
    module: &Bound<'_, PyModule>,
    tensor: &Bound<'_, PyAny>,
) -> PyResult<bool> {
    Ok(!module.call_method0(name!("is_inference_mode_enabled"))?.is_truthy()?
        && tensor.call_method0(name!("is_inference"))?.is_truthy()?)
}

/// PyTorch's check of a truth, which backends compile.
const CHECK: &str = "_assert_async";

/// What copies numbers into a new tensor.
const MAKES_TENSOR: &str = "tensor";

fn look_up(module: &Bound<'_, PyModule>, name: &str) -> NodeEffects {
    let plain = NodeEffects {
        raises: false,
        checks: false,
        shares_first: false,
        is_unknown: false,
        keeps_contents: false,
        gives_several: false,
        draws: false,
        nests: NESTING.contains(&name),
        writes: Vec::new(),
        raises_by: None,
    };
    if modes::is_setter(name) || MODES.contains(&name) {
        return plain;
    }
    if name == AS_SUBCLASS || OF_ARRAYS.contains(&name) {
        return NodeEffects { shares_first: true, ..plain };
    }
    if [SET_REQUIRES_GRAD, GRADIENT_OF, PARAMETER_OF].contains(&name) {
        return NodeEffects { shares_first: true, ..plain };
    }
    match name {
        GET_STATE | DRAWN_INDICES | MAKES | CLEAR_GRADIENT | ADDRESS_OF | OFFSET_OF | STORAGE_ADDRESS_OF | BYTES_OF => {
            return plain;
        }
        CHECK => return NodeEffects { raises: true, checks: true, ..plain },
        ATTRIBUTE => return NodeEffects { raises: true, shares_first: true, ..plain },
        // Tensors of inference mode do not count.
        VERSION_OF | MAKES_TENSOR => return NodeEffects { raises: true, ..plain },
        SET_DATA => return NodeEffects { draws: false, raises: false, ..NodeEffects::unknown() },
        SET_STATE | SEED_STATE => return NodeEffects { draws: true, raises: name == SET_STATE, ..plain },
        _ => {}
    }
    let base = base(name);
    if INDEXED.contains(&base) {
        return NodeEffects { shares_first: true, raises_by: raises_by(base), ..plain };
    }
    let raises = !is_sure(base);
    let writes = WRITES.iter().find(|(known, _)| *known == base).map(|(_, at)| at.to_vec()).unwrap_or_default();
    match by_schema(module, name, base) {
        Ok(Some(Schemas { shares_first, gives_several, draws })) => {
            NodeEffects { raises, shares_first, gives_several, draws, writes, raises_by: raises_by(base), ..plain }
        }
        // An operator of Python.
        _ if !raises => NodeEffects { shares_first: true, ..plain },
        _ => NodeEffects::unknown(),
    }
}

fn is_sure(base: &str) -> bool {
    base.starts_with("_foreach_")
        || base.starts_with("_fused_")
        || SURE.contains(&base)
        || base.strip_prefix('i').is_some_and(|base| SURE.contains(&base))
}

/// `add` of `add_`, of `__add__` and of `__radd__`.
pub(in crate::domain::torch) fn base(name: &str) -> &str {
    let dunder = name.strip_prefix("__").and_then(|name| name.strip_suffix("__"));
    let base = dunder.unwrap_or(name).trim_end_matches('_');
    match dunder.and_then(|_| base.strip_prefix('r')) {
        Some(reflected) if SURE.contains(&reflected) => reflected,
        _ => base,
    }
}

/// What the schemas of all overloads of an operation say.
struct Schemas {
    shares_first: bool,
    gives_several: bool,
    draws: bool,
}

fn by_schema(module: &Bound<'_, PyModule>, name: &str, base: &str) -> PyResult<Option<Schemas>> {
    let py = module.py();
    let operators = module.getattr(name!("ops"))?.getattr(name!("aten"))?;
    let find = |name: &str| operators.getattr_opt(interned(py, name));
    let Some(packet) = find(name)?.map_or_else(|| find(base), |found| Ok(Some(found)))? else { return Ok(None) };
    let tags = module.getattr(name!("Tag"))?;
    let seeded = tags.getattr(name!("nondeterministic_seeded"))?;
    let perhaps = tags.getattr_opt(name!("maybe_aliasing_or_mutating"))?;
    let mut found = Schemas { shares_first: false, gives_several: false, draws: false };
    for overload in packet.call_method0(name!("overloads"))?.try_iter()? {
        let overload = overload?;
        let overload = overload.cast::<PyString>()?;
        // No graph says where results are to go.
        if overload.to_string_lossy().ends_with("out") {
            continue;
        }
        let overload = packet.getattr(overload)?;
        let tags = overload.getattr(name!("tags"))?;
        found.draws |= tags.contains(&seeded)?;
        found.shares_first |= perhaps.as_ref().map_or(Ok(true), |perhaps| tags.contains(perhaps))?;
        let schema = overload.getattr(name!("_schema"))?;
        for result in schema.getattr(name!("returns"))?.try_iter()? {
            let result = result?;
            let shares = !result.getattr(name!("alias_info"))?.is_none();
            found.shares_first |= shares;
            found.gives_several |= shares && is_of_tensors(&result.getattr(name!("type"))?)?;
        }
    }
    Ok(Some(found))
}

/// Whether a type of a schema is that of lists of tensors.
fn is_of_tensors(kind: &Bound<'_, PyAny>) -> PyResult<bool> {
    let is = |kind: &Bound<'_, PyAny>, name: &str| kind.call_method0(name!("kind"))?.eq(name);
    Ok(is(kind, "ListType")? && is(&kind.call_method0(name!("getElementType"))?, "TensorType")?)
}
