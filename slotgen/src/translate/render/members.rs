//! Renders `members.rs`: where the members of structs lie that translations read or set.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::translate::driver::Translation;

/// The text of `members.rs`.
pub(crate) fn members(translation: &Translation) -> TokenStream {
    let world = &translation.world;
    let fields = world.fields.borrow();
    let rows = fields.iter().filter_map(|(name, (structure, path))| {
        let field = world.declarations.field(structure, path)?;
        let kind = format_ident!("{}", field.kind);
        let path = field.path.iter().map(|offset| proc_macro2::Literal::usize_unsuffixed(*offset));
        Some(quote!(Field { name: #name, path: &[#(#path),*], kind: Kind::#kind },))
    });
    let structs = world.declarations.shapes.members.keys().filter_map(|name| {
        let own = fields.values().any(|(structure, _)| structure == name);
        let size = world.declarations.size_of(name).filter(|size| own && *size > 0)?;
        let size = proc_macro2::Literal::usize_unsuffixed(size);
        Some(quote!((#name, #size),))
    });
    quote! {
        //! Where the members of structs lie that translated functions read or set.
        use crate::members::{Field, Kind};

        /// Members by the names of the methods that read them, sorted.
        pub static FIELDS: &[Field] = &[#(#rows)*];

        /// Bytes of the structs that they are members of, sorted.
        pub static STRUCTS: &[(&str, usize)] = &[#(#structs)*];
    }
}
