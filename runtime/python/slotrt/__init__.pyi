from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from os import PathLike
from types import CodeType, ModuleType
from typing import Any, Literal, TypeVar, overload

_F = TypeVar("_F", bound=Callable[..., Any])
_Backend = str | Callable[["Graph", tuple[Any, ...]], Callable[..., Sequence[Any]]]

class Node:
    op: Literal["placeholder", "call_function", "output"]
    name: str
    target: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    users: dict[Node, None]
    meta: dict[str, Any]

class Graph:
    nodes: list[Node]
    def __call__(self, *inputs: Any) -> tuple[Any, ...]: ...
    def __iter__(self) -> Iterator[Node]: ...
    def __len__(self) -> int: ...

class GraphBreak(Exception):
    type: str
    context: str
    explanation: str
    hints: list[str]
    file: str
    line: int

class InternalError(Exception): ...

class TraceFileError(ValueError): ...

class LoadedTraces:
    traces: int
    used: int
    unfit: dict[str, int]

class Explanation:
    result: Any
    frames: list[dict[str, Any]]
    graphs: int
    breaks: int
    ops: int
    guards: int
    reasons: list[dict[str, Any]]
    def data(self) -> dict[str, Any]: ...
    def to_json(self, **options: Any) -> str: ...
    def text(self, full: bool = True, width: int | None = None) -> str: ...
    def html(self) -> str: ...
    def save(self, path: str | PathLike[str]) -> None: ...

class _Torch(ModuleType):
    @staticmethod
    def frontend() -> AbstractContextManager[None]: ...
    @staticmethod
    def install() -> None: ...
    @staticmethod
    def uninstall() -> None: ...
    @staticmethod
    def parameters_as_attributes(backend: Callable[..., Any] | str) -> Callable[..., Any]: ...

class _Bytecode(ModuleType):
    class Error(ValueError): ...
    @staticmethod
    def roundtrip(code: CodeType) -> CodeType: ...
    @staticmethod
    def listing(code: CodeType) -> str: ...
    @staticmethod
    def stack_size(code: CodeType) -> int: ...

bytecode: _Bytecode
torch: _Torch
hook: ModuleType

@overload
def compile(
    fn: _F,
    *,
    backend: _Backend | None = None,
    fullgraph: bool | None = None,
    dynamic: bool | None = None,
    recompile_limit: int | None = None,
    inplace: bool = False,
    cache_dir: str | PathLike[str] | None = None,
) -> _F: ...
@overload
def compile(
    fn: None = None,
    *,
    backend: _Backend | None = None,
    fullgraph: bool | None = None,
    dynamic: bool | None = None,
    recompile_limit: int | None = None,
    inplace: bool = False,
    cache_dir: str | PathLike[str] | None = None,
) -> Callable[[_F], _F]: ...
@overload
def disable(fn: _F) -> _F: ...
@overload
def disable(fn: None = None) -> Callable[[_F], _F]: ...
def is_compiled(fn: object) -> bool: ...
def is_compiling() -> bool: ...
def explain(fn: Callable[..., Any], *, backend: _Backend = "eager") -> Callable[..., Explanation]: ...
def mark_dynamic(tensor: Any, index: int | Sequence[int], *, min: int | None = None, max: int | None = None) -> None: ...
def maybe_mark_dynamic(tensor: Any, index: int | Sequence[int]) -> None: ...
def mark_static(tensor: Any, index: int | Sequence[int] | None = None) -> None: ...
@overload
def stats(*, by_operator: Literal[False] = False) -> dict[str, int]: ...
@overload
def stats(*, by_operator: Literal[True]) -> dict[str, Any]: ...
def reset() -> None: ...
def save(path: str | PathLike[str]) -> dict[str, Any]: ...
def load(path: str | PathLike[str]) -> LoadedTraces: ...
def graph_break() -> None: ...
