"""A stand-in for FlashQLA: the call of 0.1.3 that the suites make, with its arguments, shapes and types, on a CPU."""

import torch


def chunk_gated_delta_rule(q, k, v, g, beta, scale=None, initial_state=None, output_final_state=False, use_qk_l2norm_in_kernel=False,
                           cu_seqlens=None, head_first=False, state_v_first=False, auto_cp=True, enable_fwd_cp_cache=True,
                           cp_context=None, force_intra_cp=False):
    _, tokens, heads, values = v.shape
    assert all(x.shape[:2] == (1, tokens) for x in (q, k, v, g, beta)) and q.shape == k.shape and g.shape == beta.shape == v.shape[:3]
    assert initial_state is None and output_final_state and cu_seqlens[0] == 0 and cu_seqlens[-1] == tokens
    q, k = (x[0].double().repeat_interleave(heads // x.shape[2], 1) for x in (q, k))
    states, output = [], torch.empty_like(v)
    for begin, end in zip(cu_seqlens.tolist(), cu_seqlens.tolist()[1:]):
        state = torch.zeros(heads, k.shape[2], values, dtype=torch.float64)
        for t in range(begin, end):
            state = state * g[0, t].double().exp()[:, None, None]
            written = (v[0, t].double() - torch.einsum("hk,hkv->hv", k[t], state)) * beta[0, t].double().unsqueeze(-1)
            state = state + k[t].unsqueeze(-1) * written.unsqueeze(-2)
            output[0, t] = torch.einsum("hk,hkv->hv", q[t], state) * scale
        states.append(state.float())
    return output, torch.stack(states)
