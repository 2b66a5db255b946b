//! Formats for which `__format__` reads the locale or the time zone: numbers of type `n`, and dates.
use crate::ffi::callee;
use crate::trace::call::effects::allowed;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use generated::effects::Effects;
use pyo3::prelude::*;

impl<'py> Tracer<'py> {
    /// Numbers are grouped as the locale says where the format is of type `n`, and dates named as it says; the effects of `__format__` cannot
    /// tell the formats apart.
    pub(crate) fn refuse_locale(&mut self, object: &Bound<'py, PyAny>, name: &str, args: &Arguments) -> Traced<()> {
        let reads = match (name, args.positional.as_slice()) {
            ("format", [text, rest @ ..]) | ("format_map", [text, rest @ ..]) if callee::owner_of(object).is_some() => {
                let text = self.known_str(*text);
                let values = rest.iter().chain(args.keywords.iter().map(|(_, value)| value));
                let given: Vec<_> = values.filter_map(|value| self.known_str(*value)).collect();
                text.is_some_and(|text| fields(&text).any(|format| may_be_of_locale(format, &given)))
            }
            ("format" | "__format__", [value, format]) => {
                let class = self.class_of(*value)?;
                let owner = self.lookup(&class, "__format__").and_then(|found| callee::owner_of(&found));
                let owner = owner.map(|owner| crate::ffi::types::c_name(&owner).into_owned()).unwrap_or_default();
                let found = allowed::of(&owner, "__format__");
                found.is_some_and(|(_, effects)| effects.meets(Effects::READS_GLOBAL))
                    && self.known_str(*format).is_some_and(|format| is_of_locale(&owner, &format))
            }
            _ => false,
        };
        if reads { unsupported("format by the locale", name) } else { Ok(()) }
    }
}

/// Whether the type's `__format__` reads the locale for a format.
fn is_of_locale(owner: &str, format: &str) -> bool {
    format.ends_with('n') || owner.starts_with("datetime.") && format.contains('%')
}

/// The format of each replacement field of a text for `str.format`.
fn fields(text: &str) -> impl Iterator<Item = &str> {
    let mut found = Vec::new();
    let (mut depth, mut format) = (0usize, None);
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            // `{{` and `}}` are text.
            '{' | '}' if depth == 0 && letters.peek().is_some_and(|(_, next)| *next == letter) => drop(letters.next()),
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                if let (0, Some(start)) = (depth, format) {
                    found.extend(text.get(start..at));
                    format = None;
                }
            }
            ':' if depth == 1 && format.is_none() => format = Some(at + 1),
            _ => {}
        }
    }
    found.into_iter()
}

/// Whether a format is of type `n`, or may become so by what is filled in.
fn may_be_of_locale(format: &str, given: &[String]) -> bool {
    let filled = format.contains('{') && (format.contains(['.', '[']) || given.iter().any(|text| text.ends_with('n')));
    format.ends_with('n') || format.contains('%') && !format.ends_with('%') || filled && format.ends_with('}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_text() {
        let all = |text| fields(text).collect::<Vec<_>>();
        assert_eq!(all("{n} {{:n}} {0:n} {x.n!r:>5}"), ["n", ">5"]);
        assert_eq!(all("{:{}}{:{w}n}"), ["{}", "{w}n"]);
        assert!(may_be_of_locale("{}", &["n".to_owned()]) && may_be_of_locale("{0.t}", &[]));
        assert!(may_be_of_locale("%A %d", &[]) && !may_be_of_locale(".1%", &[]));
        assert!(!may_be_of_locale("{}d", &["n".to_owned()]) && !may_be_of_locale("{}", &["d".to_owned()]));
    }
}
