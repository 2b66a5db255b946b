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
    TwoTo,
    ExponentialLessOne,
    LogarithmOfOneMore,
    CubeRoot,
    Tangent,
    ArcSine,
    ArcCosine,
    HyperbolicSine,
    HyperbolicCosine,
    Absolute,
    Degrees,
    Radians,
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
            "exp2" => Self::TwoTo,
            "expm1" => Self::ExponentialLessOne,
            "log1p" => Self::LogarithmOfOneMore,
            "cbrt" => Self::CubeRoot,
            "tan" => Self::Tangent,
            "asin" => Self::ArcSine,
            "acos" => Self::ArcCosine,
            "sinh" => Self::HyperbolicSine,
            "cosh" => Self::HyperbolicCosine,
            "fabs" => Self::Absolute,
            "degrees" => Self::Degrees,
            "radians" => Self::Radians,
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
            Self::TwoTo => "exp2",
            Self::ExponentialLessOne => "expm1",
            Self::LogarithmOfOneMore => "log1p",
            Self::CubeRoot => "cbrt",
            Self::Tangent => "tan",
            Self::ArcSine => "asin",
            Self::ArcCosine => "acos",
            Self::HyperbolicSine => "sinh",
            Self::HyperbolicCosine => "cosh",
            Self::Absolute => "fabs",
            Self::Degrees => "degrees",
            Self::Radians => "radians",
        }
    }

    /// How the operand must compare with a number, so that Python does not raise.
    #[must_use]
    pub fn domain(self) -> &'static [(Comparison, Number)] {
        const LARGE: f64 = 1e300;
        match self {
            Self::Logarithm | Self::Logarithm2 | Self::Logarithm10 => &[(Comparison::Greater, Number::Integer(0))],
            Self::Exponential | Self::ExponentialLessOne | Self::TwoTo => {
                &[(Comparison::LessOrEqual, Number::Integer(700))]
            }
            Self::HyperbolicSine | Self::HyperbolicCosine => {
                &[(Comparison::LessOrEqual, Number::Integer(700)), (Comparison::GreaterOrEqual, Number::Integer(-700))]
            }
            Self::ArcSine | Self::ArcCosine => {
                &[(Comparison::LessOrEqual, Number::Integer(1)), (Comparison::GreaterOrEqual, Number::Integer(-1))]
            }
            Self::LogarithmOfOneMore => &[(Comparison::Greater, Number::Integer(-1))],
            // Infinities have none.
            Self::Sine | Self::Cosine | Self::Tangent => {
                &[(Comparison::LessOrEqual, Number::Float(LARGE)), (Comparison::GreaterOrEqual, Number::Float(-LARGE))]
            }
            Self::ArcTangent
            | Self::HyperbolicTangent
            | Self::CubeRoot
            | Self::Absolute
            | Self::Degrees
            | Self::Radians => &[],
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
            // CPython: Modules/mathmodule.c, `m_log1p`: a zero keeps its sign.
            Self::LogarithmOfOneMore if operand == 0.0 => operand,
            Self::TwoTo => operand.exp2(),
            Self::ExponentialLessOne => operand.exp_m1(),
            Self::LogarithmOfOneMore => operand.ln_1p(),
            Self::CubeRoot => operand.cbrt(),
            Self::Tangent => operand.tan(),
            Self::ArcSine => operand.asin(),
            Self::ArcCosine => operand.acos(),
            Self::HyperbolicSine => operand.sinh(),
            Self::HyperbolicCosine => operand.cosh(),
            Self::Absolute => operand.abs(),
            // CPython: Modules/mathmodule.c, `math_degrees_impl`, `math_radians_impl`.
            Self::Degrees => operand * (180.0 / std::f64::consts::PI),
            Self::Radians => operand * (std::f64::consts::PI / 180.0),
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
        for name in [
            "log", "log2", "log10", "exp", "sin", "cos", "atan", "tanh", "exp2", "expm1", "log1p", "cbrt", "tan",
            "asin", "acos", "sinh", "cosh", "fabs", "degrees", "radians",
        ] {
            assert_eq!(Function::named(name).map(Function::name), Some(name));
        }
    }
}
