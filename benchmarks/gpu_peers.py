"""The peers of the suite gpu-forward, each where it can be imported.

A peer is a function without arguments that returns o [B, T, H, V] and the final
state [B, H, K, V]. They get the tensors that our kernel gets and tune themselves
at their first call, which is never timed.
"""

import importlib
import importlib.util
import sys
import types

from gpu_cases import READ_SCALE

MAMBA_CHUNKS = (128, 256)  # 256 is its own default


def import_part(package, module):
    """Imports package.module without running the package's __init__.

    mamba_ssm's loads compiled extensions and whole models; its chunked scan is
    Triton code that needs neither.
    """
    if package not in sys.modules:
        found = importlib.util.find_spec(package)
        if found is None:
            raise ModuleNotFoundError(f"No module named '{package}'")
        bare = types.ModuleType(package)
        bare.__path__ = list(found.submodule_search_locations)
        sys.modules[package] = bare
    return importlib.import_module(f"{package}.{module}")


def flash_linear_attention(case, x):
    q, k, v = x["q"], x["k"], x["v"]
    common = {"scale": READ_SCALE, "output_final_state": True}
    if case.model == "gated_deltanet":
        from fla.ops.gated_delta_rule import chunk_gated_delta_rule
        return {"fla": lambda: chunk_gated_delta_rule(q, k, v, x["log_alpha"], x["beta"], **common)}
    if case.model == "deltanet":
        from fla.ops.delta_rule import chunk_delta_rule
        beta = x["beta"].to(q.dtype)  # it takes one type for all; its own rounding counts as its error
        return {"fla": lambda: chunk_delta_rule(q, k, v, beta, **common)}
    if case.model == "simple_gla":
        from fla.ops.simple_gla import chunk_simple_gla
        return {"fla": lambda: chunk_simple_gla(q, k, v, x["log_alpha"], **common)}
    if case.model == "retnet":
        from fla.ops.retention import chunk_retention
        return {"fla": lambda: chunk_retention(q, k, v, **common)}
    return {}


def mamba(case, x):
    if case.model != "mamba2":
        return {}
    scan = import_part("mamba_ssm", "ops.triton.ssd_combined").mamba_chunk_scan_combined

    def peer(chunk):
        def run():
            o, state = scan(x["v"], x["dt"], x["A"], x["k"], x["q"], chunk, return_final_states=True)
            return o, state.mT  # it keeps the values first
        return run
    return {f"mamba_ssm, chunk {chunk}": peer(chunk) for chunk in MAMBA_CHUNKS}


LIBRARIES = {"fla": flash_linear_attention, "mamba_ssm": mamba}


def peers(case, x, skipped):
    """Name -> function. A library that cannot be imported is left out; skipped gets a sentence."""
    result = {}
    for library, make in LIBRARIES.items():
        if library in skipped:
            continue
        try:
            result.update(make(case, x))
        except ImportError as error:
            skipped[library] = f"{library} is left out: {error}"
    return result


def versions():
    """Of what the peers are made of, as far as installed."""
    from importlib import metadata
    found = {}
    for package in ("flash-linear-attention", "fla-core", "mamba-ssm", "triton"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            pass
    return found


def limit_tuning(compile_only=None, milliseconds=None):
    """Changes how long Triton's tuner tries each of a peer's configurations (its default is 25 + 100 ms).

    With milliseconds, it measures that long instead. With compile_only = (i, n), it
    only compiles each n-th configuration, from the i-th, and keeps no timing: what
    `warm` below does in many processes at once.
    """
    import triton
    from triton.runtime.autotuner import Autotuner

    state = {"next": 0}

    def compile_one(call, quantiles):
        state["next"] += 1
        if state["next"] % compile_only[1] != compile_only[0]:
            return [float("inf")] * 3
        call()
        return [1.0] * 3

    def measure(call, quantiles):
        return triton.testing.do_bench(call, warmup=milliseconds // 4, rep=milliseconds, quantiles=quantiles)

    Autotuner.do_bench = property(lambda self: compile_one if compile_only else measure)
