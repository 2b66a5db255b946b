//! Flattened graphs on disk.
use super::program::{Operand, Program, Step};
use crate::stored::{Damaged, In, Misfit, Out};
use pyo3::types::PyString;

impl Program {
    /// Writes it.
    ///
    /// # Errors
    /// What of it cannot be written.
    pub fn write<'py>(&self, out: &mut Out<'_, 'py>) -> Result<(), Misfit> {
        let py = out.py();
        out.bytes.number(self.registers as u64);
        numbers(&self.inputs, out);
        out.bytes.number(self.steps.len() as u64);
        for step in &self.steps {
            out.object(step.target.bind(py))?;
            operands(&step.args, out)?;
            out.bytes.number(step.kwargs.len() as u64);
            for (name, operand) in &step.kwargs {
                out.object(name.bind(py).as_any())?;
                operand.write(out)?;
            }
            out.bytes.number(step.register as u64);
            numbers(&step.dead, out);
        }
        operands(&self.results, out)
    }

    /// Reads what [`Program::write`] has written.
    ///
    /// # Errors
    /// What is not in this process as it was in the other.
    pub fn read(from: &mut In<'_, '_>) -> Result<Self, Misfit> {
        let registers = from.bytes.index()?;
        let inputs = read_numbers(from, registers)?;
        let mut steps = Vec::new();
        for _ in 0..from.bytes.count()? {
            let target = from.object()?.unbind();
            let args = read_operands(from, registers)?;
            let mut kwargs = Vec::new();
            for _ in 0..from.bytes.count()? {
                let name = from.object()?.cast_into::<PyString>().map_err(|_| Damaged)?.unbind();
                kwargs.push((name, Operand::read(from, registers)?));
            }
            let register = read_number(from, registers)?;
            let dead = read_numbers(from, registers)?;
            steps.push(Step { target, args, kwargs, register, dead });
        }
        let results = read_operands(from, registers)?;
        // Each is filled by an input or a step; the output has one, too.
        if registers > inputs.len() + steps.len() + 1 {
            return Err(Damaged.into());
        }
        Ok(Self { inputs, steps, results, registers })
    }
}

impl Operand {
    fn write<'py>(&self, out: &mut Out<'_, 'py>) -> Result<(), Misfit> {
        match self {
            Self::Register(register) => {
                out.bytes.0.push(0);
                out.bytes.number(*register as u64);
                Ok(())
            }
            Self::Constant(constant) => {
                out.bytes.0.push(1);
                let constant = constant.bind(out.py()).clone();
                out.object(&constant)
            }
            Self::Tuple(items) => {
                out.bytes.0.push(2);
                operands(items, out)
            }
            Self::List(items) => {
                out.bytes.0.push(3);
                operands(items, out)
            }
            Self::Slice(items) => {
                out.bytes.0.push(4);
                operands(items, out)
            }
        }
    }

    fn read(from: &mut In<'_, '_>, registers: usize) -> Result<Self, Misfit> {
        Ok(match from.bytes.byte()? {
            0 => Self::Register(read_number(from, registers)?),
            1 => Self::Constant(from.object()?.unbind()),
            2 => Self::Tuple(read_operands(from, registers)?),
            3 => Self::List(read_operands(from, registers)?),
            4 => Self::Slice(read_operands(from, registers)?),
            _ => return Err(Damaged.into()),
        })
    }
}

fn operands<'py>(all: &[Operand], out: &mut Out<'_, 'py>) -> Result<(), Misfit> {
    out.bytes.number(all.len() as u64);
    all.iter().try_for_each(|operand| operand.write(out))
}

fn read_operands(from: &mut In<'_, '_>, registers: usize) -> Result<Vec<Operand>, Misfit> {
    from.within(|from| (0..from.bytes.count()?).map(|_| Operand::read(from, registers)).collect())
}

fn numbers(numbers: &[usize], out: &mut Out<'_, '_>) {
    out.bytes.number(numbers.len() as u64);
    numbers.iter().for_each(|number| out.bytes.number(*number as u64));
}

/// An index of a register.
fn read_number(from: &mut In<'_, '_>, registers: usize) -> Result<usize, Misfit> {
    let number = from.bytes.index()?;
    if number < registers { Ok(number) } else { Err(Damaged.into()) }
}

fn read_numbers(from: &mut In<'_, '_>, registers: usize) -> Result<Vec<usize>, Misfit> {
    (0..from.bytes.count()?).map(|_| read_number(from, registers)).collect()
}
