//! Whether a value of one type may stand where another is wanted.

use super::kinds::Ty;

/// Whether two types are one, as far as they are known.
pub(super) fn same(one: &Ty, other: &Ty) -> bool {
    match (one, other) {
        (one, other) if one.is_open() || other.is_open() => true,
        (Ty::AnyInt, Ty::AnyInt | Ty::Int(_)) | (Ty::Int(_), Ty::AnyInt) => true,
        (Ty::AnyDouble, Ty::AnyDouble | Ty::Double) | (Ty::Double, Ty::AnyDouble) => true,
        (Ty::Option(a), Ty::Option(b))
        | (Ty::Result(a), Ty::Result(b))
        | (Ty::Vec(a), Ty::Vec(b))
        | (Ty::Slice(a), Ty::Slice(b))
        | (Ty::Ref(a), Ty::Ref(b))
        | (Ty::Mut(a), Ty::Mut(b)) => same(a, b),
        (Ty::Tuple(a), Ty::Tuple(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (one, other) => one == other,
    }
}

/// Whether a value may be given where a type is wanted, coercions included.
pub(super) fn fits(given: &Ty, wanted: &Ty) -> bool {
    if same(given, wanted) {
        return true;
    }
    match (given, wanted) {
        (Ty::Ref(a) | Ty::Mut(a), Ty::Ref(b)) => derefs(a, b),
        (Ty::Mut(a), Ty::Mut(b)) => derefs(a, b),
        _ => false,
    }
}

/// Whether a reference to the one gives a reference to the other.
fn derefs(from: &Ty, to: &Ty) -> bool {
    if same(from, to) {
        return true;
    }
    match (from, to) {
        (Ty::Named(name), Ty::Str) => name == "String",
        (Ty::Vec(a), Ty::Slice(b)) => same(a, b),
        (Ty::Ref(inner) | Ty::Mut(inner), _) => derefs(inner, to),
        _ => false,
    }
}

/// The type of two ways that meet; nothing where they do not.
pub(super) fn meet(one: Ty, other: Ty) -> Option<Ty> {
    if one == Ty::Never {
        return Some(other);
    }
    if other == Ty::Never || fits(&other, &one) {
        // What is known better counts.
        let better = matches!(one, Ty::Unknown | Ty::AnyInt | Ty::AnyDouble) && other != Ty::Never;
        let filled = matches!(&one, Ty::Option(inner) if inner.is_open()) && matches!(other, Ty::Option(_));
        return Some(if better || filled { other } else { one });
    }
    fits(&one, &other).then_some(other)
}
