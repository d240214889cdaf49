"""Prism: prefix-scannable sequence models, compiled.

    import numpy as np
    import prism

    program = prism.compile({"prism_spec": 1, "family": "linear_attention", "dims": {"H": 2, "K": 16, "V": 16}})
    q, k, v = (np.random.randn(1, 100, 2, 16).astype("float32") for _ in range(3))
    o, state = program.forward(q=q, k=k, v=v)
    help(program)                                # every entry, its arrays and their shapes

A program takes and returns NumPy arrays, PyTorch tensors on CPU and GPU, and JAX arrays on the CPU, without copies.
"""

from __future__ import annotations

import json
import logging
import os
from typing import Any, Callable, Iterable, List, Mapping, Optional, Tuple, Union

from . import _errors, _native
from ._errors import (
    ArgumentError,
    BundleError,
    CompileError,
    CompilerNotFoundError,
    DeviceError,
    Diagnostic,
    PrismError,
    SpecError,
)
from ._program import Argument, Entry, Kernel, Program, make_program

__all__ = [
    "compile",
    "expand",
    "load",
    "compiler_version",
    "set_num_threads",
    "num_threads",
    "Program",
    "Entry",
    "Argument",
    "Kernel",
    "PrismError",
    "SpecError",
    "CompileError",
    "CompilerNotFoundError",
    "BundleError",
    "ArgumentError",
    "DeviceError",
    "Diagnostic",
]

__version__: str = _native.version()

Spec = Union[str, "os.PathLike[str]", Mapping[str, Any]]
Calibration = Union[None, str, "os.PathLike[str]", Mapping[str, Any]]

_log = logging.getLogger("prism")
_LEVELS = {"error": logging.DEBUG, "warning": logging.WARNING, "note": logging.INFO, "remark": logging.INFO}


def _read(spec: Spec, is_module: bool) -> Tuple[bytes, str, bool]:
    """A spec's text, what messages call it, and whether it is a module."""
    if isinstance(spec, Mapping):
        try:
            text = json.dumps(spec, indent=1, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise SpecError(f"the spec is no JSON: {error}") from error
        return text.encode(), "spec", False
    if isinstance(spec, str) and (is_module or spec.lstrip().startswith("{")):
        return spec.encode(), "module" if is_module else "spec", is_module
    if not isinstance(spec, (str, os.PathLike)):
        raise TypeError(f"spec: expected a dict, a JSON text or a path, found {type(spec).__name__}")
    path = os.fspath(spec)
    with open(path, "rb") as file:
        return file.read(), path, is_module or path.endswith(".mlir")


def _whole(text: str, what: str) -> str:
    """A text for C, where a null character would end it."""
    if "\0" in text:
        raise ValueError(f"{what}: holds a null character")
    return text


def _names(given: Union[None, str, Iterable[str]], what: str) -> List[str]:
    names = [] if given is None else [given] if isinstance(given, str) else list(given)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{what}: expected strings, found {type(name).__name__}")
        _whole(name, what)
    return names


def _read_calibration(given: Calibration) -> Tuple[Optional[str], str]:
    """A calibration's text, and what messages call it."""
    if given is None or isinstance(given, Mapping):
        return (None if given is None else json.dumps(given)), "calibration"
    if isinstance(given, str) and given.lstrip().startswith("{"):
        return _whole(given, "calibration"), "calibration"
    path = os.fspath(given)
    with open(path, encoding="utf-8") as file:
        return _whole(file.read(), path), path


def _log_diagnostic(diagnostic: Diagnostic) -> None:
    _log.log(_LEVELS[diagnostic.severity], "%s", diagnostic)


def compile(
    spec: Spec,
    *,
    target: Union[None, str, Iterable[str]] = None,
    entries: Union[None, str, Iterable[str]] = None,
    plan: Union[None, str, Mapping[str, Any]] = None,
    calibration: Calibration = None,
    assemble: bool = True,
    is_module: bool = False,
    on_diagnostic: Optional[Callable[[Diagnostic], object]] = None,
    on_progress: Optional[Callable[[str], object]] = None,
) -> Program:
    """Compiles a model in this process.

    Threads may compile at once; the interpreter's lock is not held meanwhile.

    Args:
        spec: a spec (docs/Spec.md) as a dict, as JSON text, or the path of a .json file; or the path of a .mlir file
            with a module in the scan dialect.
        target: "cpu", "cpu:x86-64-v4", "cuda:sm_90a", ..., or several. Default: the spec's, else "cpu".
        entries: entries to compile. Default: all of them.
        plan: how time is cut, for all entries or by entry, as a dict or JSON text. Default: the compiler's choice.
        calibration: the costs by which plans for a CPU are chosen: the path of the file that prism-calibrate wrote, or what
            it holds as a dict or JSON text. Default: the compiler's own. A CPU must be among the targets.
        assemble: whether PTX is assembled by ptxas where that is found, or left to the GPU's driver.
        is_module: spec is the text or path of a module.
        on_diagnostic: called with every error, warning and note of the compiler. Default: the logger "prism" is told.
        on_progress: called with what is being done.

    Returns:
        The program; its entries are its methods.

    Raises:
        SpecError: the spec is wrong; the exception says where, and the nearest right name.
        CompileError: the model cannot be compiled like this.
        CompilerNotFoundError: the compiler library cannot be loaded.
        OSError: a file cannot be read.
    """
    text, file, is_module = _read(spec, is_module)
    plan_text = json.dumps(plan) if isinstance(plan, Mapping) else plan
    calibration_text, calibration_file = _read_calibration(calibration)
    try:
        native = _native.compile(
            text,
            file,
            is_module,
            _names(target, "target"),
            _names(entries, "entries"),
            plan_text,
            "plan",
            calibration_text,
            calibration_file,
            assemble,
            on_diagnostic or _log_diagnostic,
            on_progress,
        )
    except SpecError as error:
        if isinstance(spec, Mapping):
            raise _errors.without_place(error) from None
        raise
    except CompileError as error:
        made = {"plan": plan, "calibration": calibration}
        if isinstance(made.get(error.file or ""), Mapping):
            raise _errors.without_place(error) from None
        raise
    return make_program(native)


def load(path: Union[str, "os.PathLike[str]"]) -> Program:
    """Loads a bundle's folder, written by Program.save or prism-compile. Needs no compiler.

    Raises:
        BundleError: there is no bundle, or not one that this version reads.
    """
    return make_program(_native.load(_whole(os.fspath(path), "path")))


def expand(spec: Spec) -> str:
    """A spec written out as JSON text: no family, all defaults in place.

    Raises:
        SpecError: as for compile.
    """
    text, file, _ = _read(spec, False)
    try:
        return _native.expand(text, file)
    except SpecError as error:
        if isinstance(spec, Mapping):
            raise _errors.without_place(error) from None
        raise


def compiler_version() -> str:
    """The compiler's name and version, and LLVM's. Loads the compiler."""
    return _native.compiler_version()


def set_num_threads(threads: int) -> None:
    """The number of threads of calls on the CPU, the caller's counted in; 0: $PRISM_NUM_THREADS, else one for each
    hardware thread, which is the default.

    Raises:
        DeviceError: so many cannot be started.
        ValueError: the number is negative.
    """
    if threads < 0:
        raise ValueError(f"threads: expected 0 or more, found {threads}")
    _native.set_num_threads(min(threads, 1 << 30))


def num_threads() -> int:
    """The number of threads of calls on the CPU."""
    return _native.num_threads()
