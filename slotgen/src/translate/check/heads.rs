//! What bodies may call and name.

use std::collections::{BTreeMap, BTreeSet};

use super::kinds::Ty;

/// What a function takes and gives.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    /// Types of the parameters behind `c`.
    pub params: Vec<Ty>,
    /// Type of the result, if nothing is raised.
    pub returns: Ty,
}

/// What a body may call or name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heads {
    /// Methods of `CApi`.
    pub methods: BTreeMap<String, Head>,
    /// Translated functions by module and name.
    pub functions: BTreeMap<(String, String), Head>,
    /// Global objects.
    pub globals: BTreeSet<String>,
    /// Functions with an identity.
    pub ids: BTreeSet<String>,
}

impl Heads {
    /// The methods of the trait `CApi` as it is written, globals and identities.
    pub(crate) fn of_world<'i>(
        capi: &str,
        globals: &BTreeSet<String>,
        ids: impl Iterator<Item = &'i String>,
    ) -> Result<Self, String> {
        let file: syn::File = syn::parse_str(capi).map_err(|error| format!("the vocabulary: {error}"))?;
        let mut heads = Self { globals: globals.clone(), ids: ids.cloned().collect(), ..Self::default() };
        for item in &file.items {
            let syn::Item::Trait(world) = item else { continue };
            for item in world.items.iter().filter(|_| world.ident == "CApi") {
                let syn::TraitItem::Fn(method) = item else { continue };
                let params = method.sig.inputs.iter().filter_map(|input| match input {
                    syn::FnArg::Typed(one) => Some(Ty::of(&one.ty)),
                    syn::FnArg::Receiver(_) => None,
                });
                let returns = match &method.sig.output {
                    syn::ReturnType::Type(_, ty) => Ty::of(ty),
                    syn::ReturnType::Default => Ty::Unit,
                };
                heads.methods.insert(method.sig.ident.to_string(), Head { params: params.collect(), returns });
            }
        }
        Ok(heads)
    }

    /// Adds a translated function.
    pub(crate) fn add<'p>(
        &mut self,
        module: String,
        name: String,
        params: impl Iterator<Item = &'p str>,
        returns: &str,
    ) {
        let head = Head { params: params.map(Ty::written).collect(), returns: Ty::written(returns) };
        self.functions.insert((module, name), head);
    }
}
