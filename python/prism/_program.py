"""Programs and their entries."""

from __future__ import annotations

import collections
import inspect
import json
import keyword
import os
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _arrays, _native

__all__ = ["Argument", "Kernel", "Entry", "Program"]

Extent = Union[int, str]

# What an entry's call takes beside the arrays, unless the entry has an argument of that name.
_CONTROLS = ("schedule", "isa", "segments", "stream", "host_offsets", "trust_offsets")

_CONTROLS_HELP = """\
Beside the arrays:
  schedule       pins a schedule ({schedules}); default: the program's choice for the sizes
  isa            pins a CPU level, e.g. "x86-64-v3"; default: the best that this CPU runs
  segments       into how many segments sequences are split; 1: not at all; default: the program's choice
  stream         a CUDA stream's handle (an integer); default: the current stream of the arrays' library
  host_offsets   for offsets on a GPU: a copy on the CPU, which is checked
  trust_offsets  True: offsets are right and are not checked; wrong ones are undefined behaviour"""

_RULES_HELP = """\
Arrays may be NumPy arrays, PyTorch tensors (CPU or GPU), JAX arrays (CPU) or any with __dlpack__, all on one device.
Nothing is copied: strides may be any where the last axis has stride 1 (a last axis b, t, h or n may have any).
Outputs come as arrays of the library of the first array. An output given by name is written into and returned;
final_state may be the same array as initial_state, which is then updated in place; final_state=None is not computed.
The window after a call is another array than the one before it.

Raises prism.ArgumentError for arrays that do not fit, prism.DeviceError where no kernel runs on their device."""


class Argument(collections.namedtuple("Argument", "name role dtype axes shape optional")):
    """What an entry expects of one array.

    Attributes:
        name: its keyword.
        role: "input", "initial_state", "offsets", "output", "final_state", or of a short convolution "initial_window" or
            "final_window".
        dtype: "f64", "f32", "bf16", "f16" or "i64".
        axes: a letter for each dimension, e.g. "bthk".
        shape: numbers, and the symbols "B", "T", "N" and "N+1".
        optional: may be left out.
    """

    __slots__ = ()

    @property
    def is_output(self) -> bool:
        """Whether a call writes it."""
        return self.role in ("output", "final_state", "final_window")

    def __str__(self) -> str:
        shape = ", ".join(str(extent) for extent in self.shape)
        return f"{self.dtype} [{shape}]" + (" optional" if self.optional else "")


class Kernel(collections.namedtuple("Kernel", "target schedule chunk value_block")):
    """One compiled kernel.

    Attributes:
        target: "cpu:x86-64-v4", "cuda:sm_90a".
        schedule: "chunk" or "recurrent", with ``chunk`` steps at a time.
        value_block: value columns of one work item.
    """

    __slots__ = ()


class Entry:
    """One function of a program: ``program.forward`` calls ``program.entries["forward"]``."""

    def __init__(self, program: _native.Program, info: Mapping[str, Any]) -> None:
        self.name: str = info["name"]
        """Its name."""
        self.arguments: Tuple[Argument, ...] = tuple(
            Argument(a["name"], a["role"], a["dtype"], a["axes"], tuple(a["shape"]), a["optional"])
            for a in info["arguments"]
        )
        """All arguments, in order, outputs last."""
        self.kernels: Tuple[Kernel, ...] = tuple(
            Kernel(
                f"{k['target']}:{k.get('isa') or k.get('chip')}",
                k["plan"]["schedule"],
                k["plan"]["chunk"],
                k["plan"]["value_block"],
            )
            for k in info["kernels"]
        )
        """What was compiled."""
        self._native = _native.Entry(program, self.name)
        names = [a.name for a in self.arguments if a.is_output]
        self.Outputs: Any = collections.namedtuple(self.name.capitalize() + "Outputs", names, rename=True)  # type: ignore[misc]
        """The named tuple that a call returns."""
        self._controls = frozenset(_CONTROLS) - {a.name for a in self.arguments}
        self.__signature__ = self._signature()
        self.__doc__ = self._help()

    def __call__(self, /, **arrays: Any) -> Any:
        if self._controls.isdisjoint(arrays):
            return self.run(arrays)
        controls = {name: arrays.pop(name) for name in self._controls & arrays.keys()}
        return self.run(arrays, **controls)

    def run(
        self,
        arrays: Mapping[str, Any],
        *,
        schedule: Optional[str] = None,
        isa: Optional[str] = None,
        segments: int = 0,
        stream: Optional[int] = None,
        host_offsets: Any = None,
        trust_offsets: bool = False,
    ) -> Any:
        """Calls the entry with a dict of arrays: for names that are no keywords, or those of the options."""
        if type(arrays) is not dict:
            arrays = dict(arrays)
        if stream is not None and not (isinstance(stream, int) and stream >= 0):
            raise TypeError(f"stream: expected an integer, a CUDA stream's handle, found {stream!r}")
        outputs = self._native.run(
            arrays, _arrays.allocate, _arrays.finish, schedule, isa, stream, host_offsets, trust_offsets, segments
        )
        return self.Outputs._make(outputs)

    def shapes(self, B: int = 1, T: int = 1, N: Optional[int] = None) -> Dict[str, Tuple[int, ...]]:
        """The shape of every argument for B rows of T steps; N: number of packed sequences (then B is 1)."""
        sequences = B if N is None else N
        sizes = {"B": B, "T": T, "N": sequences, "N+1": sequences + 1}
        return {a.name: tuple(sizes.get(e, e) for e in a.shape) for a in self.arguments}

    def __repr__(self) -> str:
        lines = [f"<prism entry {self.name}>"]
        width = max(len(a.name) for a in self.arguments)
        for argument in self.arguments:
            arrow = "->" if argument.is_output else "  "
            lines.append(f"  {arrow} {argument.name:{width}}  {argument}")
        return "\n".join(lines)

    def _signature(self) -> inspect.Signature:
        parameters = []
        for argument in self.arguments:
            required = not argument.optional and not argument.is_output
            default: Any = inspect.Parameter.empty if required else None
            if argument.is_output and argument.optional:
                default = ...
            if argument.name.isidentifier() and not keyword.iskeyword(argument.name):
                parameters.append(inspect.Parameter(argument.name, inspect.Parameter.KEYWORD_ONLY, default=default))
        for name in _CONTROLS:
            if name in self._controls:
                default = {"trust_offsets": False, "segments": 0}.get(name)
                parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default))
        return inspect.Signature(parameters)

    def _help(self) -> str:
        inputs = [a for a in self.arguments if not a.is_output]
        outputs = [a for a in self.arguments if a.is_output]
        width = max(len(a.name) for a in self.arguments)

        def table(arguments: Sequence[Argument]) -> str:
            return "\n".join(f"  {a.name:{width}}  {a}, axes {a.axes}" for a in arguments)

        schedules = ", ".join(sorted({f'"{k.schedule}"' for k in self.kernels}))
        parts = [
            f"Runs the entry '{self.name}' and returns ({', '.join(a.name for a in outputs)}) as a named tuple.",
            "Takes:\n" + table(inputs),
            "Returns:\n" + table(outputs),
            "B batch rows of T steps; N sequences, which are the rows, or with offsets the N parts of one packed row.",
            _RULES_HELP,
        ]
        if len(self._controls) == len(_CONTROLS):
            parts.append(_CONTROLS_HELP.format(schedules=schedules))
        return "\n\n".join(parts)


class Program:
    """A compiled model. ``prism.compile`` and ``prism.load`` make one; every program's class has a method for each of
    its entries, so ``help(program)`` says what they take."""

    name: str
    """The model's name."""
    compiler: str
    """The compiler that made it."""
    manifest: Dict[str, Any]
    """The bundle's manifest: entries, kernels, plans (docs/Bundle.md)."""
    entries: Dict[str, Entry]
    """The entries by name."""
    forward: Callable[..., Any]
    """Runs whole sequences, if the program has that entry."""
    decode: Callable[..., Any]
    """Runs the next steps from a state, if the program has that entry."""

    _native: _native.Program

    def __init__(self) -> None:
        raise TypeError("programs are made by prism.compile and prism.load")

    @property
    def spec(self) -> Optional[Dict[str, Any]]:
        """The spec written out, or None if the model was a module."""
        return self.manifest.get("spec")

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the program as a bundle's folder, which prism.load, prism-run and the C API load.

        All of it is written, or nothing. An older bundle there is replaced; another folder is not.

        Raises:
            prism.BundleError: the folder cannot be written.
        """
        folder = os.fspath(path)
        if "\0" in folder:
            raise ValueError("path: holds a null character")
        _native.save(self._native, folder)

    def __repr__(self) -> str:
        lines = [f"<prism program {self.name}, {self.compiler}>"]
        for entry in self.entries.values():
            targets: List[str] = []
            for kernel in entry.kernels:
                if kernel.target not in targets:
                    targets.append(kernel.target)
            lines.append(f"{entry.name}, for {', '.join(targets)}")
            lines += repr(entry).split("\n")[1:]
        return "\n".join(lines)


def _method(entry: Entry) -> Callable[..., Any]:
    """The entry as a method of its program's class, for help() and completion."""

    def call(self: Program, /, **arrays: Any) -> Any:
        return entry(**arrays)

    signature = entry.__signature__
    name = "_self" if "self" in signature.parameters else "self"
    own = inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY)
    call.__signature__ = signature.replace(parameters=[own, *signature.parameters.values()])  # type: ignore
    call.__name__ = entry.name
    call.__qualname__ = f"Program.{entry.name}"
    call.__doc__ = entry.__doc__
    return call


def make_program(native: _native.Program) -> Program:
    """A program of a class of its own, which has its entries as methods."""
    manifest = json.loads(native.manifest)
    entries = {info["name"]: Entry(native, info) for info in manifest["entries"]}
    methods = {name: _method(entry) for name, entry in entries.items() if not hasattr(Program, name)}
    doc = f"The program {native.name}, compiled by {native.compiler}."
    cls: Any = type("Program", (Program,), {"__doc__": doc, "__module__": "prism", **methods})
    program: Program = object.__new__(cls)
    program.name = native.name
    program.compiler = native.compiler
    program.manifest = manifest
    program.entries = entries
    program._native = native
    return program
