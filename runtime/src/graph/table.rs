//! A graph as a table of text, one node a row.
use super::py_node::PyNode;
use super::text::{short, target};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

const HEADERS: [&str; 6] = ["op", "name", "target", "arguments", "value", "line"];

/// Renders the nodes with aligned columns.
pub fn render(nodes: &Bound<'_, PyList>) -> PyResult<String> {
    let mut rows = vec![HEADERS.map(str::to_owned)];
    for node in nodes {
        rows.push(row(&node.cast_into::<PyNode>()?)?);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 6] = std::array::from_fn(width);
    let line = |row: &[String; 6]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    Ok(rows.iter().map(line).collect::<Vec<_>>().join("\n"))
}

fn row(node: &Bound<'_, PyNode>) -> PyResult<[String; 6]> {
    let text = |name: &str| -> PyResult<String> { node.getattr(name)?.str()?.extract() };
    let meta = node.getattr("meta")?.cast_into::<PyDict>()?;
    let meta = |name: &str| -> PyResult<String> {
        Ok(meta.get_item(name)?.map(|value| value.str().map(|text| text.to_string())).transpose()?.unwrap_or_default())
    };
    let line = Some(meta("line")?).filter(|line| line != "0").unwrap_or_default();
    Ok([text("op")?, text("name")?, target(&node.getattr("target")?)?, arguments(node)?, meta("value")?, line])
}

fn arguments(node: &Bound<'_, PyNode>) -> PyResult<String> {
    let args = node.getattr("args")?.cast_into::<PyTuple>()?;
    let mut texts: Vec<String> = args.iter().map(|arg| short(&arg)).collect::<PyResult<_>>()?;
    for (name, value) in node.getattr("kwargs")?.cast_into::<PyDict>()? {
        texts.push(format!("{name}={}", short(&value)?));
    }
    Ok(texts.join(", "))
}
