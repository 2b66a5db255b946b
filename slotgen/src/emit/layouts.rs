//! Structs that the runtime lays over CPython's memory, with compile-time proofs of their offsets.

use askama::Template;

use super::file::{RenderError, text};
use crate::facts::{Field, FunctionType, Struct};

#[derive(Template)]
#[template(path = "layouts.rs.jinja", escape = "none")]
struct LayoutsTemplate<'a> {
    layouts: Vec<Layout<'a>>,
}

struct Layout<'a> {
    name: &'a str,
    file: &'a str,
    size: u32,
    align: u32,
    fields: Vec<Row>,
}

struct Row {
    name: String,
    comment: String,
    ty: String,
    offset: u32,
    padding: bool,
}

/// The named structs of a release as `repr(C)` structs: a module without a header.
pub fn layouts(structs: &[Struct], function_types: &[FunctionType], names: &[&str]) -> Result<String, RenderError> {
    let is_function = |ty: &str| function_types.iter().any(|known| known.name == ty);
    let named = |name: &&str| structs.iter().find(|known| known.name == *name);
    let layouts = names.iter().filter_map(named).map(|fact| layout(fact, &is_function)).collect();
    text("layouts", &LayoutsTemplate { layouts })
}

fn layout<'f>(fact: &'f Struct, is_function: &dyn Fn(&str) -> bool) -> Layout<'f> {
    let mut fields = Vec::new();
    let mut end = 0;
    for field in &fact.fields {
        // Bit-fields and the members of unions share an offset: the first one stands for all.
        if field.offset < end {
            continue;
        }
        pad(&mut fields, &mut end, field.offset);
        let name = if syn::parse_str::<syn::Ident>(&field.name).is_ok() {
            field.name.clone()
        } else {
            format!("r#{}", field.name)
        };
        let ty = if is_function(&field.ty) { "*mut c_void".to_owned() } else { rust_type(field) };
        fields.push(Row { name, comment: field.ty.clone(), ty, offset: field.offset, padding: false });
        end = field.offset + field.size;
    }
    pad(&mut fields, &mut end, fact.size);
    Layout { name: &fact.name, file: &fact.file, size: fact.size, align: fact.align, fields }
}

fn pad(fields: &mut Vec<Row>, end: &mut u32, start: u32) {
    if *end < start {
        let (name, ty) = (format!("_pad_{end}"), format!("[u8; {}]", start - *end));
        fields.push(Row { name, comment: String::new(), ty, offset: *end, padding: true });
        *end = start;
    }
}

/// A Rust type of the field's size and at most its alignment.
fn rust_type(field: &Field) -> String {
    let unsigned = field.ty.contains("unsigned") || field.ty.starts_with('u') || field.ty == "size_t";
    if field.size == 8 && (field.ty.ends_with('*') || field.ty.contains("(*")) {
        return "*mut c_void".to_owned();
    }
    if field.ty.rsplit_once('[').is_some_and(|(element, _)| element.ends_with('*')) {
        return format!("[*mut c_void; {}]", field.size / 8);
    }
    match (integer(&field.ty), field.size, unsigned) {
        (true, 1, true) => "u8".to_owned(),
        (true, 1, false) => "i8".to_owned(),
        (true, 2, true) => "u16".to_owned(),
        (true, 2, false) => "i16".to_owned(),
        (true, 4, true) => "u32".to_owned(),
        (true, 4, false) => "i32".to_owned(),
        (true, 8, true) => "usize".to_owned(),
        (true, 8, false) => "isize".to_owned(),
        (_, size, _) if size.is_multiple_of(8) && field.offset.is_multiple_of(8) => format!("[usize; {}]", size / 8),
        (_, size, _) => format!("[u8; {size}]"),
    }
}

fn integer(ty: &str) -> bool {
    let word = |word: &str| matches!(word, "char" | "short" | "int" | "long" | "unsigned" | "signed" | "Py_ssize_t");
    ty.split(' ').all(|part| word(part) || part.ends_with("_t"))
}
