//! Hand-written: arrays that translated functions make for themselves.

/// So many elements; nothing where there is no memory for them.
pub fn room<T: Clone>(zero: T, count: usize) -> Option<Vec<T>> {
    let mut room = Vec::new();
    room.try_reserve_exact(count).ok()?;
    room.resize(count, zero);
    Some(room)
}

/// The C string that an array of characters holds: up to its NUL; what is no UTF-8 becomes U+FFFD.
pub fn text(chars: &[i8]) -> String {
    let bytes: Vec<u8> = chars.iter().take_while(|char| **char != 0).map(|char| char.cast_unsigned()).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Writes a text and its NUL to an array, as much of it as there is room for (`size` with the NUL); how long it is, as `snprintf` says it.
pub fn print(room: &mut [i8], size: usize, text: &str) -> i32 {
    let size = size.min(room.len());
    if let Some(last) = size.checked_sub(1) {
        let bytes = text.bytes().take(last).map(u8::cast_signed).chain([0]);
        room.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    }
    i32::try_from(text.len()).unwrap_or(i32::MAX)
}
