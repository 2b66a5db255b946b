//! Which files are translated.

/// The C files whose functions are translated.
pub const UNITS: &[&str] = &[
    "Objects/abstract.c",
    "Objects/boolobject.c",
    "Objects/bytearrayobject.c",
    "Objects/bytesobject.c",
    "Objects/call.c",
    "Objects/cellobject.c",
    "Objects/classobject.c",
    "Objects/complexobject.c",
    "Objects/descrobject.c",
    "Objects/dictobject.c",
    "Objects/enumobject.c",
    "Objects/exceptions.c",
    "Objects/floatobject.c",
    "Objects/funcobject.c",
    "Objects/genericaliasobject.c",
    "Objects/iterobject.c",
    "Objects/listobject.c",
    "Objects/longobject.c",
    "Objects/methodobject.c",
    "Objects/moduleobject.c",
    "Objects/namespaceobject.c",
    "Objects/object.c",
    "Objects/rangeobject.c",
    "Objects/setobject.c",
    "Objects/sliceobject.c",
    "Objects/structseq.c",
    "Objects/tupleobject.c",
    "Objects/typeobject.c",
    "Objects/unicodeobject.c",
    "Objects/unionobject.c",
    "Objects/weakrefobject.c",
];

/// Files of which a part is translated: the endings of its functions' names. What else they hold takes any object for a struct of its own.
const PARTS: &[(&str, &[&str])] = &[("Objects/exceptions.c", &["_repr", "_str"])];

/// Whether a function of these files is translated, as far as its file says.
pub(crate) fn has_part(file: &str, function: &str) -> bool {
    let endings = PARTS.iter().find(|(of, _)| *of == file).map(|(_, endings)| *endings);
    endings.is_none_or(|endings| endings.iter().any(|ending| function.ends_with(ending)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_of_files_that_are_translated() {
        assert!(PARTS.iter().all(|(file, endings)| UNITS.contains(file) && !endings.is_empty()));
    }

    #[test]
    fn other_files_are_translated_wholly() {
        assert!(has_part("Objects/exceptions.c", "KeyError_str") && !has_part("Objects/exceptions.c", "OSError_init"));
        assert!(has_part("Objects/listobject.c", "list_init"));
    }
}
