"""Packed sequences; g are factors, not logarithms; the state [N, H, V, K]."""

import torch


def chunk_gated_delta_rule(q, k, v, g=None, beta=None, scale=None, initial_state=None, output_final_state=False, cu_seqlens=None,
                           use_qk_l2norm_in_kernel=False, output=None, output_state=None, state_checkpoints=None,
                           checkpoint_cu_starts=None, checkpoint_every_n_tokens=0, use_cp="auto", state_indices=None,
                           _cp_chunk_len=None, backend="auto", max_seqlen=None, *, gate_domain="linear"):
    heads = v.shape[1]
    assert all(x.is_contiguous() and x.shape[0] == q.shape[0] for x in (q, k, v, g, beta, output))
    assert q.shape == k.shape and heads % q.shape[1] == 0 and g.shape == beta.shape == v.shape[:2]
    assert g.dtype == beta.dtype == output_state.dtype == torch.float32 and cu_seqlens.dtype in (torch.int32, torch.int64)
    assert output_final_state and use_cp == "auto" and gate_domain == "linear" and initial_state is None
    offsets = cu_seqlens.tolist()
    assert offsets[0] == 0 and offsets[-1] == q.shape[0] and max_seqlen == max(b - a for a, b in zip(offsets, offsets[1:]))
    q, k = (x.double().repeat_interleave(heads // x.shape[1], 1) for x in (q, k))
    for sequence, (begin, end) in enumerate(zip(offsets, offsets[1:])):
        state = torch.zeros(heads, v.shape[2], k.shape[2], dtype=torch.float64)
        for t in range(begin, end):
            state = state * g[t].double()[:, None, None]
            written = (v[t].double() - torch.einsum("hk,hvk->hv", k[t], state)) * beta[t].double().unsqueeze(-1)
            state = state + written.unsqueeze(-1) * k[t].unsqueeze(-2)
            output[t] = torch.einsum("hk,hvk->hv", q[t], state) * scale
        output_state[sequence] = state
    return output, output_state
