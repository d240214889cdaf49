"""What can go wrong, with its parts as fields.

The text of every exception, ``str(error)``, is what the command line prints.
"""

from __future__ import annotations

import dataclasses
from typing import Dict, Optional, Type, TypeVar

__all__ = [
    "PrismError",
    "SpecError",
    "CompileError",
    "CompilerNotFoundError",
    "BundleError",
    "ArgumentError",
    "DeviceError",
    "Diagnostic",
]


class PrismError(Exception):
    """The base of all exceptions of this package.

    Attributes:
        message: the sentence alone, without the place: what was expected and what was found.
        nearest: the nearest right name to one that is wrong, else None.
    """

    message: str
    nearest: Optional[str]

    def __init__(self, text: str, message: str = "", nearest: Optional[str] = None) -> None:
        super().__init__(text)
        self.message = message or text
        self.nearest = nearest


class _Placed(PrismError):
    """An error in a text."""

    file: Optional[str]
    line: Optional[int]
    column: Optional[int]
    pointer: Optional[str]

    def __init__(
        self,
        text: str,
        message: str = "",
        nearest: Optional[str] = None,
        file: Optional[str] = None,
        line: Optional[int] = None,
        column: Optional[int] = None,
        pointer: Optional[str] = None,
    ) -> None:
        super().__init__(text, message, nearest)
        self.file = file
        self.line = line
        self.column = column
        self.pointer = pointer


class SpecError(_Placed, ValueError):
    """A spec is wrong.

    Attributes:
        pointer: JSON pointer (RFC 6901) to the element, "" for the whole document.
        file, line, column: the place in the text; None where the spec was a dict.
    """


class CompileError(_Placed):
    """A model that reads well cannot be compiled like this.

    Attributes:
        pointer: JSON pointer (RFC 6901) to the element of the plan or calibration that is wrong, else None.
        file, line, column: the place in the text where there is one, else None; None where it was a dict.
    """


class CompilerNotFoundError(PrismError):
    """The compiler library cannot be loaded. Bundles run without it."""


class BundleError(PrismError):
    """A bundle cannot be read or written."""


class ArgumentError(PrismError, ValueError):
    """The arrays of a call do not fit the entry.

    Attributes:
        argument: the name of the argument.
    """

    argument: Optional[str]

    def __init__(
        self, text: str, message: str = "", nearest: Optional[str] = None, argument: Optional[str] = None
    ) -> None:
        super().__init__(text, message, nearest)
        self.argument = argument


class DeviceError(PrismError, RuntimeError):
    """There is no such device, no kernel for it, or the run failed."""


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """Something that the compiler says: ``str()`` of it is what the command line prints."""

    severity: str  #: "error", "warning", "note" or "remark"
    text: str
    message: str
    file: Optional[str]
    line: Optional[int]
    column: Optional[int]
    pointer: Optional[str]
    nearest: Optional[str]

    def __str__(self) -> str:
        return self.text


# The numbers of PrismKind and PrismSeverity.
_KINDS: Dict[int, Type[PrismError]] = {
    1: SpecError,
    2: CompileError,
    3: CompilerNotFoundError,
    4: BundleError,
    5: ArgumentError,
    6: DeviceError,
}
_SEVERITIES = ("error", "warning", "note", "remark")


def make_error(
    kind: int,
    text: str,
    message: str,
    file: str,
    line: int,
    column: int,
    pointer: str,
    nearest: str,
    argument: str,
) -> PrismError:
    """The exception of an error; called by the extension module."""
    cls = _KINDS.get(kind, PrismError)
    near = nearest or None
    if issubclass(cls, _Placed):
        # Of a spec the empty pointer is the whole document, not none.
        where = pointer if cls is SpecError else pointer or None
        return cls(text, message, near, file or None, line or None, column or None, where)
    if cls is ArgumentError:
        return ArgumentError(text, message, near, argument or None)
    return cls(text, message, near)


def make_argument_error(argument: str, text: str) -> ArgumentError:
    """An error found by the extension module itself."""
    return ArgumentError(text, text, None, argument)


def make_diagnostic(
    severity: int,
    text: str,
    message: str,
    file: str,
    line: int,
    column: int,
    pointer: str,
    nearest: str,
    argument: str,
) -> Diagnostic:
    """What a callback is given; called by the extension module."""
    return Diagnostic(
        _SEVERITIES[severity],
        text,
        message,
        file or None,
        line or None,
        column or None,
        pointer or None,
        nearest or None,
    )


_InJson = TypeVar("_InJson", SpecError, CompileError)


def without_place(error: _InJson) -> _InJson:
    """The error of a dict: it has a pointer, and no text in which there would be lines."""
    text = f"{error.pointer or '/'}: {error.message}"
    if error.nearest:
        text += f"; did you mean '{error.nearest}'?"
    return type(error)(text, error.message, error.nearest, None, None, None, error.pointer)
