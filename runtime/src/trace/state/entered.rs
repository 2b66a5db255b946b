//! Which generated functions traces have run, in the whole process: tests tell by it what they reach.
use generated::capi::FunctionId;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Words of 64 functions.
const WORDS: usize = FunctionId::ALL.len().div_ceil(64);

/// One bit for each function.
#[derive(Debug)]
pub(crate) struct Entered([AtomicU64; WORDS]);

impl Default for Entered {
    fn default() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }
}

/// The word of a function, and its bit in that.
fn place(function: FunctionId) -> (usize, u64) {
    let number = function as usize;
    (number / 64, 1 << (number % 64))
}

impl Entered {
    /// A trace runs the function.
    pub(crate) fn add(&self, function: FunctionId) {
        let (at, bit) = place(function);
        if let Some(word) = self.0.get(at).filter(|word| word.load(Relaxed) & bit == 0) {
            word.fetch_or(bit, Relaxed);
        }
    }

    /// What was run since this was asked last.
    pub(crate) fn take(&self) -> Vec<FunctionId> {
        let words = self.0.each_ref().map(|word| word.swap(0, Relaxed));
        let is_set = |function: &FunctionId| {
            let (at, bit) = place(*function);
            words.get(at).is_some_and(|word| word & bit != 0)
        };
        FunctionId::ALL.iter().copied().filter(is_set).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_told_once() {
        let entered = Entered::default();
        let last = FunctionId::ALL[FunctionId::ALL.len() - 1];
        [FunctionId::PyNumber_Or, last, last].into_iter().for_each(|function| entered.add(function));
        assert_eq!(entered.take(), [FunctionId::PyNumber_Or, last]);
        assert_eq!(entered.take(), []);
    }
}
