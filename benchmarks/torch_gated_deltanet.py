"""Gated DeltaNet's chunk form in plain PyTorch: the peers of our CPU kernels.

Both do everything that does not depend on the state for all chunks at once, in
batched products; only the state itself goes from chunk to chunk. They differ in
how (I + A) X = R is solved: `solve` by torch.linalg.solve_triangular, `rows` by
substituting row after row, as the published reference codes do.

q, k, v: [B, T, H, D]; log_gate, beta: [B, T, H]; T a multiple of the chunk.
"""

import torch


def by_chunks(x, chunk):
    """[B, T, H, ...] -> [B H, chunks, chunk, ...], contiguous."""
    batch, steps, heads = x.shape[:3]
    x = x.transpose(1, 2).reshape(batch * heads, steps // chunk, chunk, *x.shape[3:])
    return x.contiguous()


def inverse_by_rows(a):
    """(I + A)^-1 for strictly lower triangular A, row by row, all chunks at once."""
    inverse = -a
    for row in range(1, a.shape[-1]):
        # Row r of the inverse is minus A's row times the rows above it.
        inverse[..., row, :row] += torch.matmul(inverse[..., row, None, :row], inverse[..., :row, :row]).squeeze(-2)
    inverse.diagonal(dim1=-2, dim2=-1).add_(1.0)
    return inverse


def forward(q, k, v, log_gate, beta, chunk, method):
    """Returns o [B, T, H, V] and the final state [B, H, K, V]."""
    batch, steps, heads, keys = q.shape
    values = v.shape[-1]
    q, k, v, log_gate, beta = (by_chunks(x, chunk) for x in (q, k, v, log_gate, beta))
    sums = log_gate.cumsum(-1)
    gamma = sums.exp().unsqueeze(-1)
    last = sums[..., -1:]
    seen = torch.ones(chunk, chunk, dtype=torch.bool).tril()
    decay = (sums.unsqueeze(-1) - sums.unsqueeze(-2)).masked_fill_(~seen, float("-inf")).exp_()
    transposed = k.transpose(-1, -2)
    scores = torch.matmul(q, transposed).mul_(decay)
    strength = beta.unsqueeze(-1)
    a = torch.matmul(k, transposed).mul_(decay).mul_(strength).tril_(-1)
    right = torch.cat([v, k * gamma], -1).mul_(strength)
    if method == "solve":
        solved = torch.linalg.solve_triangular(a, right, upper=False, unitriangular=True)
    else:
        solved = torch.matmul(inverse_by_rows(a), right)
    own, read = solved.split([values, keys], -1)
    own, read = own.contiguous(), read.contiguous()
    write = (k * (last - sums).exp().unsqueeze(-1)).transpose(-1, -2)
    keep = last.exp().unsqueeze(-1)

    state = q.new_zeros(batch * heads, keys, values)
    states = q.new_empty(batch * heads, steps // chunk, keys, values)
    written = torch.empty_like(own)
    for i in range(steps // chunk):
        states[:, i] = state
        x = torch.baddbmm(own[:, i], read[:, i], state, alpha=-1)
        written[:, i] = x
        state = torch.baddbmm(state * keep[:, i], write[:, i], x)
    o = torch.matmul(q * gamma, states) + torch.matmul(scores, written)
    o = o.view(batch, heads, steps, values).transpose(1, 2)
    return o, state.view(batch, heads, keys, values)


def recurrence(q, k, v, log_gate, beta):
    """The definition, step by step, in float64."""
    q, k, v, log_gate, beta = (x.double() for x in (q, k, v, log_gate, beta))
    batch, steps, heads, keys = q.shape
    state = q.new_zeros(batch, heads, keys, v.shape[-1])
    o = torch.empty_like(v)
    for t in range(steps):
        key = k[:, t].unsqueeze(-1)
        state = state * log_gate[:, t].exp()[..., None, None]
        error = v[:, t] - (state * key).sum(-2)
        state = state + key * (beta[:, t].unsqueeze(-1) * error).unsqueeze(-2)
        o[:, t] = (state * q[:, t].unsqueeze(-1)).sum(-2)
    return o, state
