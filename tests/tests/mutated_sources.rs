//! CPython's own sources with random damage: facts or diagnostics, each with place, rule and help; no panic, no hang.
//!
//! `SLOTRT_ROUNDS` asks for more than the bounded run, `SLOTRT_SEED` for another beginning.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
use slotgen::diagnostics::Diagnostics;
use slotgen::extract::extract;
use slotgen::preprocess::Configuration;
use slotgen::source::Tree;
use std::time::{Duration, Instant};

/// A small generator of numbers; the same seed gives the same run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }
}

/// What stands for trouble in C.
const SPLINTERS: [&str; 16] = [
    "{",
    "}",
    "(",
    ")",
    ";",
    ",",
    "\"",
    "'",
    "/*",
    "*/",
    "#if 1\n",
    "\n#endif\n",
    "\\\n",
    "\n#define PyTypeObject(x) x##x\n",
    "= {{{",
    "\0",
];

/// The text with one stretch cut, doubled, moved, or pierced.
fn damaged(text: &str, random: &mut Random) -> String {
    let boundary = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let from = boundary(random.below(text.len()));
    let to = boundary((from + 1 + random.below(400)).min(text.len()));
    let (start, middle, end) = (&text[..from], &text[from..to.max(from)], &text[to.max(from)..]);
    match random.below(5) {
        0 => format!("{start}{end}"),
        1 => format!("{start}{middle}{middle}{end}"),
        2 => format!("{start}{end}{middle}"),
        3 => start.to_owned(),
        _ => format!("{start}{}{middle}{end}", SPLINTERS[random.below(SPLINTERS.len())]),
    }
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn damage_anywhere_is_told_and_never_fatal() {
    let tree = Tree::open(&tests::sources("3.13.5").unwrap()).unwrap();
    let whole: Vec<(String, String)> =
        tree.files().iter().map(|file| (file.path().to_owned(), file.text().to_owned())).collect();
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ number("SLOTRT_SEED", 1));
    let mut told = 0;
    for round in 0..number("SLOTRT_ROUNDS", 6) {
        let mut files = whole.clone();
        for _ in 0..1 + random.below(12) {
            let at = random.below(files.len());
            if files[at].0 != "Include/patchlevel.h" {
                files[at].1 = damaged(&files[at].1, &mut random);
            }
        }
        let start = Instant::now();
        let tree = Tree::from_files(files).unwrap();
        let configuration = Configuration::named("release", tree.release()).unwrap();
        let mut diagnostics = Diagnostics::default();
        let facts = extract(&tree, &configuration, &mut diagnostics);
        assert!(start.elapsed() < Duration::from_secs(120), "round {round}: {:?}", start.elapsed());
        assert!(facts.is_some() || diagnostics.has_errors(), "round {round}: no facts, and no reason");
        for found in diagnostics.iter() {
            assert!(found.file.is_empty() || found.line > 0 || !found.message.is_empty(), "{found}");
            assert!(!found.code.is_empty() && !found.help.is_empty(), "round {round}: {found}");
        }
        // Every place can be shown.
        let text = diagnostics.render(&|path| tree.file(path).map(|file| file.text()));
        assert!(diagnostics.0.is_empty() || !text.is_empty());
        told += usize::from(!diagnostics.is_empty());
    }
    assert!(told > 0, "no damage was noticed");
}
