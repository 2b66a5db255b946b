//! Comparisons of symbolic numbers: decided by what is known, or by guards.
use crate::domain::Callee;
use crate::guard::source::Source;
use crate::guard::{Check, NumberCondition};
use crate::symbol::{Comparison, Condition, Decision, Kind, Number, Relation, Symbol};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::ValueId;

impl<'py> Tracer<'py> {
    /// Whether a relation holds; a guard says so where it depends on what comes in. `None` where no guard could.
    pub(super) fn relation_truth(&mut self, relation: Relation, why: &'static str) -> Option<bool> {
        self.relation_truth_for(relation, why, None)
    }

    /// The same, where an operation looks at it.
    pub(super) fn relation_truth_for(
        &mut self,
        relation: Relation,
        why: &'static str,
        operation: Option<&Callee<'py>>,
    ) -> Option<bool> {
        let numbers = &mut self.state.numbers;
        let fits = relation.left == relation.right;
        let open = match if fits { Decision::Open(relation) } else { numbers.expressions.decide(relation) } {
            Decision::Known(truth) => return Some(truth),
            Decision::Open(open) => open,
        };
        let mut symbols = Vec::new();
        let hints = |symbol: Symbol| numbers.inputs.get(symbol.0 as usize).map(|(_, hint)| *hint);
        let condition = |relation| Condition::new(&numbers.expressions, relation);
        let opposite = Relation { comparison: open.comparison.opposite(), ..open };
        let (truth, relation) = match condition(open).holds(&hints) {
            true => (true, open),
            false if !fits && condition(opposite).holds(&hints) => (false, opposite),
            false => return None,
        };
        let condition = condition(relation);
        if numbers.relations.insert(relation) {
            condition.symbols(&mut symbols);
            let mut sources = symbols.iter().filter_map(|symbol| numbers.inputs.get(symbol.0 as usize));
            let source = match symbols.as_slice() {
                [_] => sources.next().map(|(source, _)| source.clone()),
                _ => Some(Source::Together(sources.map(|(source, _)| source.clone()).collect())),
            };
            let check = Check::Domain(Box::new(NumberCondition::new(condition, symbols.into())));
            self.guard_for(source?, check, why, operation.map(Callee::name));
        }
        Some(truth)
    }

    /// A comparison of numbers of which one is symbolic; `None`: it is none, or no guard can say what it gives.
    pub(crate) fn compare_numbers(&mut self, name: &str, operands: &[ValueId]) -> Traced<Option<ValueId>> {
        let (Some(comparison), [left, right]) = (Comparison::named(name), operands) else { return Ok(None) };
        if !self.is_symbolic(*left) && !self.is_symbolic(*right) {
            return Ok(None);
        }
        if let Some(truth) = self.unread_comparison(comparison, operands)? {
            return Ok(Some(truth));
        }
        if let Some(truth) = self.differs_in_kind(comparison, *left, *right)? {
            return Ok(Some(self.boolean(truth)));
        }
        let (Some(left), Some(right)) = (self.numeral(*left)?, self.numeral(*right)?) else { return Ok(None) };
        let (Some(left), Some(right)) = (left.expression, right.expression) else { return Ok(None) };
        let truth = match left == right && self.state.numbers.expressions.kind(left) == Kind::Integer {
            true => Some(comparison.holds_of_equals()),
            false => self.relation_truth(Relation { comparison, left, right }, "the trace branched on the comparison"),
        };
        Ok(truth.map(|truth| self.boolean(truth)))
    }

    /// Whether a number is equal to an object that is no number: of a class of C that leaves the comparison to identity.
    fn differs_in_kind(&mut self, comparison: Comparison, left: ValueId, right: ValueId) -> Traced<Option<bool>> {
        const OTHERS: [&str; 8] = ["NoneType", "str", "bytes", "tuple", "list", "dict", "set", "ellipsis"];
        let unequal = match comparison {
            Comparison::Equal => false,
            Comparison::NotEqual => true,
            _ => return Ok(None),
        };
        for value in [left, right] {
            let class = self.class_of(value)?;
            if OTHERS.contains(&&*crate::ffi::types::c_name(&class)) {
                return Ok(Some(unequal));
            }
        }
        Ok(None)
    }

    /// The truth of a computed number.
    pub(crate) fn number_truth(&mut self, value: ValueId) -> Traced<Option<bool>> {
        if !self.is_symbolic(value) {
            return Ok(None);
        }
        if let Some(truth) = self.expected_truth(value) {
            return Ok(Some(truth));
        }
        self.refuse_unread(value)?;
        let Some(left) = self.numeral(value)?.and_then(|numeral| numeral.expression) else { return Ok(None) };
        let right = self.state.numbers.expressions.constant(Number::Integer(0));
        let relation = Relation { comparison: Comparison::NotEqual, left, right };
        Ok(self.relation_truth(relation, "the trace branched on the truth"))
    }
}
