//! Stack effects of releases whose headers do not say what an instruction takes and leaves: written down by hand, compared
//! with the live interpreter by a test.

use indexmap::IndexMap;

use crate::facts::{Expression, ExpressionError};

const TABLES: &[(&str, &str)] = &[("3.11", include_str!("3.11.txt")), ("3.12", include_str!("3.12.txt"))];

/// What an instruction does to the stack.
pub(super) struct Row {
    pub popped: Expression,
    pub pushed: Expression,
    pub effect: Option<Expression>,
}

/// The table of a series by opcode; `None` where there is none.
pub(super) fn table(series: &str) -> Option<Result<IndexMap<&'static str, Row>, ExpressionError>> {
    let (_, text) = TABLES.iter().find(|(known, _)| *known == series)?;
    Some(text.lines().filter(|line| !line.starts_with('#')).map(row).collect())
}

fn row(line: &'static str) -> Result<(&'static str, Row), ExpressionError> {
    let mut cells = line.split(" | ");
    let name = cells.next().unwrap_or_default().trim();
    let (popped, pushed) = (cells.next().unwrap_or_default().parse()?, cells.next().unwrap_or_default().parse()?);
    let effect = cells.next().map(str::parse).transpose()?;
    Ok((name, Row { popped, pushed, effect }))
}
