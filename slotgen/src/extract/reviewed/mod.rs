//! Stack effects of releases whose headers do not say what an instruction takes and leaves: written down by hand, compared
//! with the live interpreter by a test.

use indexmap::IndexMap;

use crate::facts::{Expression, ExpressionError};

const TABLES: &[(&str, &str)] = &[
    ("3.8", include_str!("3.8.txt")),
    ("3.10", include_str!("3.10.txt")),
    ("3.11", include_str!("3.11.txt")),
    ("3.12", include_str!("3.12.txt")),
];

/// What an instruction does to the stack.
pub(super) struct Row {
    /// Taken; `None` where a table says the net effect alone.
    pub popped: Option<Expression>,
    /// Left.
    pub pushed: Option<Expression>,
    /// The net effect, where it is not the difference.
    pub effect: Option<Expression>,
}

/// The table of a series by opcode; `None` where there is none.
pub(super) fn table(series: &str) -> Option<Result<IndexMap<&'static str, Row>, ExpressionError>> {
    let (_, text) = TABLES.iter().find(|(known, _)| *known == series)?;
    Some(text.lines().filter(|line| !line.starts_with('#')).map(row).collect())
}

/// `opcode | taken | left`, with the net effect behind that where it is not the difference; or `opcode | net effect`.
fn row(line: &'static str) -> Result<(&'static str, Row), ExpressionError> {
    let mut cells = line.split(" | ");
    let name = cells.next().unwrap_or_default().trim();
    let cells: Vec<Expression> = cells.map(str::parse).collect::<Result<_, _>>()?;
    let row = match <[Expression; 1]>::try_from(cells) {
        Ok([effect]) => Row { popped: None, pushed: None, effect: Some(effect) },
        Err(cells) => {
            let mut cells = cells.into_iter();
            Row { popped: cells.next(), pushed: cells.next(), effect: cells.next() }
        }
    };
    Ok((name, row))
}
