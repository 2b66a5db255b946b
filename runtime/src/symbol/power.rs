//! Powers of floats, as Python computes them.

/// The power; `None` where Python raises, or gives a complex number. CPython: Objects/floatobject.c, `float_pow`.
pub(super) fn power(base: f64, exponent: f64) -> Option<f64> {
    let is_odd = exponent.abs() % 2.0 == 1.0;
    if exponent == 0.0 {
        return Some(1.0);
    }
    if base.is_nan() || exponent.is_nan() {
        return Some(if base == 1.0 { 1.0 } else { f64::NAN });
    }
    if exponent.is_infinite() {
        let size = base.abs();
        let grows = (exponent > 0.0) == (size > 1.0);
        return Some(match size {
            1.0 => 1.0,
            _ if grows => f64::INFINITY,
            _ => 0.0,
        });
    }
    if base.is_infinite() {
        let size = if exponent > 0.0 { f64::INFINITY } else { 0.0 };
        return Some(if is_odd { size.copysign(base) } else { size });
    }
    if base == 0.0 {
        return (exponent > 0.0).then_some(if is_odd { base } else { 0.0 });
    }
    if base < 0.0 && exponent != exponent.floor() {
        return None;
    }
    let size = if base.abs() == 1.0 { 1.0 } else { base.abs().powf(exponent) };
    let fits = size.is_finite();
    fits.then_some(if base < 0.0 && is_odd { -size } else { size })
}

#[cfg(test)]
mod tests {
    use super::power;

    #[test]
    fn what_raises_or_is_complex_has_no_result() {
        assert_eq!(power(0.9, 2.0), Some(0.9_f64.powf(2.0)));
        assert_eq!(power(-2.0, 3.0), Some(-8.0));
        assert_eq!(power(-2.0, 0.5), None);
        assert_eq!(power(0.0, -1.0), None);
        assert_eq!(power(0.0, 0.0), Some(1.0));
        assert_eq!(power(10.0, 400.0), None);
        assert_eq!(power(10.0, -400.0), Some(0.0));
        assert_eq!(power(f64::NEG_INFINITY, -3.0).map(f64::to_bits), Some((-0.0_f64).to_bits()));
        assert_eq!(power(0.5, f64::NEG_INFINITY), Some(f64::INFINITY));
        assert!(power(f64::NAN, 0.5).is_some_and(f64::is_nan));
        assert_eq!(power(f64::NAN, 0.0), Some(1.0));
    }
}
