//! Text in lines of at most 120 columns.

const COLUMNS: usize = 120;

/// Words with commas, as many in a line as fit.
#[must_use]
pub fn filled(words: &[&str], indent: usize) -> String {
    let mut text = String::new();
    let mut width = 0;
    for word in words {
        let needed = word.len() + 2;
        if width > 0 && width + needed > COLUMNS {
            text.push('\n');
            width = 0;
        }
        if width == 0 {
            text += &" ".repeat(indent);
            width = indent;
        } else {
            text.push(' ');
        }
        text += word;
        text.push(',');
        width += needed;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn lines_are_filled() {
        assert_eq!(super::filled(&["a", "b"], 2), "  a, b,\n");
        let long = "x".repeat(70);
        assert_eq!(super::filled(&[&long, &long], 0), format!("{long},\n{long},\n"));
        assert_eq!(super::filled(&[], 4), "");
    }
}
