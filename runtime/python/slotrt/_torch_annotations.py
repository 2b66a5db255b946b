"""What a trace goes through in place of `torch.profiler.record_function`: an annotation does nothing where no profiler records it.

Then its attribute `record` is one that has ended already: `__exit__` may run natively, where the graph breaks in between, and ends it again."""

import torch

from torch.autograd import profiler

from ._callables import disabled

_enter = disabled(profiler.record_function.__enter__)
_exit = disabled(profiler.record_function.__exit__)


def _init(self, name, args=None):
    self.name = name
    self.args = args
    self.run_callbacks_on_exit = True
    self.record = None
    self._cuspy_external_id = None


def _begin(self):
    if profiler._is_profiler_enabled or profiler._active_cuspy_profiler_observer is not None:
        return _enter(self)
    self.record = _ENDED
    return self


def _end(self, exc_type, exc_value, traceback):
    if self.record is not _ENDED:
        return _exit(self, exc_type, exc_value, traceback)


def _ended():
    """A record that is over."""
    record = torch.ops.profiler._record_function_enter_new("slotrt", None)
    torch.ops.profiler._record_function_exit._RecordFunction(record)
    return record


def _table():
    """By function. Empty, where this PyTorch keeps other things about an annotation."""
    made, known = profiler.record_function("name"), object.__new__(profiler.record_function)
    _init(known, "name")
    watched = hasattr(profiler, "_is_profiler_enabled") and hasattr(profiler, "_active_cuspy_profiler_observer")
    if not watched or vars(made) != vars(known):
        return {}
    annotation = profiler.record_function
    return {annotation.__init__: _init, annotation.__enter__: _begin, annotation.__exit__: _end}


IN_PLACE_OF = _table()
_ENDED = _ended() if IN_PLACE_OF else None
