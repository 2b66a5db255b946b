//! Plain tables: columns as wide as their widest cell, the last one free.
use super::paint;

/// Rows under headings, indented, without borders.
pub fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let columns = headings.len();
    let mut widths: Vec<usize> = headings.iter().map(|heading| width(heading)).collect();
    for row in rows {
        for (column, cell) in row.iter().enumerate().take(columns) {
            widths[column] = widths[column].max(width(cell));
        }
    }
    let heading = line(&headings.iter().map(|heading| (*heading).to_owned()).collect::<Vec<_>>(), &widths);
    let mut text = paint::dim(heading);
    for row in rows {
        text.push('\n');
        text.push_str(&line(row, &widths));
    }
    text
}

/// Two listings side by side; the left one is cut where it is wider than `limit`.
pub fn side_by_side(left: &[String], right: &[String], limit: usize) -> String {
    let column = left.iter().map(|line| width(line)).max().unwrap_or(0).min(limit);
    let empty = String::new();
    let rows = (0..left.len().max(right.len())).map(|row| {
        let left = clip(left.get(row).unwrap_or(&empty), column);
        let right = clip(right.get(row).unwrap_or(&empty), limit);
        format!("  {left}{} {} {right}", " ".repeat(column - width(&left)), paint::dim("│"))
    });
    rows.collect::<Vec<_>>().join("\n")
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let last = widths.len() - 1;
    let padded = cells.iter().zip(widths).enumerate().map(|(column, (cell, wide))| {
        if column == last { cell.clone() } else { format!("{cell}{}", " ".repeat(wide - width(cell))) }
    });
    format!("  {}", padded.collect::<Vec<_>>().join("  ").trim_end())
}

fn clip(text: &str, limit: usize) -> String {
    if width(text) <= limit { text.to_owned() } else { text.chars().take(limit - 1).chain(['…']).collect() }
}

/// Width in characters; no wide ones are shown here.
fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let text = table(&["a", "b"], &[vec!["long".into(), "x".into()], vec!["y".into(), "z".into()]]);
        let plain = text.replace("\x1b[2m", "").replace("\x1b[0m", "");
        assert_eq!(plain, "  a     b\n  long  x\n  y     z");
    }

    #[test]
    fn listings_of_unequal_length_are_shown_whole() {
        let text = side_by_side(&["abcdef".into()], &["1".into(), "2".into()], 4);
        assert_eq!(text.lines().count(), 2);
        assert!(text.starts_with("  abc…"));
    }
}
