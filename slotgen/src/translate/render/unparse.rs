//! Prints tokens as a Rust file.

use proc_macro2::TokenStream;

/// The text of a file, as `prettyplease` lays it out.
pub(super) fn unparse(tokens: TokenStream) -> Result<String, String> {
    let file = syn::parse2::<syn::File>(tokens).map_err(|error| format!("generated code does not parse: {error}"))?;
    Ok(prettyplease::unparse(&file))
}
