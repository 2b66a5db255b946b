//! The rows of a release's tables, from its facts.
use crate::pack::{Pack, Result, list, number};
use serde_json::Value;
use std::collections::HashMap;

type Rows = Vec<Vec<u32>>;

/// A number that stands for none.
const NONE: u32 = u32::MAX;

/// The bits of PyTorch's `PySequenceSlots`, `PyMappingSlots`, `PyNumberSlots` and `PyTypeSlots`, each in its order.
const SEQUENCE: &str =
    "sq_length sq_concat sq_repeat sq_item sq_contains sq_ass_item sq_inplace_concat sq_inplace_repeat";
const MAPPING: &str = "mp_length mp_subscript mp_ass_subscript";
const NUMBER: &str = "nb_add nb_subtract nb_multiply nb_remainder nb_power nb_negative nb_positive nb_absolute nb_bool \
    nb_invert nb_lshift nb_rshift nb_and nb_xor nb_or nb_int nb_float nb_inplace_add nb_inplace_subtract \
    nb_inplace_multiply nb_inplace_remainder nb_inplace_power nb_inplace_lshift nb_inplace_rshift nb_inplace_and \
    nb_inplace_xor nb_inplace_or nb_floor_divide nb_true_divide nb_inplace_floor_divide nb_inplace_true_divide nb_index \
    nb_matrix_multiply nb_inplace_matrix_multiply nb_divmod";
const TYPE: &str = "tp_hash tp_iter tp_iternext tp_call tp_repr tp_richcompare tp_getattro tp_setattro tp_descr_get \
    tp_descr_set tp_str tp_init";
/// What PyTorch has no bits for.
const OTHER: &str = "am_await am_aiter am_anext am_send bf_getbuffer bf_releasebuffer tp_dealloc tp_getattr tp_setattr \
    tp_traverse tp_clear tp_alloc tp_new tp_free tp_is_gc tp_del tp_finalize tp_vectorcall tp_print";

/// The group of a slot, a word of `slotrt_slot_masks`, and its bit there.
fn mask_bit(name: &str) -> (u32, u32) {
    let groups = [SEQUENCE, MAPPING, NUMBER, TYPE, OTHER];
    let found = groups.iter().zip(0..).find_map(|(names, group)| {
        let bit = names.split_whitespace().zip(0..).find(|(known, _)| *known == name)?.1;
        Some((group, bit))
    });
    found.unwrap_or((NONE, NONE))
}

/// Packs a release.
pub fn release(pack: &mut Pack, series: u32, facts: &Value) -> Result<()> {
    let structs = list(&facts["structs"]);
    let (slots, places) = slots(pack, facts);
    let slotdefs = slotdefs(pack, facts, &places);
    let wrappers = wrappers(pack, facts, &slots, &places);
    let mut parts: [Rows; 4] = Default::default();
    let mut types = Rows::new();
    for ty in list(&facts["types"]) {
        types.push(type_row(pack, facts, ty, &places, &mut parts)?);
    }
    let [values, methods, getsets, members] = parts;
    let (opcodes, caches) = opcodes(pack, facts);
    let mut fields = Rows::new();
    let mut layouts = Rows::new();
    for layout in structs {
        let first = fields.len() as u32;
        for field in list(&layout["fields"]) {
            let (name, ty) = (pack.value(&field["name"]), pack.value(&field["type"]));
            fields.push(vec![name, ty, number(&field["offset"]), number(&field["size"])]);
        }
        let (name, file) = (pack.value(&layout["name"]), pack.value(&layout["file"]));
        let count = fields.len() as u32 - first;
        let sizes = [number(&layout["size"]), number(&layout["align"])];
        layouts.push(vec![name, file, number(&layout["line"]), sizes[0], sizes[1], first, count]);
    }
    let origin = u32::from(facts["source"] == "binary");
    let head = vec![series, pack.value(&facts["release"]), origin, number(&facts["opcodes"]["have_argument"])];
    let tables = [slots, slotdefs, wrappers, types, values, methods, getsets, members, opcodes, layouts, fields];
    pack.release(head, &caches, tables);
    Ok(())
}

/// Slots in the order of the structs, and the place of each name.
fn slots(pack: &mut Pack, facts: &Value) -> (Rows, HashMap<String, u32>) {
    let structs = list(&facts["structs"]);
    let find = |name: &str| structs.iter().find(|layout| layout["name"] == name);
    let functions: Vec<&str> = list(&facts["function_types"]).iter().filter_map(|row| row["name"].as_str()).collect();
    let is_slot = |field: &&Value| field["type"].as_str().is_some_and(|ty| functions.contains(&ty));
    let (mut rows, mut places) = (Rows::new(), HashMap::new());
    let mut add = |pack: &mut Pack, layout: &Value, suite: &str, start: u32| {
        for field in list(&layout["fields"]).iter().filter(is_slot) {
            let name = field["name"].as_str().unwrap_or_default();
            let (group, bit) = mask_bit(name);
            let offset = number(&field["offset"]);
            places.insert(name.to_owned(), rows.len() as u32);
            let texts = [pack.text(name), pack.text(suite), pack.value(&field["type"])];
            rows.push(vec![texts[0], texts[1], texts[2], offset, start + offset, group, bit]);
        }
    };
    let (Some(ty), Some(heap)) = (find("PyTypeObject"), find("PyHeapTypeObject")) else { return (rows, places) };
    add(pack, ty, "", 0);
    for field in list(&heap["fields"]) {
        let name = field["type"].as_str().unwrap_or_default();
        let pointer = list(&ty["fields"]).iter().find(|candidate| candidate["type"] == format!("{name} *"));
        if let (Some(pointer), Some(layout)) = (pointer, find(name).filter(|_| name != "PyTypeObject")) {
            add(pack, layout, pointer["name"].as_str().unwrap_or_default(), number(&field["offset"]));
        }
    }
    (rows, places)
}

fn slotdefs(pack: &mut Pack, facts: &Value, places: &HashMap<String, u32>) -> Rows {
    let row = |row: &Value| {
        let slot = row["slot"].as_str().and_then(|slot| places.get(slot)).copied().unwrap_or(NONE);
        let texts = ["name", "function", "wrapper", "doc"].map(|key| pack.value(&row[key]));
        vec![texts[0], slot, number(&row["offset"]), texts[1], texts[2], number(&row["flags"]), texts[3]]
    };
    list(&facts["slotdefs"]).iter().map(row).collect()
}

/// The wrappers that slotdefs name, each once, with the type of the functions that they call.
fn wrappers(pack: &mut Pack, facts: &Value, slots: &Rows, places: &HashMap<String, u32>) -> Rows {
    let mut rows = Rows::new();
    for row in list(&facts["slotdefs"]) {
        let name = pack.value(&row["wrapper"]);
        if name == 0 || rows.iter().any(|known| known[0] == name) {
            continue;
        }
        let slot = row["slot"].as_str().and_then(|slot| places.get(slot));
        let signature = slot.and_then(|slot| slots.get(*slot as usize)).map_or(0, |slot| slot[2]);
        rows.push(vec![name, signature, number(&row["flags"])]);
    }
    rows
}

fn type_row(
    pack: &mut Pack,
    facts: &Value,
    ty: &Value,
    places: &HashMap<String, u32>,
    parts: &mut [Rows; 4],
) -> Result<Vec<u32>> {
    let kind = match ty["kind"].as_str() {
        Some("static") => 0,
        Some("spec") => 1,
        Some("structsequence") => 2,
        other => return Err(format!("{other:?} is no kind of type").into()),
    };
    let mut row = ["c_name", "tp_name", "file", "base", "metatype", "basicsize", "itemsize"]
        .map(|key| pack.value(&ty[key]))
        .to_vec();
    row.extend([pack.flags(&ty["flags"]), number(&ty["line"]), kind]);
    let starts = parts.each_ref().map(Vec::len);
    let mut values = value_rows(pack, ty, places);
    values.sort();
    parts[0].extend(values);
    for method in list(&ty["methods"]) {
        let flags = list(&method["flags"]).iter().filter_map(Value::as_str);
        let bits = flags.map(|flag| number(&facts["constants"][flag])).fold(0, |bits, bit| bits | bit);
        let texts = ["name", "function", "signature"].map(|key| pack.value(&method[key]));
        parts[1].push(vec![texts[0], texts[1], texts[2], bits]);
    }
    for getset in list(&ty["getset"]) {
        parts[2].push(["name", "get", "set", "closure"].map(|key| pack.value(&getset[key])).to_vec());
    }
    for member in list(&ty["members"]) {
        let texts = ["name", "type", "field"].map(|key| pack.value(&member[key]));
        let flags = pack.flags(&member["flags"]);
        parts[3].push(vec![texts[0], texts[1], texts[2], flags]);
    }
    for (start, rows) in starts.iter().zip(parts) {
        row.extend([*start as u32, (rows.len() - start) as u32]);
    }
    Ok(row)
}

/// What the slots hold, in the order of the slots.
fn value_rows(pack: &mut Pack, ty: &Value, places: &HashMap<String, u32>) -> Rows {
    let filled = ty["slots"].as_object().into_iter().flatten();
    let row = |(name, held): (&String, &Value)| {
        let origin = match (held["origin"].as_str(), held["ready"].as_bool()) {
            (Some("inherited"), _) => 1,
            (_, Some(true)) => 2,
            _ => 0,
        };
        Some(vec![*places.get(name)?, pack.value(&held["function"]), origin, pack.value(&held["from"])])
    };
    filled.filter_map(row).collect()
}

/// Opcodes, and the bytes of `_PyOpcode_Caches`.
fn opcodes(pack: &mut Pack, facts: &Value) -> (Rows, [u8; 256]) {
    let all = list(&facts["opcodes"]["opcodes"]);
    let (mut rows, mut caches) = (Rows::new(), [0; 256]);
    for opcode in all {
        let value = number(&opcode["number"]);
        let kind = match opcode["kind"].as_str() {
            Some("specialised") => 1,
            Some("instrumented") => 2,
            Some("pseudo") => 3,
            _ => 0,
        };
        let base = opcode["base"].as_str().and_then(|base| all.iter().find(|row| row["name"] == base));
        let has_argument = |row: &Value| list(&row["flags"]).iter().any(|flag| flag == "ARG");
        let argument = u32::from(has_argument(opcode) || base.is_some_and(has_argument));
        let base = base.map_or(value, |base| number(&base["number"]));
        let texts = ["name", "popped", "pushed", "effect"].map(|key| pack.value(&opcode[key]));
        let flags = pack.flags(&opcode["flags"]);
        let count = number(&opcode["caches"]);
        rows.push(vec![texts[0], value, kind, base, count, argument, flags, texts[1], texts[2], texts[3]]);
        if let Some(place) = caches.get_mut(value as usize).filter(|_| kind == 0) {
            *place = count as u8;
        }
    }
    (rows, caches)
}
