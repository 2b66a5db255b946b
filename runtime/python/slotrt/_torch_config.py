"""Settings of TorchDynamo's, `torch._dynamo.config`, which slotrt in its place goes by.

Settings about what calls do are looked up whenever a frame is about to be traced, those about sizes and backends when `torch.compile` is
called. Most others say how TorchDynamo does its work, and are no matter to slotrt; those in `REFUSED` change what a program would see.
"""

import logging
import os

from ._backends import TensorsOnly

# What slotrt does not do, by the setting that asks for it, and what to do instead.
REFUSED = {
    "caching_precompile": "use slotrt.save and slotrt.load, or SLOTRT_CACHE_DIR",
    "compiled_autograd": "leave it out: a backend that compiles gradients, too, gets them with the graph",
    "enable_compiler_collectives": "leave it out: each process traces by itself",
    "minimum_call_count": "use torch.compiler.set_stance('eager_then_compile')",
    "replay_record_enabled": "slotrt.explain(f)(…).save(path) shows what was traced",
    "repro_after": "an exception of a backend has its graph in the attribute 'graph'",
    "strict_precompile": "use slotrt.save and slotrt.load, or SLOTRT_CACHE_DIR",
    "verify_correctness": "compare within a backend of your own",
}

_USUAL = {"minimum_call_count": 1}


def _told(name, usual):
    """What a setting says; not every PyTorch has all of them."""
    import torch._dynamo.config

    return getattr(torch._dynamo.config, name, usual)


def _is_off():
    return bool(_told("disable", False)) or os.environ.get("TORCHDYNAMO_DISABLE") == "1"


def refused():
    """The settings in force that slotrt does not honour, and what to do instead."""
    values = ((name, _told(name, None), instead) for name, instead in REFUSED.items())
    return [(f"torch._dynamo.config.{name} = {value!r}", instead) for name, value, instead in values if value and value != _USUAL.get(name)]


def dynamic():
    """What `dynamic=None` means by these settings."""
    if not _told("assume_static_by_default", True):
        return True
    return None if _told("automatic_dynamic_shapes", True) and _told("dynamic_shapes", True) else False


class Settings:
    """What a session asks before it traces a frame."""

    def settings(self):
        """Whether tracing is off; the limit of traces; whether another trace, and reaching the limit, are errors."""
        return {
            "off": _is_off(),
            "limit": max(1, _told("recompile_limit", 8)),
            "once": bool(_told("error_on_recompile", False)),
            "strict": bool(_told("fail_on_recompile_limit_hit", False)),
        }

    def refuse_again(self, name, reasons):
        """Raises because `error_on_recompile` is set."""
        from torch._dynamo.exc import RecompileError

        failed = "".join(f"\n    - {reason}" for reason in reasons)
        raise RecompileError(f"{name} would be traced again, and torch._dynamo.config.error_on_recompile is set; no longer true:{failed}")

    def refuse_more(self, name, why, strict):
        """Raises because a frame has reached its limit."""
        from torch._dynamo.exc import FailOnRecompileLimitHit

        because = "torch._dynamo.config.fail_on_recompile_limit_hit is set" if strict else "fullgraph=True"
        raise FailOnRecompileLimitHit(f"{name}: {why}, and {because}")


class OrAsItIs(TensorsOnly):
    """A backend; what it cannot compile runs as it is, where `suppress_errors` is set."""

    def __call__(self, graph, example_inputs):
        try:
            return super().__call__(graph, example_inputs)
        except Exception:
            if not _told("suppress_errors", False):
                raise
            logging.getLogger("slotrt").warning("a backend raised, and torch._dynamo.config.suppress_errors is set: its graph runs as it is", exc_info=True)
            return graph
