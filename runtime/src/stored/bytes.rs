//! Numbers and texts as bytes. What is read is checked against the end: no bytes make a reader fail otherwise than in words.

/// The bytes end too early, or say what cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the bytes of a trace do not fit together")]
pub struct Damaged;

/// Bytes that are being written.
#[derive(Debug, Default)]
pub struct Writer(pub Vec<u8>);

impl Writer {
    /// A number, short where it is small.
    pub fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// A number that may be negative.
    pub fn signed(&mut self, number: i64) {
        self.number(((number << 1) ^ (number >> 63)).cast_unsigned());
    }

    /// Bytes, and how many.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// A text.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Eight bytes.
    pub fn word(&mut self, word: u64) {
        self.0.extend_from_slice(&word.to_le_bytes());
    }

    /// A digest.
    pub fn digest(&mut self, digest: u128) {
        self.0.extend_from_slice(&digest.to_le_bytes());
    }
}

/// The place of one of a few values, in the table of all.
pub fn place_in<T: PartialEq>(all: &[T], one: &T) -> u8 {
    all.iter().position(|known| known == one).unwrap_or_default() as u8
}

/// The value at a place.
///
/// # Errors
/// Where there is none.
pub fn at_place<T: Copy>(all: &[T], place: u8) -> Result<T, Damaged> {
    all.get(usize::from(place)).copied().ok_or(Damaged)
}

/// Bytes that are being read.
#[derive(Clone, Debug)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// From the first on.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Damaged> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Damaged)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Damaged> {
        self.take(N)?.try_into().map_err(|_| Damaged)
    }

    /// One byte.
    pub fn byte(&mut self) -> Result<u8, Damaged> {
        Ok(self.array::<1>()?[0])
    }

    /// A number.
    pub fn number(&mut self) -> Result<u64, Damaged> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Damaged)
    }

    /// A number that may be negative.
    pub fn signed(&mut self) -> Result<i64, Damaged> {
        let number = self.number()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// An index.
    pub fn index(&mut self) -> Result<usize, Damaged> {
        usize::try_from(self.number()?).map_err(|_| Damaged)
    }

    /// How many things follow, each of at least one byte.
    pub fn count(&mut self) -> Result<usize, Damaged> {
        self.index().and_then(|count| if count <= self.0.len() { Ok(count) } else { Err(Damaged) })
    }

    /// Bytes.
    pub fn bytes(&mut self) -> Result<&'a [u8], Damaged> {
        let count = self.count()?;
        self.take(count)
    }

    /// A text.
    pub fn text(&mut self) -> Result<&'a str, Damaged> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Damaged)
    }

    /// Eight bytes.
    pub fn word(&mut self) -> Result<u64, Damaged> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// A digest.
    pub fn digest(&mut self) -> Result<u128, Damaged> {
        Ok(u128::from_le_bytes(self.array()?))
    }

    /// All that is left.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// Whether all is read.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut writer = Writer::default();
        for number in [0, 1, 127, 128, u64::MAX] {
            writer.number(number);
        }
        for number in [0, -1, 64, i64::MIN, i64::MAX] {
            writer.signed(number);
        }
        writer.text("Grüße");
        writer.digest(7 << 100);
        let mut reader = Reader::new(&writer.0);
        for number in [0, 1, 127, 128, u64::MAX] {
            assert_eq!(reader.number(), Ok(number));
        }
        for number in [0, -1, 64, i64::MIN, i64::MAX] {
            assert_eq!(reader.signed(), Ok(number));
        }
        assert_eq!(reader.text(), Ok("Grüße"));
        assert_eq!(reader.digest(), Ok(7 << 100));
        assert!(reader.is_at_end());
    }

    #[test]
    fn damage_is_told() {
        assert_eq!(Reader::new(&[]).number(), Err(Damaged));
        assert_eq!(Reader::new(&[0xff; 20]).number(), Err(Damaged));
        assert_eq!(Reader::new(&[200, 1, 0]).bytes(), Err(Damaged));
        assert_eq!(Reader::new(&[2, 0xff, 0xfe]).text(), Err(Damaged));
        assert_eq!(Reader::new(&[1, 2, 3]).digest(), Err(Damaged));
    }
}
