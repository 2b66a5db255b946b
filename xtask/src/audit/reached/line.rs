//! The tests of a function as one line of text: `12; 3 Class.method; 5 Other.method`.
use serde::{Deserialize, Serialize};

/// The tests that run a function.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(into = "String", from = "String")]
pub struct Tests {
    /// How many there are.
    pub count: usize,
    /// Those that run the fewest other functions: number of the file, and name.
    pub focussed: Vec<(usize, String)>,
}

impl From<String> for Tests {
    fn from(text: String) -> Self {
        let mut parts = text.split("; ");
        let count = parts.next().and_then(|count| count.parse().ok()).unwrap_or(0);
        let test = |part: &str| {
            let (file, name) = part.split_once(' ')?;
            Some((file.parse().ok()?, name.to_owned()))
        };
        Self { count, focussed: parts.filter_map(test).collect() }
    }
}

impl From<Tests> for String {
    fn from(tests: Tests) -> Self {
        let names = tests.focussed.iter().map(|(file, name)| format!("{file} {name}"));
        std::iter::once(tests.count.to_string()).chain(names).collect::<Vec<_>>().join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_were_written() {
        let line = "12; 3 Class.method; 5 Other.method";
        let tests = Tests::from(line.to_owned());
        assert_eq!((tests.count, tests.focussed.len()), (12, 2));
        assert_eq!(String::from(tests), line);
    }
}
