"""The peers of the GPU suites, each where it can be imported.

A peer is a function without arguments that returns o [B, T, H, V] and the final
state [B, H, K, V]. They get the tensors that our kernel gets and tune themselves
at their first call, which is never timed.
"""

import importlib
import importlib.util
import sys
import types

from gpu_cases import GATE_RATE

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
    make = FLA.get(case.model + (f" {case.entry}" if case.entry != "forward" else "") + (" inside" if case.inside else ""))
    if not make or (case.model == "prism" and not case.ranks):
        return {}
    return {"fla": make(x, {"scale": case.read_scale, "output_final_state": True})}


def fla_gated_deltanet(x, common):
    from fla.ops.gated_delta_rule import chunk_gated_delta_rule
    return lambda: chunk_gated_delta_rule(x["q"], x["k"], x["v"], x["log_alpha"], x["beta"], **common)


def fla_gated_deltanet_inside(x, common):
    """Norms by its own option; the gates as its layer computes them, in PyTorch, which is timed with the rest."""
    import torch
    from fla.ops.gated_delta_rule import chunk_gated_delta_rule

    def run():
        gates = -x["A_log"].exp() * torch.nn.functional.softplus(x["dt"] + x["dt_bias"])
        return chunk_gated_delta_rule(x["q"], x["k"], x["v"], gates, x["beta_logit"].sigmoid(), use_qk_l2norm_in_kernel=True, **common)
    return run


def fla_gated_deltanet_decode(x, common):
    from fla.ops.gated_delta_rule import fused_recurrent_gated_delta_rule
    return lambda: fused_recurrent_gated_delta_rule(x["q"], x["k"], x["v"], x["log_alpha"], beta=x["beta"],
                                                    initial_state=x["initial_state"], **common)


def fla_deltanet(x, common):
    from fla.ops.delta_rule import chunk_delta_rule
    beta = x["beta"].to(x["q"].dtype)  # it takes one type for all; its own rounding counts as its error
    return lambda: chunk_delta_rule(x["q"], x["k"], x["v"], beta, **common)


def fla_simple_gla(x, common):
    from fla.ops.simple_gla import chunk_simple_gla
    return lambda: chunk_simple_gla(x["q"], x["k"], x["v"], x["log_alpha"], **common)


def fla_retnet(x, common):
    from fla.ops.retention import chunk_retention
    return lambda: chunk_retention(x["q"], x["k"], x["v"], **common)


def fla_gla(x, common):
    from fla.ops.gla import chunk_gla
    return lambda: chunk_gla(x["q"], x["k"], x["v"], x["log_alpha"], **common)


def fla_kda(x, common):
    from fla.ops.kda import chunk_kda
    return lambda: chunk_kda(x["q"], x["k"], x["v"], x["log_alpha"], x["beta"], **common)


def fla_rwkv7(x, common):
    from fla.ops.rwkv7 import chunk_rwkv7
    read, write = -x["kappa"], x["a"] * x["kappa"]  # ours multiplies in the kernel
    return lambda: chunk_rwkv7(x["r"], x["log_w"], x["k"], x["v"], read, write, **common)


def fla_prism(x, common):
    """PRISM's injections as steps of a recurrence of decay, erase and one injection each (DPLR), one behind the other.

    Their values are refined outside its time, queries and decays are zero but in the step that has them. With safe_gate=True it is slower
    (H200, 0.6.0: 15.0 instead of 13.4 ms at L = 1).
    """
    import torch
    from fla.ops.rwkv7 import chunk_rwkv7

    from gpu_reference import refined

    heads, length, dtype = x["v"].shape[2], x["v"].shape[1], x["v"].dtype
    q, k, c = (x[name].repeat_interleave(heads // x[name].shape[2], 2) for name in ("q", "k", "c"))
    gate, beta = x["log_alpha"].unsqueeze(-1), x["beta"].unsqueeze(-1)
    ranks, none = x["p"].shape[3], torch.zeros_like(k)
    values = refined(x).to(dtype)

    def steps(first, rest):
        return torch.stack([first, *rest], 2).flatten(1, 2).to(first.dtype)

    # The erase reads the state before it decays.
    read, write = (-gate.exp() * k).to(dtype), (beta * k).to(dtype)
    a, b = (steps(tile, [none] * ranks) for tile in (read, write))
    keys = steps(write, [c[:, :, :, rank] for rank in range(ranks)])
    v = steps(x["v"], [values[:, :, :, rank] for rank in range(ranks)])
    gates = steps(gate.expand(k.shape), [none.float()] * ranks)
    r = steps(none, [none] * (ranks - 1) + [q])

    def run():
        o, state = chunk_rwkv7(r, gates, keys, v, a, b, **common)
        return o.unflatten(1, (length, 1 + ranks))[:, :, -1], state
    return run


def fla_gated_deltaproduct(x, common):
    from fla.ops.gated_delta_product import chunk_gated_delta_product
    count = x["k"].shape[3]
    # Its micro-steps lie along time, [B, T M, H, ...].
    k, v, beta = (a.transpose(2, 3).flatten(1, 2).contiguous() for a in (x["k"], x["v"], x["beta"]))
    return lambda: chunk_gated_delta_product(x["q"], k, v, x["log_alpha"], beta.to(k.dtype), count, **common)


FLA = {"gated_deltanet": fla_gated_deltanet, "gated_deltanet decode": fla_gated_deltanet_decode,
       "gated_deltanet inside": fla_gated_deltanet_inside, "deltanet": fla_deltanet,
       "simple_gla": fla_simple_gla, "retnet": fla_retnet, "gla": fla_gla, "kda": fla_kda, "rwkv7": fla_rwkv7,
       "gated_deltaproduct": fla_gated_deltaproduct, "prism": fla_prism}


def flash_infer(case, x):
    """Of 0.7.4, whose kernels for Hopper are compiled as they are first called, by CuTe's compiler; no nvcc is needed."""
    make = None if case.inside else FLASH_INFER.get((case.model, case.entry))
    return {"flashinfer": make(case, x)} if make else {}


def flash_infer_gated_deltanet(case, x):
    """Packed sequences, gates as factors (taken before, outside its time), the state values first.

    gate_domain="log" would take our log-gates, by another kernel before its own.
    """
    import torch
    from flashinfer.gdn_prefill import chunk_gated_delta_rule

    rows = (case.sequences, case.steps)
    q, k, v, log_alpha, beta = (x[name].flatten(0, 1) for name in ("q", "k", "v", "log_alpha", "beta"))
    alpha, heads = log_alpha.exp(), v.shape[1]
    offsets = torch.arange(case.sequences + 1, device=v.device, dtype=torch.int64) * case.steps
    o = torch.empty_like(v)
    state = torch.empty(case.sequences, heads, v.shape[-1], k.shape[-1], device=v.device, dtype=torch.float32)

    def run():
        chunk_gated_delta_rule(q, k, v, g=alpha, beta=beta, scale=case.read_scale, output_final_state=True, cu_seqlens=offsets,
                               output=o, output_state=state, use_cp="auto", max_seqlen=case.steps)
        return o.unflatten(0, rows), state.mT
    return run


def flash_infer_gated_deltanet_decode(case, x):
    """It updates states in place, or from one row of a pool to another: the pool holds those before, then those after.

    Its gates are exp(-A softplus(a)) and sigmoid(b), a and b in bf16: their rounding counts as its error.
    """
    import torch
    from flashinfer.gdn_decode import gated_delta_rule_decode_pretranspose

    q, k, v, first = x["q"], x["k"], x["v"], x["initial_state"].mT
    pool = torch.cat([first, torch.full_like(first, float("nan"))]).contiguous()
    after = pool[case.sequences:]
    read = torch.arange(case.sequences, device=v.device, dtype=torch.int32)
    written = read + case.sequences
    a, b = (gate.to(q.dtype) for gate in gate_inputs(x["log_alpha"], x["beta"]))
    log_rate = torch.full((v.shape[2],), GATE_RATE, device=v.device).log()
    bias, o = torch.zeros_like(log_rate), torch.empty_like(v)

    def run():
        gated_delta_rule_decode_pretranspose(q, k, v, None, log_rate, a, bias, b, scale=case.read_scale, output=o, use_qk_l2norm=False,
                                             initial_state=pool, initial_state_indices=read, output_state_indices=written,
                                             backend="flashinfer")
        return o, after.mT
    return run


def gate_inputs(log_alpha, beta):
    """a and b of log_alpha = -GATE_RATE softplus(a), beta = sigmoid(b); a log-gate of 0 becomes one of -1e-30."""
    return (-log_alpha / GATE_RATE).expm1().clamp_min(1e-30).log(), beta.logit()


FLASH_INFER = {("gated_deltanet", "forward"): flash_infer_gated_deltanet, ("gated_deltanet", "decode"): flash_infer_gated_deltanet_decode}


def flash_qla(case, x):
    """Packed sequences in one row, so that it may split each; whether it does, it decides at its first call, which is untimed."""
    if (case.model, case.entry) != ("gated_deltanet", "forward") or case.inside:
        return {}
    import torch
    from flash_qla import chunk_gated_delta_rule

    packed = [x[name].flatten(0, 1).unsqueeze(0) for name in ("q", "k", "v", "log_alpha", "beta")]
    offsets = torch.arange(case.sequences + 1, device=x["v"].device, dtype=torch.int32) * case.steps

    def run():
        o, state = chunk_gated_delta_rule(*packed, scale=case.read_scale, output_final_state=True, cu_seqlens=offsets)
        return o.view_as(x["v"]), state
    return {"flash_qla": run}


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


LIBRARIES = {"fla": flash_linear_attention, "flashinfer": flash_infer, "flash_qla": flash_qla, "mamba_ssm": mamba}


def left_out(case, name, error):
    """The sentence about a peer that failed on a case."""
    return f"{case.name}: {name} is left out: {type(error).__name__}: {error}".splitlines()[0]


def peers(case, x, skipped):
    """Name -> function. A library that cannot be imported is left out, or fails on a case there; skipped gets a sentence."""
    result = {}
    for library, make in LIBRARIES.items():
        if library in skipped:
            continue
        try:
            result.update(make(case, x))
        except ImportError as error:
            skipped[library] = f"{library} is left out: {error}"
        except Exception as error:  # of any kind: theirs
            skipped[case.name, library] = left_out(case, library, error)
    return result


def versions():
    """Of what the peers are made of, as far as installed."""
    from importlib import metadata
    found = {}
    for package in ("flash-linear-attention", "fla-core", "flashinfer-python", "nvidia-cutlass-dsl", "flash-qla", "tilelang", "mamba-ssm", "triton"):
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
