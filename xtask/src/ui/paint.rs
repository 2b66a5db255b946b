//! Colours as escape codes; `anstream` drops them if the output is no terminal.
use std::fmt::Display;

macro_rules! colours {
    ($($(#[$doc:meta])* $name:ident = $code:literal;)*) => {$(
        $(#[$doc])*
        pub fn $name(text: impl Display) -> String {
            format!(concat!("\x1b[", $code, "m{}\x1b[0m"), text)
        }
    )*};
}

colours! {
    /// Headings.
    bold = "1";
    /// What may be skipped while reading.
    dim = "2";
    /// Errors.
    red = "31";
    /// Success.
    green = "32";
    /// What deserves a look.
    yellow = "33";
    /// Names.
    cyan = "36";
}
