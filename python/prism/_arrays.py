"""Arrays of the libraries that a caller may use: how they are made, which stream they are on.

Taking arrays is the extension module's; here is what needs the libraries themselves. None is imported unless the
caller's arrays come from it, except NumPy.
"""

from __future__ import annotations

import functools
import sys
from typing import Any, Optional, Tuple

import numpy

from . import _native

_NUMPY = {"f64": "float64", "f32": "float32", "f16": "float16", "i64": "int64"}
_TORCH = {"f64": "float64", "f32": "float32", "bf16": "bfloat16", "f16": "float16", "i64": "int64"}


@functools.lru_cache(maxsize=256)
def _kind(array_type: Any) -> str:
    for cls in array_type.__mro__:
        root = cls.__module__.partition(".")[0]
        if root == "torch":
            return "torch"
        if root in ("jax", "jaxlib"):
            return "jax"
    return "numpy"


def kind_of(array: Any) -> str:
    """ "torch", "jax" or "numpy": the library whose arrays a call returns."""
    array_type: Any = type(array)
    return _kind(array_type)


def is_immutable(array: Any) -> bool:
    """Whether the array must not be written though its library gives its memory away."""
    return kind_of(array) == "jax"


def _numpy_dtype(dtype: str) -> Any:
    if dtype != "bf16":
        return _NUMPY[dtype]
    try:
        import ml_dtypes
    except ImportError:
        raise ImportError(
            "an output is bf16, for which NumPy has no type; install ml_dtypes, or pass an array for it"
        ) from None
    return ml_dtypes.bfloat16


def allocate(like: Any, shape: Tuple[int, ...], dtype: str) -> Any:
    """An array for an output, of the library and on the device of ``like``."""
    kind = kind_of(like)
    if kind == "torch":
        torch = sys.modules["torch"]
        return torch.empty(shape, dtype=getattr(torch, _TORCH[dtype]), device=like.device)
    if kind == "jax":
        # JAX's own arrays are never written; finish() makes one of this.
        return _native.Buffer(shape, dtype)
    if hasattr(like, "__dlpack_device__") and like.__dlpack_device__()[0] not in (1, 3):
        raise ValueError(
            f"cannot make an output like {type(like).__name__} on a GPU; pass arrays for the outputs, or use PyTorch"
        )
    return numpy.empty(shape, dtype=_numpy_dtype(dtype))


def workspace(like: Any, size: int, stream: Optional[int]) -> Any:
    """Memory on the GPU of ``like`` for a kernel that needs some: at least ``size`` bytes, in use until the call has ended."""
    if kind_of(like) != "torch":
        raise ValueError(f"cannot make a workspace like {type(like).__name__} on a GPU; use PyTorch, or segments=1")
    torch = sys.modules["torch"]
    memory = torch.empty((size + 7) // 8, dtype=torch.int64, device=like.device)
    if stream is not None:
        # Not given away before the stream that the caller named is done with it.
        memory.record_stream(torch.cuda.ExternalStream(stream, device=like.device))
    return memory


def finish(like: Any, buffer: _native.Buffer) -> Any:
    """The JAX array of an output that was computed into a buffer."""
    import jax

    return jax.dlpack.from_dlpack(buffer)


def current_stream(array: Any) -> int:
    """The stream on which the array's library works now, for arrays that don't say so themselves."""
    if kind_of(array) == "torch":
        torch = sys.modules["torch"]
        return int(torch.cuda.current_stream(array.device).cuda_stream)
    return 0  # CUDA's default stream, for which __dlpack__ made the array ready


def consumer_stream(array: Any, stream: Optional[int]) -> int:
    """What ``__dlpack__`` of an array on a GPU is told: the stream that must wait for the array, in DLPack's numbers."""
    if stream is not None:
        return stream or 1  # CUDA's default stream is 1 there
    # PyTorch's current stream is where the call goes, and has nothing to wait for.
    return -1 if kind_of(array) == "torch" else 1


def check_gradient(tensor: Any) -> None:
    """Refuses a tensor whose gradient a call would lose."""
    if sys.modules["torch"].is_grad_enabled():
        raise RuntimeError(
            "requires a gradient, which Prism does not compute yet; pass tensor.detach(), or call under torch.no_grad()"
        )
