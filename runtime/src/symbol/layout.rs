//! How arrays lie in memory: their sizes, and the strides that follow from these.
use super::expression::Expressions;
use super::ids::ExpressionId;
use super::number::Number;
use super::operation::Operation;

/// Sizes and strides, a pair for each dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout<S> {
    /// How long each dimension is.
    pub sizes: Box<[S]>,
    /// How far its elements are apart.
    pub strides: Box<[S]>,
}

/// The layout of an array of which some sizes differ from call to call.
pub type SymbolicLayout = Layout<ExpressionId>;

/// How a stride is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stride {
    /// It is this number.
    Fixed(i64),
    /// The dimension lies around this one without a gap: its stride is the other one's, times the other one's size.
    Around(usize),
}

impl Layout<i64> {
    /// The dimensions, that with the greatest stride last.
    #[must_use]
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.sizes.len()).rev().collect();
        order.sort_by_key(|dim| self.strides.get(*dim).copied());
        order
    }

    /// How strides follow from sizes, as far as they do.
    #[must_use]
    pub fn plan(&self) -> Box<[Stride]> {
        let mut plan: Vec<Stride> = self.strides.iter().map(|stride| Stride::Fixed(*stride)).collect();
        for pair in self.order().windows(2) {
            let [inner, outer] = [pair[0], pair[1]];
            if self.stride_around(inner) == Some(self.strides[outer]) {
                plan[outer] = Stride::Around(inner);
            }
        }
        plan.into()
    }

    /// Whether the strides are as a plan says.
    #[must_use]
    pub fn follows(&self, plan: &[Stride]) -> bool {
        follow(plan, &self.sizes, &self.strides)
    }

    fn stride_around(&self, inner: usize) -> Option<i64> {
        stride_around(&self.sizes, &self.strides, inner)
    }
}

/// Whether strides follow from sizes as a plan says.
#[must_use]
pub fn follow(plan: &[Stride], sizes: &[i64], strides: &[i64]) -> bool {
    plan.len() == strides.len()
        && plan.iter().zip(strides).all(|(planned, stride)| match planned {
            Stride::Fixed(known) => known == stride,
            Stride::Around(inner) => stride_around(sizes, strides, *inner) == Some(*stride),
        })
}

/// The stride of a dimension that lies around this one without a gap; an empty one counts as one.
fn stride_around(sizes: &[i64], strides: &[i64], inner: usize) -> Option<i64> {
    strides.get(inner)?.checked_mul((*sizes.get(inner)?).max(1))
}

impl Expressions {
    /// The strides that follow from sizes, where those of this call are known.
    pub fn planned_strides(&mut self, known: &Layout<i64>, sizes: &[ExpressionId]) -> Option<Box<[ExpressionId]>> {
        let mut number = |number: i64| self.constant(Number::Integer(number));
        let one = number(1);
        let mut strides: Vec<ExpressionId> = known.strides.iter().map(|stride| number(*stride)).collect();
        let plan = known.plan();
        for outer in known.order() {
            if let Stride::Around(inner) = *plan.get(outer)? {
                let size = if *known.sizes.get(inner)? == 0 { one } else { *sizes.get(inner)? };
                let around = self.apply(Operation::Multiply, &[*strides.get(inner)?, size])?;
                *strides.get_mut(outer)? = around;
            }
        }
        Some(strides.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(sizes: &[i64], strides: &[i64]) -> Layout<i64> {
        Layout { sizes: sizes.into(), strides: strides.into() }
    }

    #[test]
    fn strides_follow_from_sizes() {
        let plain = layout(&[2, 3, 4], &[12, 4, 1]);
        assert_eq!(plain.plan()[..], [Stride::Around(1), Stride::Around(2), Stride::Fixed(1)]);
        assert!(layout(&[5, 6, 7], &[42, 7, 1]).follows(&plain.plan()));
        assert!(!layout(&[5, 6, 7], &[42, 8, 1]).follows(&plain.plan()));
        let part = layout(&[2, 3, 4], &[36, 12, 1]);
        assert_eq!(part.plan()[..], [Stride::Around(1), Stride::Fixed(12), Stride::Fixed(1)]);
        let repeated = layout(&[2, 3], &[0, 1]);
        assert_eq!(repeated.plan()[..], [Stride::Fixed(0), Stride::Fixed(1)]);
    }
}
