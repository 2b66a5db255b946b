//! Paths that several sources begin with: they are followed once, for all of them.
use crate::guard::source::Source;
use rustc_hash::{FxHashMap, FxHashSet};

/// Paths at which sources part, and the temporaries that hold what is found there.
pub type Forks = FxHashMap<Source, Option<usize>>;

/// Where these sources part.
pub fn of<'a>(sources: impl Iterator<Item = &'a Source>) -> Forks {
    let mut seen: FxHashSet<&Source> = FxHashSet::default();
    let mut ways: FxHashMap<&Source, usize> = FxHashMap::default();
    for mut source in sources {
        while let Some(base) = base(source) {
            if !seen.insert(source) {
                break;
            }
            *ways.entry(base).or_default() += 1;
            source = base;
        }
    }
    let parts = ways.into_iter().filter(|(path, ways)| *ways > 1 && base(path).is_some());
    parts.map(|(path, _)| (path.clone(), None)).collect()
}

/// What the path is one step further than, where following it has no effect but cost.
fn base(source: &Source) -> Option<&Source> {
    match source {
        Source::Attr(base, _) | Source::DictItem(base, _) | Source::Item(base, _) | Source::Dict(base) => Some(base),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn attribute(base: &Source, name: &str) -> Source {
        Source::Attr(Arc::new(base.clone()), name.into())
    }

    #[test]
    fn paths_part_where_two_go_on() {
        let inner = attribute(&Source::Local(0), "inner");
        let (left, right) = (attribute(&inner, "left"), attribute(&inner, "right"));
        let deep = [attribute(&left, "x"), attribute(&right, "x"), attribute(&right, "y"), attribute(&right, "y")];
        let forks = of(deep.iter());
        assert!(forks.contains_key(&inner) && forks.contains_key(&right) && forks.len() == 2);
    }
}
