"""slotrt in the place of TorchDynamo: what calls `torch.compile` uses slotrt, unchanged.

    >>> with slotrt.torch.frontend():
    ...     net = torch.compile(net, backend="inductor", mode="max-autotune-no-cudagraphs")

`install()` does the same until `uninstall()`. In their place are then `torch.compile` (with it `torch.nn.Module.compile` and
`torch.compiler.compile`), `torch._dynamo.optimize` and `optimize_assert`, `torch.compiler.disable`, `allow_in_graph`, `set_stance`, `reset`
and the functions of `torch._dynamo` of the same names, and those that mark tensors. Settings of `torch._dynamo.config` are heeded. What was
compiled stays compiled by whoever compiled it. What slotrt cannot honour raises `NotImplementedError`, and says what to do instead.
"""

import contextlib

import torch

from . import _api, _torch_config
from ._attributes import parameters_as_attributes
from ._marks import mark_dynamic
from ._callables import disabled
from ._torch_config import OrAsItIs

__all__ = ["frontend", "install", "parameters_as_attributes", "uninstall"]

_STANCES = ("default", "force_eager", "eager_on_recompile", "fail_on_recompile", "eager_then_compile")

_installed = 0
_originals = []
_stance = "default"


@contextlib.contextmanager
def frontend():
    """A context in which `torch.compile` and its kin use slotrt. It may be entered within another one."""
    install()
    try:
        yield
    finally:
        uninstall()


def install():
    """Has `torch.compile` and its kin use slotrt, until `uninstall` was called as often."""
    global _installed
    if not _installed:
        # Not every PyTorch has all of them.
        found = [row for row in _replacements() if hasattr(row[0], row[1])]
        for owner, name, replacement in found:
            _originals.append((owner, name, getattr(owner, name)))
            setattr(owner, name, replacement)
        _api._session.set_frontend(_torch_config.Settings())
    _installed += 1


def uninstall():
    """Puts back what `install` replaced. `RuntimeError`, if nothing is installed."""
    global _installed
    if not _installed:
        raise RuntimeError("slotrt.torch.uninstall: nothing is installed; call slotrt.torch.install first")
    _installed -= 1
    if _installed:
        return
    _set_stance("default")
    _api._session.set_frontend(None)
    while _originals:
        owner, name, original = _originals.pop()
        setattr(owner, name, original)


def _replacements():
    import torch._dynamo
    from torch._dynamo import decorators, eval_frame

    yield torch, "compile", compile
    yield torch.compiler, "disable", disable
    yield torch.compiler, "allow_in_graph", allow_in_graph
    yield torch.compiler, "set_stance", set_stance
    yield torch.compiler, "reset", reset
    for owner in (torch._dynamo, eval_frame):
        yield owner, "optimize", optimize
        yield owner, "optimize_assert", optimize_assert
    yield torch._dynamo, "reset", reset
    for owner in (torch._dynamo, decorators):
        yield owner, "disable", disable
        yield owner, "allow_in_graph", allow_in_graph
        yield owner, "set_stance", set_stance
        yield owner, "mark_static_address", mark_static_address
        yield owner, "mark_unbacked", mark_unbacked


def _refuse(what, instead):
    raise NotImplementedError(f"{what}: slotrt, which is in the place of TorchDynamo, does not do this; {instead}")


def _refuse_options(options):
    """Options that TorchDynamo itself takes out of those for a backend."""
    for name in ("guard_filter_fn", "use_aoti"):
        if options and options.get(name):
            _refuse(f"torch.compile(options={{{name!r}: …}})", "leave it out, or call slotrt.torch.uninstall() for this")


def compile(
    model=None,
    *,
    fullgraph=False,
    dynamic=None,
    backend=None,
    mode=None,
    options=None,
    name=None,
    disable=False,
    recompile_limit=None,
    isolate_recompiles=False,
    dynamic_shapes=None,
):
    """`torch.compile` with slotrt: its arguments, its defaults."""
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if isolate_recompiles:
        _refuse("torch.compile(isolate_recompiles=True)", "leave it out: each compiled function has its own traces, and its own limit")
    if dynamic_shapes is not None:
        _refuse("torch.compile(dynamic_shapes=…)", "use dynamic=True")
    _refuse_options(options)
    for setting, instead in _torch_config.refused():
        _refuse(setting, instead)
    chosen = _backend(backend, mode, options, dynamic, name)
    dynamic = _torch_config.dynamic() if dynamic is None else dynamic

    def compiled(model):
        if model is None:
            raise RuntimeError("Model can't be None")
        if disable:
            return model
        given = {"fullgraph": bool(fullgraph), "dynamic": dynamic, "recompile_limit": recompile_limit}
        return _api.compile(model, backend=chosen, **given)

    return compiled if model is None else compiled(model)


def _backend(backend, mode, options, dynamic, name):
    """What slotrt gets for a backend, its mode and its options: PyTorch's own callable for them."""
    from torch._dynamo.backends import registry

    if backend is None:
        # Not every PyTorch lets the default be chosen.
        backend = getattr(registry, "get_default_backend", lambda: "inductor")()
    named = () if name is None else (name,)
    if backend == "inductor":
        mode = "default" if mode is None and options is None else mode
        return OrAsItIs(torch._TorchCompileInductorWrapper(mode, options, dynamic, *named))
    registry.lookup_backend(backend)
    if backend == "eager" and not options and mode in (None, "default"):
        return "eager"
    if not options and mode in (None, "default"):
        return OrAsItIs(registry.lookup_backend(backend))
    return OrAsItIs(torch._TorchCompileWrapper(backend, mode, options, dynamic, *named))


def optimize(
    backend="inductor", *, nopython=False, error_on_graph_break=None, guard_export_fn=None, guard_fail_fn=None,
    guard_filter_fn=None, disable=False, dynamic=None, **others,
):
    """`torch._dynamo.optimize` with slotrt: a decorator."""
    for name, given in (
        ("guard_export_fn", guard_export_fn),
        ("guard_fail_fn", guard_fail_fn),
        ("guard_filter_fn", guard_filter_fn),
        *((name, given) for name, given in others.items() if name not in ("rebuild_ctx", "package")),
    ):
        if given:
            _refuse(f"torch._dynamo.optimize({name}=…)", "leave it out; slotrt.explain shows guards, and why they fail")
    return compile(backend=backend, fullgraph=nopython or bool(error_on_graph_break), dynamic=dynamic, disable=disable)


def optimize_assert(backend, **options):
    """`torch._dynamo.optimize_assert` with slotrt: a graph break is an error."""
    return optimize(backend, nopython=True, **options)


def disable(fn=None, recursive=True, *, reason=None, wrapping=True):
    """`torch.compiler.disable` with slotrt: it leaves a callable alone, with all that it calls, also where `recursive` is false."""
    if fn is None:
        return disable
    if isinstance(fn, type):
        # As a class decorator it leaves the methods that make instances and call them alone.
        for name in ("__init__", "forward", "__call__"):
            if name in fn.__dict__:
                setattr(fn, name, disabled(fn.__dict__[name]))
        return fn
    return disabled(fn)


def allow_in_graph(fn):
    """`torch.compiler.allow_in_graph` with slotrt: calls of the function on tensors are nodes, and nobody looks inside."""
    if isinstance(fn, (list, tuple)):
        return [allow_in_graph(one) for one in fn]
    if not callable(fn):
        raise AssertionError("allow_in_graph expects a callable")
    try:
        fn._slotrt_allowed_in_graph = True
    except (AttributeError, TypeError):
        # Functions of C: those of PyTorch are nodes anyway.
        pass
    return fn


def reset():
    """`torch.compiler.reset` with slotrt: forgets what either has compiled."""
    _api.reset()
    original = next(original for owner, name, original in _originals if owner is torch._dynamo and name == "reset")
    original()


def _set_stance(stance):
    global _stance
    before, _stance = _stance, stance
    _api._session.set_stance(_STANCES.index(stance))
    return before


class set_stance(contextlib.ContextDecorator):
    """`torch.compiler.set_stance` with slotrt: a function, a context manager and a decorator."""

    def __init__(self, stance="default", *, skip_guard_eval_unsafe=False, force_backend=None):
        if stance not in _STANCES:
            known = ", ".join(repr(name) for name in _STANCES)
            if stance == "aot_eager_then_compile":
                _refuse("set_stance('aot_eager_then_compile')", "use 'eager_then_compile'")
            raise RuntimeError(f"invalid torch.compile stance {stance!r}; known: {known}")
        if force_backend is not None and stance != "default":
            raise RuntimeError("non-default stance cannot have force_backend set")
        if skip_guard_eval_unsafe:
            _refuse("set_stance(skip_guard_eval_unsafe=True)", "leave it out: guards that cannot change are not checked")
        if force_backend is not None:
            _refuse("set_stance(force_backend=…)", "give torch.compile the backend")
        self.stance = stance
        self.before = _set_stance(stance)

    def __call__(self, fn):
        _set_stance(self.before)
        return super().__call__(fn)

    def _recreate_cm(self):
        return self

    def __enter__(self):
        _set_stance(self.stance)

    def __exit__(self, *raised):
        _set_stance(self.before)


def mark_static_address(tensor, guard=False):
    """Addresses are no matter to slotrt; backends are told nothing of them."""


def mark_unbacked(
    t, index, hint_override=None, strict=False, specialize_on=None, shape_id=None, min=None, max=None
):
    """`torch._dynamo.mark_unbacked` with slotrt: the size is symbolic from the first trace on. Where the program looks at it all the
    same, a guard says so; sizes of 0 and 1 are traces of their own. What only tells a backend about likely sizes is not used."""
    if strict:
        _refuse("torch._dynamo.mark_unbacked(strict=True)", "leave strict out: where the program looks at the size, a guard says so")
    mark_dynamic(t, index, min=min, max=max)
