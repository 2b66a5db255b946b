//! Renders where the members of structs lie that translations read or set.

use crate::translate::driver::Translation;

/// A row with its key.
type Row = (String, String);

/// Members by the methods that read them, and the sizes of the structs that they are members of.
pub(super) fn members(translation: &Translation) -> (Vec<Row>, Vec<Row>) {
    let world = &translation.world;
    let fields = world.fields.borrow();
    let rows = fields.iter().filter_map(|(name, (structure, path))| {
        let field = world.declarations.field(structure, path)?;
        let row = format!("Field {{ name: {name:?}, path: &{:?}, kind: Kind::{} }}", field.path, field.kind);
        Some((name.clone(), row))
    });
    let structs = world.declarations.shapes.members.keys().filter_map(|name| {
        let own = fields.values().any(|(structure, _)| structure == name);
        let size = world.declarations.size_of(name).filter(|size| own && *size > 0)?;
        Some((name.clone(), format!("({name:?}, {size})")))
    });
    (rows.collect(), structs.collect())
}
