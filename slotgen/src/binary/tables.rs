//! Reads slot definitions, types and their tables from an image, laid out as the release's headers say.

use super::abi::Abi;
use super::image::{Image, Symbol};
use crate::facts::{
    GetSet, Member, Method, SlotOrigin, SlotValue, Slotdef, Type, TypeKind, UNNAMED_FIELD, text_signature,
};
use object::SymbolKind;
use std::collections::BTreeSet;

/// Rows of a table of methods, members or slots: more than any type has.
const ROW_LIMIT: u64 = 4096;

/// Reads one image.
pub(super) struct Tables<'i, 'd> {
    pub image: &'i Image<'d>,
    pub abi: &'i Abi,
}

impl Tables<'_, '_> {
    fn pointer(&self, at: u64, owner: &str, field: &str) -> Option<u64> {
        let offset = self.abi.field(owner, field)?.offset;
        self.image.pointer(at.checked_add(offset.into())?)
    }

    fn integer(&self, at: u64, owner: &str, field: &str) -> Option<i64> {
        let field = self.abi.field(owner, field)?;
        let at = at.checked_add(field.offset.into())?;
        match field.size {
            4 => self.image.i32(at).map(i64::from),
            8 => self.image.u64(at).map(|value| value as i64),
            _ => None,
        }
    }

    fn text(&self, at: u64, owner: &str, field: &str) -> Option<String> {
        self.pointer(at, owner, field).filter(|&text| text != 0).and_then(|text| self.image.text(text))
    }

    /// The function at an address: its name, or its place when nothing names it.
    fn function(&self, address: u64) -> Option<String> {
        match address {
            0 => None,
            _ => {
                Some(self.image.named(address).map_or_else(|| format!("{address:#x}"), |symbol| symbol.name.to_owned()))
            }
        }
    }

    fn named_pointer(&self, at: u64, owner: &str, field: &str) -> Option<String> {
        self.function(self.pointer(at, owner, field)?)
    }

    /// `slotdefs[]`, in its order.
    pub fn slotdefs(&self) -> Option<Vec<Slotdef>> {
        let table =
            self.image.symbols.iter().find(|symbol| symbol.name == "slotdefs" && symbol.kind == SymbolKind::Data)?;
        let row = self.abi.size("wrapperbase")?;
        let slots = self.abi.slots();
        let slot = |offset| slots.iter().find(|slot| slot.heap_offset == offset).map(|slot| slot.name.to_owned());
        let mut found = Vec::new();
        for at in (table.address..table.address.saturating_add(table.size)).step_by(row as usize) {
            let Some(name) = self.text(at, "wrapperbase", "name") else { break };
            let offset = self.integer(at, "wrapperbase", "offset")? as u32;
            found.push(Slotdef {
                name,
                slot: slot(offset).unwrap_or_else(|| format!("offset {offset}")),
                offset,
                function: self.named_pointer(at, "wrapperbase", "function"),
                wrapper: self.named_pointer(at, "wrapperbase", "wrapper"),
                flags: self.integer(at, "wrapperbase", "flags")? as u32,
                doc: self.text(at, "wrapperbase", "doc").unwrap_or_default(),
            });
        }
        Some(found)
    }

    /// All static types and type specs, sorted by file and name.
    pub fn types(&self) -> Vec<Type> {
        let mut seen = BTreeSet::new();
        let mut types = Vec::new();
        for symbol in self.image.symbols.iter().filter(|symbol| symbol.kind == SymbolKind::Data && symbol.size > 0) {
            if seen.contains(&symbol.address) {
                continue;
            }
            let read = self.static_type(symbol).or_else(|| self.spec(symbol)).or_else(|| self.sequence(symbol));
            if let Some(ty) = read {
                seen.insert(symbol.address);
                types.push(ty);
            }
        }
        types.sort_by(|a, b| (&a.file, &a.c_name).cmp(&(&b.file, &b.c_name)));
        types
    }

    /// Names of data as large as a type or a spec that are none of the types that are read.
    pub fn unread(&self) -> BTreeSet<String> {
        let sizes = [self.abi.size("PyTypeObject"), self.abi.size("PyType_Spec")];
        let data = self.image.symbols.iter().filter(|symbol| symbol.kind == SymbolKind::Data);
        let large = data.filter(|symbol| sizes.contains(&Some(symbol.size)));
        let unread = large.filter(|symbol| self.static_type(symbol).is_none() && self.spec(symbol).is_none());
        unread.map(|symbol| symbol.name.to_owned()).collect()
    }

    /// The methods that `structseq.c` gives to every struct sequence.
    pub fn sequence_methods(&self) -> Vec<Method> {
        let table = self.image.symbols.iter().find(|symbol| symbol.name == "structseq_methods");
        table.map_or(Vec::new(), |table| self.methods(table.address))
    }

    fn new_type(&self, symbol: &Symbol, kind: TypeKind, tp_name: String) -> Type {
        let best = self.image.named(symbol.address).unwrap_or(symbol);
        Type { tp_name, file: best.file.unwrap_or("").to_owned(), ..Type::new(best.name, kind) }
    }

    /// A symbol of a type's size is a type when it has a name, a size and a metatype that is none or a type.
    fn static_type(&self, symbol: &Symbol) -> Option<Type> {
        if symbol.size != self.abi.size("PyTypeObject")? {
            return None;
        }
        let at = symbol.address;
        let name = self.text(at, "PyTypeObject", "tp_name").filter(|name| is_type_name(name))?;
        let basicsize = self.integer(at, "PyTypeObject", "tp_basicsize").filter(|size| (0..1 << 24).contains(size))?;
        let metatype = self.pointer(at, "PyObject", "ob_type")?;
        let metatype = match metatype {
            0 => None,
            other => Some(self.image.named(other).filter(|symbol| symbol.name.ends_with("Type"))?.name.to_owned()),
        };
        let mut ty = self.new_type(symbol, TypeKind::Static, name);
        ty.metatype = metatype.filter(|name| name != "PyType_Type");
        ty.basicsize = basicsize.to_string();
        ty.itemsize = self.integer(at, "PyTypeObject", "tp_itemsize")?.to_string();
        ty.flags = self.abi.type_flags(self.integer(at, "PyTypeObject", "tp_flags")? as u64);
        ty.base = self.named_pointer(at, "PyTypeObject", "tp_base");
        for slot in self.abi.slots() {
            let holder = match slot.suite {
                Some(suite) => self.pointer(at, "PyTypeObject", suite)?,
                None => at,
            };
            if holder == 0 {
                continue;
            }
            if let Some(suite) = slot.suite.filter(|suite| !ty.suites.iter().any(|known| known == suite)) {
                ty.suites.push(suite.to_owned());
            }
            self.slot(&mut ty, slot.name, self.image.pointer(holder.checked_add(slot.offset.into())?)?);
        }
        ty.methods = self.methods(self.pointer(at, "PyTypeObject", "tp_methods")?);
        ty.getset = self.getset(self.pointer(at, "PyTypeObject", "tp_getset")?);
        ty.members = self.members(self.pointer(at, "PyTypeObject", "tp_members")?);
        Some(ty)
    }

    fn slot(&self, ty: &mut Type, slot: &str, address: u64) {
        if let Some(function) = self.function(address) {
            ty.slots.insert(slot.to_owned(), SlotValue { function, origin: SlotOrigin::Own, from: None });
        }
    }

    /// A symbol of a spec's size is a spec when it has a dotted name and its slots are an array of known ids that ends with 0.
    fn spec(&self, symbol: &Symbol) -> Option<Type> {
        if symbol.size != self.abi.size("PyType_Spec")? {
            return None;
        }
        let at = symbol.address;
        let name = self.text(at, "PyType_Spec", "name").filter(|name| is_type_name(name))?;
        let slots = self.slot_array(self.pointer(at, "PyType_Spec", "slots")?)?;
        let mut ty = self.new_type(symbol, TypeKind::Spec, name);
        ty.basicsize = self.integer(at, "PyType_Spec", "basicsize")?.to_string();
        ty.itemsize = self.integer(at, "PyType_Spec", "itemsize")?.to_string();
        ty.flags = self.abi.type_flags(self.integer(at, "PyType_Spec", "flags")? as u32 as u64);
        for suite in self.abi.slots().iter().filter_map(|slot| slot.suite) {
            if !ty.suites.iter().any(|known| known == suite) {
                ty.suites.push(suite.to_owned());
            }
        }
        for (slot, value) in slots {
            match slot.as_str() {
                "tp_methods" => ty.methods = self.methods(value),
                "tp_getset" => ty.getset = self.getset(value),
                "tp_members" => ty.members = self.members(value),
                "tp_base" => ty.base = self.function(value),
                "tp_doc" | "tp_bases" | "tp_token" => {}
                slot => self.slot(&mut ty, slot, value),
            }
        }
        Some(ty)
    }

    /// A symbol of a description's size is one when it has a name and fields that have names themselves, and no other pointer.
    fn sequence(&self, symbol: &Symbol) -> Option<Type> {
        let (whole, row) = (self.abi.size("PyStructSequence_Desc")?, self.abi.size("PyStructSequence_Field")?);
        if symbol.size != whole || !symbol.name.ends_with("desc") {
            return None;
        }
        let at = symbol.address;
        let name = self.text(at, "PyStructSequence_Desc", "name").filter(|name| is_type_name(name))?;
        let shown = self.integer(at, "PyStructSequence_Desc", "n_in_sequence").filter(|count| *count >= 0)?;
        let fields = self.pointer(at, "PyStructSequence_Desc", "fields").filter(|&fields| fields != 0)?;
        let mut ty = self.new_type(symbol, TypeKind::StructSequence, name);
        for i in 0..ROW_LIMIT {
            let at = fields.checked_add(i * row)?;
            let text = |field| self.text(at, "PyStructSequence_Field", field);
            // Code puts `PyStructSequence_UnnamedField` where a row has no name; the last row has no words at all.
            let unnamed = || text("doc").map(|_| UNNAMED_FIELD.to_owned());
            let Some(name) = text("name").or_else(unnamed) else { break };
            ty.members.push(Member { name, ty: String::new(), field: String::new(), flags: Vec::new() });
        }
        (ty.members.len() as i64 >= shown).then_some(ty)
    }

    fn slot_array(&self, at: u64) -> Option<Vec<(String, u64)>> {
        let row = self.abi.size("PyType_Slot")?;
        if at == 0 || self.image.at(at).is_empty() {
            return None;
        }
        let mut slots = Vec::new();
        for i in 0..ROW_LIMIT {
            let at = at.checked_add(i * row)?;
            match self.integer(at, "PyType_Slot", "slot")? {
                0 => return Some(slots),
                id => slots.push((self.abi.slot_id(id)?.to_owned(), self.pointer(at, "PyType_Slot", "pfunc")?)),
            }
        }
        None
    }

    /// Addresses of a table's rows, up to the one without a name.
    fn rows(&self, table: u64, row: &str) -> Vec<(u64, String)> {
        let size = self.abi.size(row).unwrap_or(0);
        let name = if row == "PyMethodDef" { "ml_name" } else { "name" };
        if table == 0 || size == 0 {
            return Vec::new();
        }
        let row_at = |i: u64| table.checked_add(i * size);
        (0..ROW_LIMIT).map_while(|i| row_at(i).and_then(|at| Some((at, self.text(at, row, name)?)))).collect()
    }

    fn methods(&self, table: u64) -> Vec<Method> {
        let row = |(at, name): (u64, String)| {
            let signature = self.text(at, "PyMethodDef", "ml_doc").and_then(|doc| text_signature(&name, &doc));
            Some(Method {
                function: self.named_pointer(at, "PyMethodDef", "ml_meth")?,
                flags: self.abi.method_flags(self.integer(at, "PyMethodDef", "ml_flags")? as u64),
                name,
                signature,
            })
        };
        self.rows(table, "PyMethodDef").into_iter().filter_map(row).collect()
    }

    fn getset(&self, table: u64) -> Vec<GetSet> {
        let row = |(at, name): (u64, String)| GetSet {
            name,
            get: self.named_pointer(at, "PyGetSetDef", "get"),
            set: self.named_pointer(at, "PyGetSetDef", "set"),
            closure: self.pointer(at, "PyGetSetDef", "closure").filter(|&closure| closure != 0).map(|closure| {
                let symbol = self.image.named(closure).map(|symbol| symbol.name.to_owned());
                symbol.unwrap_or_else(|| format!("{closure:#x}"))
            }),
        };
        self.rows(table, "PyGetSetDef").into_iter().map(row).collect()
    }

    fn members(&self, table: u64) -> Vec<Member> {
        let row = |(at, name): (u64, String)| {
            Some(Member {
                name,
                ty: self.abi.member_type(self.integer(at, "PyMemberDef", "type")?),
                field: self.integer(at, "PyMemberDef", "offset")?.to_string(),
                flags: self.abi.member_flags(self.integer(at, "PyMemberDef", "flags")? as u64),
            })
        };
        self.rows(table, "PyMemberDef").into_iter().filter_map(row).collect()
    }
}

/// Whether a text can be `tp_name`: identifiers, dots, and what CPython itself uses, such as `Token.MISSING` or `managedbuffer`.
fn is_type_name(name: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || "_.-<> ".contains(c);
    !name.is_empty() && name.len() < 200 && name.chars().all(word)
}
