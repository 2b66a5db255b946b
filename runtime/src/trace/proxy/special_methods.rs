//! Which special methods a proxy class has if the class that it stands for has them.
use crate::semantics::slotdefs::SLOTDEFS;
use generated::slots::Suite;
use rustc_hash::FxHashSet;
use std::sync::LazyLock;

/// Slots' methods that are no business of a proxy class: making, ending and looking at an object; [`Proxy`] itself answers what every object does.
pub(crate) const NOT_PROXIED: &[&str] = &[
    "__new__",
    "__init__",
    "__del__",
    "__getattribute__",
    "__getattr__",
    "__setattr__",
    "__delattr__",
    "__repr__",
    "__str__",
];

/// Methods without a slot that C looks up on types.
pub(crate) const LOOKED_UP_BY_C: &[&str] = &[
    "__reversed__",
    "__round__",
    "__trunc__",
    "__floor__",
    "__ceil__",
    "__complex__",
    "__bytes__",
    "__length_hint__",
    "__missing__",
    "__enter__",
    "__exit__",
    "__aenter__",
    "__aexit__",
    "__instancecheck__",
    "__subclasscheck__",
    "__fspath__",
    "__set_name__",
];

/// Whether proxies' classes have the special method where the classes that they stand for have it.
pub(crate) fn has_proxy_method(name: &str) -> bool {
    static PROXIED: LazyLock<FxHashSet<&str>> = LazyLock::new(|| {
        let all = SLOTDEFS.iter().map(|definition| definition.name).chain(LOOKED_UP_BY_C.iter().copied());
        all.filter(|name| !NOT_PROXIED.contains(name)).collect()
    });
    name.starts_with("__") && PROXIED.contains(name)
}

/// Whether a special method is one side of a binary operator.
pub(crate) fn is_operator(name: &str) -> bool {
    static OPERATORS: LazyLock<FxHashSet<&str>> = LazyLock::new(|| {
        let numbers = SLOTDEFS.iter().filter(|row| row.slot.suite() == Suite::tp_as_number);
        let names: FxHashSet<_> = numbers.map(|row| row.name).collect();
        let other = |name: &str| format!("__r{}", name.trim_start_matches('_'));
        let left = names.iter().copied().filter(|name| names.contains(&*other(name)));
        left.flat_map(|name| [Some(name), names.get(&*other(name)).copied()]).flatten().collect()
    });
    OPERATORS.contains(name)
}
