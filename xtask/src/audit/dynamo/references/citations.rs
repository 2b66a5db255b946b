//! Places of CPython that a line of text names.

/// A place of CPython that a line of text names.
#[derive(Debug, PartialEq)]
pub struct Citation<'t> {
    pub reference: Option<&'t str>,
    pub file: &'t str,
    pub lines: Option<(u32, u32)>,
    /// Where it stands in the text.
    pub start: usize,
    pub end: usize,
}

/// Folders of CPython whose C files comments cite.
const FOLDERS: [&str; 4] = ["Objects/", "Python/", "Modules/", "Include/"];

pub fn citations(text: &str) -> Vec<Citation<'_>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = FOLDERS.iter().filter_map(|folder| text.get(from..)?.find(folder).map(|at| at + from)).min()
    {
        let rest = text.get(start..).unwrap_or_default();
        let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "_/.-".contains(c))).unwrap_or(rest.len());
        let file = rest.get(..length).unwrap_or_default().trim_end_matches('.');
        from = start + file.len().max(1);
        if !(file.ends_with(".c") || file.ends_with(".h")) {
            continue;
        }
        let before = text.get(..start).unwrap_or_default();
        let link = before.rfind("/cpython/blob/").map(|at| at + "/cpython/blob/".len());
        let reference =
            link.and_then(|at| before.get(at..)?.strip_suffix('/')).filter(|name| !name.contains([' ', '/']));
        let (lines, length) = line_range(text.get(from..).unwrap_or_default());
        from += length;
        found.push(Citation { reference, file, lines, start, end: from });
    }
    found
}

/// `#L12-L34`, `:12`, `#L12`: the lines, and how long the text is.
fn line_range(text: &str) -> (Option<(u32, u32)>, usize) {
    let Some(rest) = text.strip_prefix("#L").or_else(|| text.strip_prefix(':')) else { return (None, 0) };
    let head = text.len() - rest.len();
    let digits = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let first = digits(rest);
    let Ok(start) = rest.get(..first).unwrap_or_default().parse::<u32>() else { return (None, 0) };
    let tail = rest.get(first..).unwrap_or_default();
    let second = tail.strip_prefix("-L").or_else(|| tail.strip_prefix('-')).unwrap_or_default();
    match second.get(..digits(second)).unwrap_or_default().parse::<u32>() {
        Ok(end) if end >= start => (Some((start, end)), head + rest.len() - second.len() + digits(second)),
        _ => (Some((start, start)), head + first),
    }
}
