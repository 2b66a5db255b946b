//! What a user may have meant by a name that is not known.

/// Least likeness that is worth a suggestion.
const LIKENESS: f64 = 0.7;

/// The known names most like `name`, best first, at most three.
pub fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Vec<&'k str> {
    let lower = name.to_lowercase();
    let scored = known.into_iter().map(|known| (strsim::jaro_winkler(&lower, &known.to_lowercase()), known));
    let mut scored: Vec<_> = scored.filter(|(likeness, _)| *likeness >= LIKENESS).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored.dedup_by(|a, b| a.1 == b.1);
    scored.into_iter().take(3).map(|(_, known)| known).collect()
}

/// The same as a sentence, with what to do where nothing is near.
pub fn advice<'k>(name: &str, known: impl IntoIterator<Item = &'k str>, otherwise: &str) -> String {
    let near = nearest(name, known);
    if near.is_empty() { otherwise.to_owned() } else { format!("did you mean {}?", near.join(", or ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_is_found_and_nonsense_is_not() {
        let known = ["dict.nb_or", "dict.nb_and", "list.sq_concat"];
        assert_eq!(nearest("dict.nb_orr", known).first(), Some(&"dict.nb_or"));
        assert!(nearest("qqqq", known).is_empty());
        assert_eq!(advice("qqqq", known, "look it up"), "look it up");
    }
}
