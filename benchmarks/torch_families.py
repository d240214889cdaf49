"""Each family in PyTorch: from its inputs to the forms of torch_chunks.py and torch_scans.py.

FORMS[family](inputs) -> {form: function -> (o, states in the family's order)}; all that the
inputs need (gates, strengths, refinement) is inside the function.
"""

import torch
import torch.nn.functional as F

import torch_scans
from torch_chunks import Erase, KeyDecay, NoDecay, ScalarDecay, by_chunks, by_time, erased, linear, rows_of

LINEAR_CHUNKS = (1, 16, 32, 64, 128)
ERASE_CHUNKS = [(1, "rows")] + [(chunk, method) for method in ("solve", "rows", "blocks") for chunk in (16, 32, 64)]


def one_state(o, state):
    return by_time(o), state


def linear_attention(x, chunk):
    q, k, v = (by_chunks(x[name], chunk) for name in "qkv")
    return one_state(*linear(NoDecay(chunk), q, [(k, v)]))


def retnet(x, chunk):
    q, k, v = (by_chunks(x[name], chunk) for name in "qkv")
    gate = x["log_gamma"][None, :, None].expand(1, -1, chunk)
    decay = ScalarDecay(gate)
    decay.whole = decay.whole.expand(len(q), -1, -1, -1)
    return one_state(*linear(decay, q, [(k, v)]))


def gla(x, chunk):
    q, k, v, gate = (by_chunks(x[name], chunk) for name in ("q", "k", "v", "log_alpha"))
    return one_state(*linear(KeyDecay(gate), q, [(k, v)]))


def mamba2(x, chunk):
    delta = F.softplus(x["dt"])
    gate = by_chunks(delta * -x["A_log"].exp(), chunk)
    value = by_chunks(x["x"] * delta.unsqueeze(-1), chunk)
    return one_state(*linear(ScalarDecay(gate), by_chunks(x["C"], chunk), [(by_chunks(x["B"], chunk), value)]))


def mlstm(x, chunk):
    """The stabiliser is a running maximum; with it the gates are at most 1."""
    sums = x["log_f"].cumsum(1)
    m = sums + torch.clamp_min((x["log_i"] - sums).cummax(1).values, 0.0)
    before = F.pad(m, (0, 0, 1, 0))[:, :-1]
    gate, write = x["log_f"] + before - m, (x["log_i"] - m).exp_()
    value = F.pad(x["v"], (0, 1), value=1.0) * write.unsqueeze(-1)
    q, k, value, gate = (by_chunks(a, chunk) for a in (x["q"], x["k"], value, gate))
    o, state = linear(ScalarDecay(gate), q, [(k, value)])
    o = by_time(o)
    o = o[..., :-1] / torch.maximum(o[..., -1:].abs(), (-m).exp_().unsqueeze(-1))
    return o, state[..., :-1], state[..., -1:], m[:, -1]


def gated_rfa(x, chunk):
    value = F.pad(x["v"], (0, 1), value=1.0) * x["log_g"].expm1().neg_().unsqueeze(-1)
    q, k, value, gate = (by_chunks(a, chunk) for a in (x["q"], x["k"], value, x["log_g"]))
    o, state = linear(ScalarDecay(gate), q, [(k, value)])
    o = by_time(o)
    return o[..., :-1] / o[..., -1:], state[..., :-1], state[..., -1:]


def deltanet(x, chunk, method):
    q, k, v, beta = (by_chunks(x[name], chunk) for name in ("q", "k", "v", "beta"))
    beta = beta.unsqueeze(-1)
    return one_state(*erased(NoDecay(chunk), q, Erase(k * beta, k, v * beta), [], method))


def gated_deltanet(x, chunk, method):
    q, k, v, beta, gate = (by_chunks(x[name], chunk) for name in ("q", "k", "v", "beta", "log_alpha"))
    beta = beta.unsqueeze(-1)
    return one_state(*erased(ScalarDecay(gate), q, Erase(k * beta, k, v * beta), [], method))


def kda(x, chunk, method):
    q, k, v, beta, gate = (by_chunks(x[name], chunk) for name in ("q", "k", "v", "beta", "log_alpha"))
    beta = beta.unsqueeze(-1)
    return one_state(*erased(KeyDecay(gate), q, Erase(k * beta, k, v * beta), [], method))


def gated_deltanet2(x, chunk, method):
    q, k, v, e, w, gate = (by_chunks(x[name], chunk) for name in ("q", "k", "v", "erase_gate", "write_gate", "log_alpha"))
    return one_state(*erased(KeyDecay(gate), q, Erase(k * e, k, v * w), [], method))


def rwkv7(x, chunk, method):
    r, k, v, kappa, a, gate = (by_chunks(x[name], chunk) for name in ("r", "k", "v", "kappa", "a", "log_w"))
    return one_state(*erased(KeyDecay(gate), r, Erase(kappa, kappa * a, before=True), [(k, v)], method))


def gated_deltaproduct(x, chunk, method):
    k, v = rows_of(x["k"], chunk), rows_of(x["v"], chunk)
    beta = by_chunks(x["beta"], chunk).flatten(-2).unsqueeze(-1)
    decay = ScalarDecay(by_chunks(x["log_alpha"], chunk))
    return one_state(*erased(decay, by_chunks(x["q"], chunk), Erase(k * beta, k, v * beta), [], method))


def prism(x, chunk, method):
    q, k, v, beta, gate = (by_chunks(x[name], chunk) for name in ("q", "k", "v", "beta", "log_alpha"))
    beta = beta.unsqueeze(-1)
    writers = []
    if "u" in x:
        gains, strengths = (by_chunks(x[name], chunk) for name in "pb")
        rest = v - by_chunks(x["u"], chunk)
        deltas = []
        for i in range(gains.shape[-2]):
            deltas.append(F.gelu(gains[..., i, :] * rest))
            rest = rest - deltas[-1]
        values = torch.stack(deltas, -2).mul_(strengths.unsqueeze(-1))
        writers.append((rows_of(x["c"], chunk), values.flatten(2, 3)))
    return one_state(*erased(ScalarDecay(gate), q, Erase(k * beta, k, v * beta), writers, method))


def chunked(forward):
    return lambda x: {f"chunk {chunk}" if chunk > 1 else "steps": lambda chunk=chunk: forward(x, chunk) for chunk in LINEAR_CHUNKS}


def solved(forward):
    return lambda x: {f"chunk {chunk}, {method}" if chunk > 1 else "steps":
                      lambda chunk=chunk, method=method: forward(x, chunk, method) for chunk, method in ERASE_CHUNKS}


FORMS = {**{f.__name__: chunked(f) for f in (linear_attention, retnet, gla, mamba2, mlstm, gated_rfa)},
         **{f.__name__: solved(f) for f in (deltanet, gated_deltanet, gated_deltanet2, kda, rwkv7, gated_deltaproduct, prism)},
         **torch_scans.FORMS}
