//! Between which numbers those lie that an array holds, or a number that contents decide.

/// The smallest float above zero.
const TINIEST: f64 = 5e-324;

/// Between these no power is rounded to nothing or to an infinity.
const POWERS: std::ops::Range<f64> = 1e-290..1e300;

/// Integers up to here are floats, too.
const WHOLE: f64 = 9_007_199_254_740_992.0;

/// Finite numbers, and how small they are at least in size where they are not zero. `open`: there may be others that are not finite,
/// infinities with the sign of a number of the range, or no numbers at all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The least number.
    pub least: f64,
    /// The greatest number.
    pub most: f64,
    /// What no number but zero is closer to zero than.
    pub smallest: f64,
    /// Whether some may not be finite.
    pub open: bool,
}

impl Range {
    /// Integers from `least` to `most`.
    #[must_use]
    pub fn integers(least: i64, most: i64) -> Self {
        Self { least: least as f64, most: most as f64, smallest: 1.0, open: false }.in_order()
    }

    /// A number that is known.
    #[must_use]
    pub fn of(number: f64) -> Option<Self> {
        let smallest = if number == 0.0 { 1.0 } else { number.abs() };
        number.is_finite().then_some(Self { least: number, most: number, smallest, open: false })
    }

    /// Floats of 32 bits, and of fewer.
    #[must_use]
    pub fn singles() -> Self {
        let most = f64::from(f32::MAX);
        Self { least: -most, most, smallest: f64::from(f32::from_bits(1)), open: true }
    }

    fn in_order(self) -> Self {
        Self { least: self.least.min(self.most), most: self.least.max(self.most), ..self }
    }

    fn checked(self) -> Option<Self> {
        (self.least.is_finite() && self.most.is_finite()).then_some(self)
    }

    /// How far from zero a number may be.
    #[must_use]
    pub fn size(&self) -> f64 {
        self.least.abs().max(self.most.abs())
    }

    /// Whether sums and products of integers in it are exact.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        !self.open && self.size() < WHOLE
    }

    /// The sum.
    #[must_use]
    pub fn plus(self, other: Self) -> Option<Self> {
        let alike = self.least >= 0.0 && other.least >= 0.0 || self.most <= 0.0 && other.most <= 0.0;
        let smallest = if alike { self.smallest.min(other.smallest) } else { TINIEST };
        let open = self.open || other.open;
        Self { least: self.least + other.least, most: self.most + other.most, smallest, open }.checked()
    }

    /// The negative.
    #[must_use]
    pub fn negative(self) -> Self {
        Self { least: -self.most, most: -self.least, ..self }
    }

    /// The number without its sign.
    #[must_use]
    pub fn absolute(self) -> Self {
        let least = if self.least <= 0.0 && self.most >= 0.0 { 0.0 } else { self.least.abs().min(self.most.abs()) };
        Self { least, most: self.size(), ..self }
    }

    /// The product.
    #[must_use]
    pub fn times(self, other: Self) -> Option<Self> {
        let products =
            [self.least * other.least, self.least * other.most, self.most * other.least, self.most * other.most];
        let least = products.iter().copied().fold(f64::INFINITY, f64::min);
        let most = products.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let smallest = (self.smallest * other.smallest).max(TINIEST);
        Self { least, most, smallest, open: self.open || other.open }.checked()
    }

    /// The quotient by a number that is known.
    #[must_use]
    pub fn divided_by(self, other: Self) -> Option<Self> {
        let divisor = Some(other.least).filter(|divisor| *divisor == other.most && *divisor != 0.0 && !other.open)?;
        let smallest = (self.smallest / divisor.abs()).max(TINIEST);
        Self { least: self.least / divisor, most: self.most / divisor, smallest, open: self.open }.in_order().checked()
    }

    /// The power, where it is a float, and Python raises for no number of the range.
    #[must_use]
    pub fn power(self, exponent: f64) -> Option<Self> {
        let is_whole = exponent.fract() == 0.0;
        let (smallest, most) = (self.smallest.powf(exponent), self.size().powf(exponent));
        let fits = most == 0.0 && self.size() == 0.0 || POWERS.contains(&smallest) && POWERS.contains(&most);
        if exponent <= 0.0 || !fits || !is_whole && self.least < 0.0 {
            return None;
        }
        let is_odd = is_whole && exponent % 2.0 != 0.0;
        let least = if is_odd && self.least < 0.0 { -most } else { 0.0 };
        Some(Self { least, most, smallest, open: self.open })
    }

    /// The square root, where Python raises for no number of the range.
    #[must_use]
    pub fn root(self) -> Option<Self> {
        let root = Self { least: self.least.sqrt(), most: self.most.sqrt(), smallest: self.smallest.sqrt(), ..self };
        (self.least >= 0.0).then_some(root)
    }

    /// The least of one of each, or the greatest.
    #[must_use]
    pub fn extreme(self, other: Self) -> Self {
        Self {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
            smallest: self.smallest.min(other.smallest),
            open: self.open || other.open,
        }
    }
}

/// What a library knows of the range of what a call gives.
#[derive(Clone, Copy, Debug)]
pub enum RangeRule {
    /// It lies there.
    Known(Range),
    /// It is that of the first operand.
    OfFirst,
    /// It is that of all items of the first operand.
    OfItems,
}

#[cfg(test)]
mod tests {
    use super::Range;

    #[test]
    fn squares_of_singles_and_their_roots_are_floats() {
        let squares = Range::singles().power(2.0).and_then(|square| square.plus(square));
        assert!(squares.is_some_and(|squares| squares.least == 0.0 && squares.power(0.5).is_some()));
        assert!(Range::singles().power(0.5).is_none());
        assert!(Range::singles().power(9.0).is_none());
        assert!(Range::singles().power(-1.0).is_none());
    }

    #[test]
    fn differences_may_be_tiny() {
        let ones = Range { smallest: 0.5, ..Range::integers(-1, 1) };
        assert!(ones.plus(ones).is_some_and(|sum| sum.power(2.0).is_none() && sum.least == -2.0));
        assert_eq!(Range::of(0.0).and_then(|zero| zero.power(0.5)).map(|root| root.most), Some(0.0));
    }
}
