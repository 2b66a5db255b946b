//! Division as Python does it.

pub(super) fn common_divisor(left: i64, right: i64) -> Option<i64> {
    let (mut left, mut right) = (left.unsigned_abs(), right.unsigned_abs());
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left.try_into().ok()
}

pub(super) fn common_multiple(left: i64, right: i64) -> Option<i64> {
    match common_divisor(left, right)? {
        0 => Some(0),
        divisor => (left / divisor).checked_mul(right)?.checked_abs(),
    }
}

pub(super) fn floor_divide(left: i64, right: i64) -> Option<i64> {
    let quotient = left.checked_div(right)?;
    let rounds_up = left % right != 0 && (left < 0) != (right < 0);
    Some(if rounds_up { quotient - 1 } else { quotient })
}

/// Quotient and remainder. CPython: `float_floor_div`, `float_rem`.
pub(super) fn divide(left: f64, right: f64) -> (f64, f64) {
    let mut rest = left % right;
    let mut quotient = (left - rest) / right;
    if rest == 0.0 {
        rest = 0.0_f64.copysign(right);
    } else if (right < 0.0) != (rest < 0.0) {
        rest += right;
        quotient -= 1.0;
    }
    let floor = if quotient == 0.0 {
        0.0_f64.copysign(left / right)
    } else {
        let floor = quotient.floor();
        if quotient - floor > 0.5 { floor + 1.0 } else { floor }
    };
    (floor, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_divide_as_in_c() {
        let (quotient, rest) = divide(-0.5, 3.0);
        assert_eq!((quotient, rest), (-1.0, 2.5));
        assert!(divide(6.0, -3.0).1.is_sign_negative());
        assert!(divide(-0.0, 3.0).0.is_sign_negative());
    }
}
