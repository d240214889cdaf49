"""DPLR: a state [K, V] decays channel by channel, and what a reads of it before is written by b."""

import torch


def chunk_rwkv7(r, w, k, v, a, b, scale=1.0, initial_state=None, output_final_state=False, cu_seqlens=None, cu_seqlens_cpu=None,
                safe_gate=False, chunk_size=None, disable_recompute=False, cp_context=None, lower_bound=None):
    assert r.shape == w.shape == k.shape == a.shape == b.shape and v.shape[:3] == k.shape[:3]
    assert r.dtype == k.dtype == v.dtype == a.dtype == b.dtype and w.dtype == torch.float32
    assert output_final_state and initial_state is None and (not safe_gate or bool((w >= -5).all()))
    r, w, k, v, a, b = (x.double() for x in (r, w, k, v, a, b))
    state = torch.zeros(*v.shape[:1], v.shape[2], k.shape[-1], v.shape[-1], dtype=torch.float64)
    o = torch.empty_like(v)
    for t in range(v.shape[1]):
        seen = torch.einsum("nhk,nhkv->nhv", a[:, t], state)
        state = state * w[:, t].exp().unsqueeze(-1) + b[:, t].unsqueeze(-1) * seen.unsqueeze(-2) + k[:, t].unsqueeze(-1) * v[:, t].unsqueeze(-2)
        o[:, t] = torch.einsum("nhk,nhkv->nhv", r[:, t], state) * scale
    return o, state
