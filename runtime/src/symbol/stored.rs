//! Conditions on numbers as bytes. What is read computes within its stack, whatever the bytes are.
use super::formula::{Formula, Step};
use super::ids::Symbol;
use super::number::{Comparison, Number};
use super::operation::Operation;
use super::relation::Condition;
use crate::stored::{Damaged, Reader, Writer};

const INTEGER: u8 = 0;
const FLOAT: u8 = 1;
const INPUT: u8 = 2;
const APPLY: u8 = 3;

/// What [`Operation::RoundTo`] is written as: its function has the name of another operation, too.
const ROUND_TO: &str = "round to";

/// More decimal digits no float has.
const DIGITS: f64 = 1_100.0;

impl Condition {
    /// Writes it.
    pub fn write(&self, out: &mut Writer) {
        let place = Comparison::ALL.iter().position(|comparison| *comparison == self.comparison);
        out.number(place.unwrap_or_default() as u64);
        self.left.write(out);
        self.right.write(out);
    }

    /// Reads what [`Condition::write`] has written.
    ///
    /// # Errors
    /// Where the bytes are none of a condition.
    pub fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let comparison = *Comparison::ALL.get(from.index()?).ok_or(Damaged)?;
        Ok(Self { comparison, left: Formula::read(from)?, right: Formula::read(from)? })
    }
}

impl Formula {
    fn write(&self, out: &mut Writer) {
        out.text(&self.text);
        out.number(self.steps.len() as u64);
        for step in &self.steps {
            match *step {
                Step::Constant(Number::Integer(integer)) => {
                    out.0.push(INTEGER);
                    out.signed(integer);
                }
                Step::Constant(Number::Float(float)) => {
                    out.0.push(FLOAT);
                    out.word(float.to_bits());
                }
                Step::Input(Symbol(symbol)) => {
                    out.0.push(INPUT);
                    out.number(u64::from(symbol));
                }
                Step::Apply(operation) => {
                    out.0.push(APPLY);
                    out.text(if operation == Operation::RoundTo { ROUND_TO } else { operation.name() });
                }
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let text = from.text()?.into();
        let mut steps: Vec<Step> = Vec::new();
        let mut depth: usize = 0;
        for _ in 0..from.count()? {
            let step = read_step(from)?;
            if let Step::Apply(operation) = step {
                depth = depth.checked_sub(operation.arity()).ok_or(Damaged)?;
                if operation == Operation::RoundTo && !steps.last().is_some_and(is_digits) {
                    return Err(Damaged);
                }
            }
            depth += 1;
            steps.push(step);
        }
        if depth == 1 { Ok(Self { steps: steps.into(), text }) } else { Err(Damaged) }
    }
}

fn read_step(from: &mut Reader<'_>) -> Result<Step, Damaged> {
    Ok(match from.byte()? {
        INTEGER => Step::Constant(Number::Integer(from.signed()?)),
        FLOAT => Step::Constant(Number::Float(f64::from_bits(from.word()?))),
        INPUT => Step::Input(Symbol(u32::try_from(from.number()?).map_err(|_| Damaged)?)),
        APPLY => Step::Apply(named(from.text()?).ok_or(Damaged)?),
        _ => return Err(Damaged),
    })
}

/// Whether it is a number of decimal digits.
fn is_digits(step: &Step) -> bool {
    matches!(step, Step::Constant(number) if (0.0..=DIGITS).contains(&number.nearest()))
}

/// The operation that is written as this.
fn named(name: &str) -> Option<Operation> {
    Some(match name {
        ROUND_TO => Operation::RoundTo,
        "float" => Operation::ToFloat,
        "int" => Operation::Truncate,
        "single" => Operation::ToSingle,
        "bit_length" => Operation::BitLength,
        "round" => Operation::Round,
        "min" => Operation::Least,
        "max" => Operation::Greatest,
        name => return Operation::named(name).or_else(|| Operation::of_math(name)),
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Decision, Expressions, Kind, Relation};
    use super::*;

    fn condition() -> Condition {
        let table = &mut Expressions::default();
        let [one, other] = [0, 1].map(|symbol| table.input(Symbol(symbol), Kind::Integer));
        let (three, half) = (table.constant(Number::Integer(3)), table.constant(Number::Float(0.5)));
        let capped = table.apply(Operation::Least, &[one, three]).expect("an expression");
        let root = table.apply(Operation::SquareRoot, &[other]).expect("an expression");
        let scaled = table.apply(Operation::Multiply, &[root, half]).expect("an expression");
        let relation = Relation { comparison: Comparison::Less, left: capped, right: scaled };
        match table.decide(relation) {
            Decision::Open(relation) => Condition::new(table, relation),
            Decision::Known(truth) => panic!("decided: {truth}"),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let (condition, mut out) = (condition(), Writer::default());
        condition.write(&mut out);
        let mut from = Reader::new(&out.0);
        assert_eq!(Condition::read(&mut from), Ok(condition));
        assert!(from.is_at_end());
    }

    #[test]
    fn every_operation_has_a_name_of_its_own() {
        use Operation::*;
        let all = [
            Add,
            Subtract,
            Multiply,
            TrueDivide,
            FloorDivide,
            Remainder,
            Power,
            ShiftLeft,
            ShiftRight,
            And,
            Or,
            Xor,
            Negative,
            Positive,
            Absolute,
            Invert,
            ToFloat,
            SquareRoot,
            Floor,
            Ceiling,
            Truncate,
            Round,
            CommonDivisor,
            CommonMultiple,
            IntegerRoot,
            BitLength,
            Least,
            Greatest,
            RoundTo,
            ToSingle,
        ];
        for operation in all {
            let name = if operation == RoundTo { ROUND_TO } else { operation.name() };
            assert_eq!(named(name), Some(operation));
        }
    }

    #[test]
    fn damage_is_told_or_harmless() {
        let mut out = Writer::default();
        condition().write(&mut out);
        for place in 0..out.0.len() {
            for change in 1..=u8::MAX {
                let mut bytes = out.0.clone();
                bytes[place] ^= change;
                if let Ok(read) = Condition::read(&mut Reader::new(&bytes)) {
                    let _ = read.holds(&|symbol| Some(Number::Integer(i64::from(symbol.0) + 5)));
                }
            }
            assert_eq!(Condition::read(&mut Reader::new(&out.0[..place])), Err(Damaged));
        }
    }
}
