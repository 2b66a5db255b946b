//! Digests of C text in which comments and white space do not count.

use sha2::{Digest, Sha256};

/// Sixteen hexadecimal digits of the SHA-256 of a C text (without comments) whose white space is normalised.
pub(super) fn digest(text: &str) -> String {
    let mut hasher = Sha256::new();
    let mut normal = Vec::with_capacity(text.len());
    normalise(text.as_bytes(), &mut normal);
    hasher.update(&normal);
    hasher.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Drops white space except between two words or two operators, where one space stays; literals stay as they are.
fn normalise(bytes: &[u8], out: &mut Vec<u8>) {
    let mut quote = None;
    let mut gap = false;
    let mut escaped = false;
    for &byte in bytes {
        if let Some(end) = quote {
            out.push(byte);
            if escaped {
                escaped = false;
            } else if byte == b'\\' {
                escaped = true;
            } else if byte == end {
                quote = None;
            }
            continue;
        }
        if byte.is_ascii_whitespace() {
            gap = true;
            continue;
        }
        if gap && out.last().is_some_and(|&last| joins(last, byte)) {
            out.push(b' ');
        }
        gap = false;
        if byte == b'"' || byte == b'\'' {
            quote = Some(byte);
        }
        out.push(byte);
    }
}

/// Whether two bytes would become one token if nothing stood between them.
fn joins(left: u8, right: u8) -> bool {
    (is_word(left) && is_word(right)) || (b"+-&|<>=!*/%^".contains(&left) && b"+-&|<>=*/".contains(&right))
}

#[cfg(test)]
mod tests {
    use super::digest;

    #[test]
    fn white_space_does_not_count_and_tokens_do() {
        assert_eq!(digest("{ return  x+1 ;\n}"), digest("{return x + 1;}"));
        assert_ne!(digest("a + +b"), digest("a ++b"));
        assert_ne!(digest("return x"), digest("returnx"));
        assert_ne!(digest("\"a b\""), digest("\"a  b\""));
    }
}
