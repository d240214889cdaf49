"""One step of each sequence; states are rows [H, V, K] of a pool, the gates made here of a, b, and two rows of weights."""

import torch


def gated_delta_rule_decode_pretranspose(q, k, v, state, A_log, a, dt_bias, b, scale=None, output=None, use_qk_l2norm=True,
                                         initial_state=None, initial_state_indices=None, output_state_indices=None,
                                         intermediate_states_buffer=None, disable_state_update=False, backend="auto"):
    sequences, steps, heads, values = v.shape
    assert steps == 1 and state is None and not use_qk_l2norm and backend in ("auto", "flashinfer")
    assert q.dtype == k.dtype == v.dtype == a.dtype == b.dtype == torch.bfloat16 and A_log.dtype == torch.float32
    assert a.shape == b.shape == (sequences, 1, heads) and A_log.shape == dt_bias.shape == (heads,)
    assert initial_state.shape[1:] == (heads, values, k.shape[-1]) and initial_state.is_contiguous()
    assert initial_state.dtype in (torch.float32, torch.bfloat16)
    q, k = (x[:, 0].double().repeat_interleave(heads // x.shape[2], 1) for x in (q, k))
    decay = (-A_log.exp() * torch.nn.functional.softplus(a[:, 0].float() + dt_bias)).exp().double()
    states = initial_state[initial_state_indices.long()].double() * decay[..., None, None]
    written = (v[:, 0].double() - torch.einsum("nhk,nhvk->nhv", k, states)) * b[:, 0].double().sigmoid().unsqueeze(-1)
    states = states + written.unsqueeze(-1) * k.unsqueeze(-2)
    output[:, 0] = torch.einsum("nhk,nhvk->nhv", q, states) * scale
    initial_state[output_state_indices.long()] = states.to(initial_state.dtype)
    return output, initial_state
