"""The chunk form in plain PyTorch, for states of keys x values: the peers of our CPU kernels.

What does not depend on the state is done for all chunks at once, in batched
products; only the state itself goes from chunk to chunk. Arrays are [chunks,
sequences and heads, rows, ...]: a slice for one chunk is contiguous. A token may
have several rows: micro-steps, or several writes.
"""

import torch


def by_chunks(x, chunk):
    """[1, T, H, ...] -> [chunks, H, chunk, ...], contiguous."""
    steps, heads = x.shape[1:3]
    return x.view(steps // chunk, chunk, heads, *x.shape[3:]).transpose(1, 2).contiguous()


def rows_of(x, chunk):
    """[1, T, H, M, D] -> [chunks, H, chunk M, D]: M rows a token."""
    return by_chunks(x, chunk).flatten(2, 3)


def spread(pairs, rows, columns):
    """[..., chunk, chunk] for so many rows a token on either side."""
    if rows > 1:
        pairs = pairs.repeat_interleave(rows, -2)
    return pairs.repeat_interleave(columns, -1) if columns > 1 else pairs


class NoDecay:
    """States that keep all."""

    def __init__(self, chunk):
        self.seen = torch.ones(chunk, chunk).tril_()

    def pairs(self, left, right, before=False):
        """left . right of a reader and each writer of its token or an earlier one, 0 for later ones."""
        rows, columns = (x.shape[-2] // self.seen.shape[-1] for x in (left, right))
        products, seen = torch.matmul(left, right.transpose(-1, -2)), spread(self.seen, rows, columns)
        grouped = seen.dim() > 2 and seen.shape[1] > products.shape[1]  # heads that share keys, with gates of their own
        return products * seen if grouped else products.mul_(seen)

    def from_start(self, x, before=False):
        return x

    def to_end(self, x):
        return x

    def carry(self, i, state, added, out=None):
        """The state after chunk i, without what solved rows write."""
        return torch.add(state, added, out=out)


class ScalarDecay(NoDecay):
    """One log-gate for each head and token: [chunks, heads, chunk]."""

    def __init__(self, log_gate):
        chunk = log_gate.shape[-1]
        sums = log_gate.cumsum(-1)
        later = torch.ones(chunk, chunk, dtype=torch.bool).triu_(1)
        self.seen = (sums.unsqueeze(-1) - sums.unsqueeze(-2)).masked_fill_(later, float("-inf")).exp_()
        self.start = sums.exp().unsqueeze(-1)
        self.end = (sums[..., -1:] - sums).exp().unsqueeze(-1)
        self.whole = sums[..., -1:, None].exp()

    def from_start(self, x, before=False):
        return x * self.start.repeat_interleave(x.shape[-2] // self.start.shape[-2], -2)

    def to_end(self, x):
        return x * self.end.repeat_interleave(x.shape[-2] // self.end.shape[-2], -2)

    def carry(self, i, state, added, out=None):
        return torch.addcmul(added, state, self.whole[i], out=out)


class KeyDecay(NoDecay):
    """A log-gate for each key: [chunks, heads, chunk, K]. Sides of products are scaled towards the middle of the chunk."""

    def __init__(self, log_gate):
        super().__init__(log_gate.shape[-2])
        sums = log_gate.cumsum(-2)
        middle = sums[..., sums.shape[-2] // 2, None, :]
        self.gate, self.sums, self.last = log_gate, sums, sums[..., -1:, :]
        self.left, self.right = (sums - middle).exp_(), (middle - sums).exp_()
        self.before = (sums - log_gate - middle).exp_()
        self.whole = self.last.transpose(-1, -2).exp()

    def pairs(self, left, right, before=False):
        return super().pairs(left * (self.before if before else self.left), right * self.right)

    def from_start(self, x, before=False):
        return x * (self.sums - self.gate if before else self.sums).exp()

    def to_end(self, x):
        return x * (self.last - self.sums).exp_()

    def carry(self, i, state, added, out=None):
        return torch.addcmul(added, state, self.whole[i], out=out)


def inverse_by_rows(a):
    """(I + A)^-1 for strictly lower triangular A, row by row, all chunks at once."""
    inverse = -a
    for row in range(1, a.shape[-1]):
        # Row r of the inverse is minus A's row times the rows above it.
        inverse[..., row, :row] += torch.matmul(inverse[..., row, None, :row], inverse[..., :row, :row]).squeeze(-2)
    inverse.diagonal(dim1=-2, dim2=-1).add_(1.0)
    return inverse


def diagonal_blocks(x, size):
    """The blocks of that size on the diagonal, a view: [..., count, size, size]."""
    return x.unflatten(-2, (-1, size)).unflatten(-1, (-1, size)).diagonal(dim1=-4, dim2=-2).movedim(-1, -3)


def inverse_by_blocks(a, width=8):
    """The same: blocks on the diagonal by rows, then pairs of blocks by two products, doubling."""
    width = min(width, a.shape[-1])
    inverse = torch.zeros_like(a)
    diagonal_blocks(inverse, width).copy_(inverse_by_rows(diagonal_blocks(a, width).contiguous()))
    while width < a.shape[-1]:
        pairs, corners = diagonal_blocks(inverse, 2 * width), diagonal_blocks(a, 2 * width)[..., width:, :width]
        product = torch.matmul(pairs[..., width:, width:].contiguous(), torch.matmul(corners, pairs[..., :width, :width]))
        pairs[..., width:, :width].copy_(product.neg_())
        width *= 2
    return inverse


def solve(a, right, method):
    """X of (I + A) X = right, A strictly lower triangular."""
    if method == "solve":
        return torch.linalg.solve_triangular(a, right, upper=False, unitriangular=True)
    return torch.matmul((inverse_by_rows if method == "rows" else inverse_by_blocks)(a), right)


class Erase:
    """What is written along `write` is `own - read^T S`: rows of a chunk; `before`: S as it was before the decay."""

    def __init__(self, read, write, own=None, before=False):
        self.read, self.write, self.own, self.before = read, write, own, before


def linear(decay, query, writers):
    """Outputs and the last state of a chain without an erase; writers: (keys, values) pairs."""
    added = sum(torch.matmul(decay.to_end(keys).transpose(-1, -2), values) for keys, values in writers)
    states = torch.zeros_like(torch.cat([added, added[-1:]]))
    for i in range(len(added)):
        decay.carry(i, states[i], added[i], states[i + 1])
    o = torch.matmul(decay.from_start(query), states[:-1])
    for keys, values in writers:
        o += torch.matmul(decay.pairs(query, keys), values)
    return o, states[-1]


def erased(decay, query, erase, writers, method):
    """The same with an erase; what is written by other writers of the token comes after it."""
    own = erase.own
    for keys, values in writers:
        columns = keys.shape[-2] // decay.seen.shape[-1]
        # A token's own writes come after its erase.
        mask = spread(torch.ones(decay.seen.shape[-2:]).tril_(-1), 1, columns)
        seen = torch.matmul(decay.pairs(erase.read, keys, erase.before).mul_(mask), values)
        own = seen.neg_() if own is None else own - seen
    a = decay.pairs(erase.read, erase.write, erase.before).tril_(-1)
    right = torch.cat([own, decay.from_start(erase.read, erase.before)], -1)
    solved = solve(a, right, method)
    own, read = (x.contiguous() for x in solved.split([own.shape[-1], erase.read.shape[-1]], -1))
    write = decay.to_end(erase.write).transpose(-1, -2)
    chunks, heads = own.shape[:2]
    states = own.new_zeros(chunks + 1, heads, read.shape[-1], own.shape[-1])
    added = sum((torch.matmul(decay.to_end(keys).transpose(-1, -2), values) for keys, values in writers),
                own.new_zeros(()).expand(chunks, 1, 1, 1))
    written = torch.empty_like(own)
    for i in range(chunks):
        torch.baddbmm(own[i], read[i], states[i], alpha=-1, out=written[i])
        torch.baddbmm(decay.carry(i, states[i], added[i]), write[i], written[i], out=states[i + 1])
    o = torch.matmul(decay.from_start(query), states[:-1]) + torch.matmul(decay.pairs(query, erase.write), written)
    for keys, values in writers:
        o += torch.matmul(decay.pairs(query, keys), values)
    return o, states[-1]


def by_time(o):
    """[chunks, H, chunk, V] -> [1, T, H, V]"""
    return o.transpose(1, 2).reshape(1, -1, o.shape[1], o.shape[-1])
