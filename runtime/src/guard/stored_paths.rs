//! Paths on disk: each as a tag, and what it goes on from.
use super::load::Load;
use super::source::{Fixed, Source};
use crate::ffi::held::Held;
use crate::ffi::random_numbers::Draw;
use crate::stored::{Damaged, In, Misfit, Out};
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::cell::RefCell;
use std::sync::Arc;

const GONE: &str = "an object of the program is gone";

/// An object that a program names.
pub(super) fn now<'py>(object: &Held, py: Python<'py>) -> Result<Bound<'py, PyAny>, Misfit> {
    object.object_now(py).ok_or_else(|| Misfit::new(GONE))
}

pub(super) fn write_load<'py>(load: &Load, out: &mut Out<'_, 'py>) -> Result<(), Misfit> {
    let py = out.py();
    let mut one = |tag: u8, index: usize| {
        out.bytes.0.push(tag);
        out.bytes.number(index as u64);
    };
    match load {
        Load::Argument(index) => one(0, *index),
        Load::FreeCell(index) => one(1, *index),
        Load::Content(base) => one(2, *base),
        Load::Global(name) => {
            out.bytes.0.push(3);
            out.object(name.bind(py).as_any())?;
        }
        Load::Builtin(name) => {
            out.bytes.0.push(4);
            out.object(name.bind(py).as_any())?;
        }
        Load::Entry(base, key) => {
            one(5, *base);
            out.object(&now(key, py)?)?;
        }
        Load::Attribute(base, name) => {
            one(6, *base);
            out.object(name.bind(py).as_any())?;
        }
        Load::ContextValue(base) => one(7, *base),
        Load::Dict(base) => one(8, *base),
        Load::Item(base, index) => {
            one(9, *base);
            out.bytes.number(*index as u64);
        }
        Load::OwnItem(base, method, index) => {
            one(10, *base);
            out.object(method.bind(py))?;
            out.bytes.number(*index as u64);
        }
        Load::EntryFor(base, key) => {
            one(11, *base);
            out.bytes.number(*key as u64);
        }
        Load::HasKey(base, key) => {
            one(12, *base);
            out.bytes.number(*key as u64);
        }
        Load::Referent(base) => one(13, *base),
        Load::Ahead(base, count) => {
            one(14, *base);
            out.bytes.number(*count as u64);
        }
        Load::Drawn(base, draw) => {
            let (kind, number) = draw.parts();
            one(24, *base);
            out.bytes.number(u64::from(kind));
            out.bytes.number(number.cast_unsigned());
        }
        Load::WeakReferent(base) => one(15, *base),
        Load::WeakReference(base) => one(16, *base),
        Load::Keys(base) => one(17, *base),
        Load::Values(base) => one(18, *base),
        Load::ThreadDict(base) => one(19, *base),
        Load::Type(base) => one(20, *base),
        Load::Size(base, index) => {
            one(21, *base);
            out.bytes.number(*index as u64);
        }
        Load::Length(base) => one(27, *base),
        Load::ItemFromEnd(base, index) => {
            one(28, *base);
            out.bytes.number(*index as u64);
        }
        Load::Contents(base) => one(25, *base),
        Load::Address(base) => one(26, *base),
        Load::Together(parts) => {
            one(22, parts.len());
            parts.iter().for_each(|part| out.bytes.number(*part as u64));
        }
        Load::Constant(_) | Load::Member(..) | Load::CellOf(..) => {
            out.bytes.0.push(23);
            out.kept(&load.named(py).ok_or_else(|| Misfit::new(GONE))?)?;
        }
        Load::WithHash(..) => return Err(Misfit::new("the hash of a key may be another in another process")),
        // Residual programs are not written.
        Load::Kept(_) => return Err(Misfit::new("what a watch keeps")),
    }
    Ok(())
}

pub(super) fn read_source(from: &mut In<'_, '_>, paths: &RefCell<Vec<Arc<Source>>>) -> Result<Source, Misfit> {
    let tag = from.bytes.byte()?;
    let known = |index: usize| paths.borrow().get(index).cloned().ok_or(Damaged);
    match tag {
        0 => return Ok(Source::Local(small(from)?)),
        1 => return Ok(Source::FreeCell(small(from)?)),
        3 => return Ok(Source::Global(text(from)?.into())),
        4 => return Ok(Source::Builtin(text(from)?.into())),
        22 => {
            let parts = (0..from.bytes.count()?).map(|_| Ok((*known(from.bytes.index()?)?).clone()));
            return Ok(Source::Together(parts.collect::<Result<Vec<_>, Damaged>>()?.into()));
        }
        23 => return Ok(Source::Constant(Fixed::new(&from.object()?))),
        _ => {}
    }
    let base = known(from.bytes.index()?)?;
    Ok(match tag {
        2 => match &*base {
            Source::FreeCell(index) => Source::Free(*index),
            _ => Source::Cell(base),
        },
        5 => Source::DictItem(base, Fixed::new(&from.object()?)),
        6 => Source::Attr(base, text(from)?.into()),
        7 => Source::ContextValue(base),
        8 => Source::Dict(base),
        9 => Source::Item(base, from.bytes.index()?),
        10 => {
            let method = Fixed::new(&from.object()?);
            Source::OwnItem(base, method, from.bytes.index()?)
        }
        11 => Source::EntryFor(base, known(from.bytes.index()?)?),
        12 => Source::HasKey(base, Fixed::new(&from.py().None().into_bound(from.py())), known(from.bytes.index()?)?),
        13 => Source::Referent(base),
        14 => Source::Ahead(base, from.bytes.index()?),
        24 => {
            let kind = u8::try_from(from.bytes.number()?).map_err(|_| Damaged)?;
            Source::Drawn(base, Draw::of(kind, from.bytes.number()?.cast_signed()).ok_or(Damaged)?)
        }
        15 => Source::WeakReferent(base),
        16 => Source::WeakReference(base),
        17 => Source::Keys(base),
        18 => Source::Values(base),
        19 => Source::ThreadDict(base),
        20 => Source::TypeOf(base),
        21 => Source::Size(base, from.bytes.index()?),
        25 => Source::Contents(base),
        26 => Source::Address(base),
        27 => Source::Length(base),
        28 => Source::ItemFromEnd(base, from.bytes.index()?),
        _ => return Err(Damaged.into()),
    })
}

fn small(from: &mut In<'_, '_>) -> Result<u32, Misfit> {
    Ok(u32::try_from(from.bytes.number()?).map_err(|_| Damaged)?)
}

fn text(from: &mut In<'_, '_>) -> Result<String, Misfit> {
    let text = from.object()?;
    Ok(text.cast::<PyString>().map_err(|_| Damaged)?.to_str()?.to_owned())
}
