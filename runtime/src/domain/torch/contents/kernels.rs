//! Whether PyTorch has a kernel for operands of such types: the `meta` device takes more than kernels do.
use crate::domain::Operand;
use crate::domain::torch::generators::without_generator;
use crate::domain::torch::library::Torch;
use crate::domain::torch::meta::Meta;
use crate::domain::torch::named::own_name;
use crate::domain::torch::shapes::Dtype;
use pyo3::prelude::*;

impl Torch {
    /// Whether a call that no contents make raise has a kernel for these operands: it is asked, once for each operation and types, on zeros.
    pub(in crate::domain::torch) fn takes<'py>(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> bool {
        let kwargs = &without_generator(kwargs);
        let mut types = Vec::new();
        args.iter()
            .chain(kwargs.iter().map(|(_, operand)| operand))
            .for_each(|operand| self.types(operand, &mut types));
        // What goes back through calls has theirs.
        if types.is_empty() || self.is_grad(target) {
            return true;
        }
        let call = format!("{} of {types:?}", own_name(target));
        if let Some(known) = self.rules.kernels.lock().ok().and_then(|known| known.get(&call).copied()) {
            return known;
        }
        let meta = Meta { torch: self, py: target.py() };
        let has = self.repeated_warnings.during(meta.py, || {
            meta.runs_on_sample(target, args, kwargs) || meta.by_kernel(target, args, kwargs).is_some()
        });
        if let Ok(mut known) = self.rules.kernels.lock() {
            known.insert(call, has);
        }
        has
    }

    /// The types of the tensors of an operand; `None`: no rule knows it.
    fn types(&self, operand: &Operand<'_>, found: &mut Vec<Option<Dtype>>) {
        match operand {
            Operand::Graph { example, .. } if self.is_tensor(example) => {
                found.push(self.rules.metadata(example).map(|tensor| tensor.dtype))
            }
            Operand::Tuple(items) | Operand::List(items) => items.iter().for_each(|item| self.types(item, found)),
            _ => {}
        }
    }
}

impl<'py> Meta<'_, 'py> {
    /// Whether it runs on small tensors that stand for its operands.
    fn runs_on_sample(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> bool {
        let Ok(sample) = self.sample(args, kwargs, ("zeros", 1, false)) else { return false };
        self.keeping_random(|| target.call(&sample.args, Some(&sample.named))).is_ok()
    }
}
