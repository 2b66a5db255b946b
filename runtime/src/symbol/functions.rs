//! Functions of `math` that make a float of a number: C's library has them.
use super::number::{Comparison, Number};

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Function {
    Logarithm,
    Logarithm2,
    Logarithm10,
    Exponential,
    Sine,
    Cosine,
    ArcTangent,
    HyperbolicTangent,
}

impl Function {
    /// By the name in `math`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "log" => Self::Logarithm,
            "log2" => Self::Logarithm2,
            "log10" => Self::Logarithm10,
            "exp" => Self::Exponential,
            "sin" => Self::Sine,
            "cos" => Self::Cosine,
            "atan" => Self::ArcTangent,
            "tanh" => Self::HyperbolicTangent,
            _ => return None,
        })
    }

    /// The name in `math`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Logarithm => "log",
            Self::Logarithm2 => "log2",
            Self::Logarithm10 => "log10",
            Self::Exponential => "exp",
            Self::Sine => "sin",
            Self::Cosine => "cos",
            Self::ArcTangent => "atan",
            Self::HyperbolicTangent => "tanh",
        }
    }

    /// How the operand must compare with a number, so that Python does not raise.
    #[must_use]
    pub fn domain(self) -> &'static [(Comparison, Number)] {
        const LARGE: f64 = 1e300;
        match self {
            Self::Logarithm | Self::Logarithm2 | Self::Logarithm10 => &[(Comparison::Greater, Number::Integer(0))],
            Self::Exponential => &[(Comparison::LessOrEqual, Number::Integer(700))],
            // Infinities have none.
            Self::Sine | Self::Cosine => {
                &[(Comparison::LessOrEqual, Number::Float(LARGE)), (Comparison::GreaterOrEqual, Number::Float(-LARGE))]
            }
            Self::ArcTangent | Self::HyperbolicTangent => &[],
        }
    }

    /// What it gives; `None` where Python raises.
    #[must_use]
    pub fn apply(self, operand: f64) -> Option<f64> {
        let fits = |(comparison, bound): &(Comparison, Number)| comparison.holds(Number::Float(operand), *bound);
        if !self.domain().iter().all(|bound| fits(bound) == Some(true)) {
            return None;
        }
        Some(match self {
            Self::Logarithm => operand.ln(),
            Self::Logarithm2 => operand.log2(),
            Self::Logarithm10 => operand.log10(),
            Self::Exponential => operand.exp(),
            Self::Sine => operand.sin(),
            Self::Cosine => operand.cos(),
            Self::ArcTangent => operand.atan(),
            Self::HyperbolicTangent => operand.tanh(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_raises_has_no_result() {
        assert_eq!(Function::Logarithm2.apply(8.0), Some(3.0));
        assert_eq!(Function::Logarithm.apply(0.0), None);
        assert_eq!(Function::Exponential.apply(1000.0), None);
        assert_eq!(Function::Exponential.apply(-1000.0), Some(0.0));
        assert_eq!(Function::Sine.apply(f64::INFINITY), None);
        assert_eq!(Function::HyperbolicTangent.apply(f64::INFINITY), Some(1.0));
        for name in ["log", "log2", "log10", "exp", "sin", "cos", "atan", "tanh"] {
            assert_eq!(Function::named(name).map(Function::name), Some(name));
        }
    }
}
