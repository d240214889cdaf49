"""Diagonal recurrences in plain PyTorch: h = a h' + b, element by element, and Mamba's read of them.

`steps` goes token by token, one in-place op each, the gates of a block of tokens
ahead, while they lie in the cache; `cumsum` takes sums of logarithms within short
chunks; `two levels` takes all chunks' t-th tokens at once; `doubling` is the
associative scan by Hillis and Steele within chunks.
"""

import torch
import torch.nn.functional as F


def gates_hgrn(x):
    return x["log_f"], x["log_f"].expm1().neg_().mul_(x["i"])


def gates_mingru(x):
    z = x["z_logit"]
    return F.logsigmoid(-z), z.sigmoid().mul_(x["h_tilde"])


def gates_rg_lru(x):
    log_a = x["r_logit"].sigmoid().mul_(x["rate"])
    scale = (log_a * 2).expm1_().neg_().sqrt_()
    return log_a, scale.mul_(x["i_logit"].sigmoid()).mul_(x["x"])


def gates_first_order(x):
    return x["log_a"], x["x"]


def flat(x):
    """[1, T, H, V] -> [T, H V]; parameters [H, V] -> [H V]."""
    x = {name: a.flatten(0, 1).flatten(1) if a.dim() == 4 else a.flatten() for name, a in x.items()}
    if "Lambda" in x:
        x["rate"] = F.logsigmoid(x.pop("Lambda")).mul_(8)
    return x


def pieces(x, block):
    """The inputs of each block of tokens; parameters as they are."""
    steps = max(len(a) for a in x.values() if a.dim() == 2)
    for begin in range(0, steps, block):
        yield begin, {name: a[begin:begin + block] if a.dim() == 2 else a for name, a in x.items()}


def result(o, like):
    shape = next(a for a in like.values() if a.dim() == 4).shape
    return o.view(shape), o[-1].view(1, *shape[2:3], 1, shape[3])


def by_steps(inputs, gates, block):
    x = flat(inputs)
    o = torch.empty_like(next(a for a in x.values() if a.dim() == 2))
    state = torch.zeros_like(o[0])
    for begin, piece in pieces(x, block or len(o)):
        log_a, b = gates(piece)
        for factor, term, out in zip(log_a.exp().unbind(), b.unbind(), o[begin:begin + len(b)].unbind()):
            state = torch.addcmul(term, factor, state, out=out)
    return result(o, inputs)


def by_interpolation(inputs, weights, block):
    """Where b is (1 - a) c: torch.lerp is one op and needs no b."""
    x = flat(inputs)
    o = torch.empty_like(next(a for a in x.values() if a.dim() == 2))
    state = torch.zeros_like(o[0])
    for begin, piece in pieces(x, block or len(o)):
        target, weight = weights(piece)
        for value, w, out in zip(target.unbind(), weight.unbind(), o[begin:begin + len(weight)].unbind()):
            state = torch.lerp(state, value, w, out=out)
    return result(o, inputs)


def carried(o, factors):
    """Adds to each chunk of o [chunks, chunk, D] what the ones before leave; factors: products from its start."""
    state = torch.zeros_like(o[0, 0])
    for i in range(len(o)):
        o[i].addcmul_(factors[i], state)
        state = o[i, -1]
    return o.flatten(0, 1)


def by_cumsum(inputs, gates, chunk):
    log_a, b = (a.unflatten(0, (-1, chunk)) for a in gates(flat(inputs)))
    sums = log_a.cumsum(1)
    factors = sums.exp()
    o = sums.neg_().exp_().mul_(b).cumsum(1).mul_(factors)
    return result(carried(o, factors), inputs)


def by_levels(inputs, gates, chunk):
    log_a, b = (a.unflatten(0, (-1, chunk)) for a in gates(flat(inputs)))
    factors, o = log_a.exp(), torch.empty_like(b)
    o[:, 0] = b[:, 0]
    for t in range(1, chunk):
        torch.addcmul(b[:, t], factors[:, t], o[:, t - 1], out=o[:, t])
        factors[:, t].mul_(factors[:, t - 1])
    return result(carried(o, factors), inputs)


def by_doubling(inputs, gates, chunk):
    log_a, b = (a.unflatten(0, (-1, chunk)) for a in gates(flat(inputs)))
    factors, o = log_a.exp(), b.clone()
    distance = 1
    while distance < chunk:
        o[:, distance:] += factors[:, distance:] * o[:, :-distance]
        factors[:, distance:] = factors[:, distance:] * factors[:, :-distance]
        distance *= 2
    return result(carried(o, factors), inputs)


def parts_of_mamba(x):
    """Rates [K, V], step sizes, what is written and along what, what is read: [T, ...] each; the first state; room for outputs."""
    rate = -x["A_log"][0].exp()
    delta = F.softplus(x["dt"][0, :, 0])
    value = delta * x["x"][0, :, 0]
    return rate, delta, value, x["B"][0, :, 0], x["C"][0, :, 0], torch.zeros_like(rate), torch.empty_like(value)


def mamba_by_steps(x, block):
    """Elementwise states [K, V], the factors and terms of a block of tokens ahead; reads are one batched product a block."""
    rate, delta, value, write, read, state, o = parts_of_mamba(x)
    states = o.new_empty(block, *rate.shape)
    for begin in range(0, len(o), block):
        here = slice(begin, begin + block)
        factors = (delta[here].unsqueeze(1) * rate).exp_()
        terms = write[here].unsqueeze(2) * value[here].unsqueeze(1)
        for factor, term, out in zip(factors.unbind(), terms.unbind(), states.unbind()):
            state = torch.addcmul(term, factor, state, out=out)
        o[here] = torch.matmul(read[here].unsqueeze(1), states).squeeze(1)
        state = state.clone()
    return o[None, :, None], state[None, None]


def mamba_by_cumsum(x, chunk):
    rate, delta, value, write, read, state, o = parts_of_mamba(x)
    for begin in range(0, len(o), chunk):
        here = slice(begin, begin + chunk)
        sums = delta[here].cumsum(0).unsqueeze(1) * rate
        terms = (-sums).exp_().mul_(write[here].unsqueeze(2)).mul_(value[here].unsqueeze(1))
        states = terms.cumsum(0).add_(state).mul_(sums.exp_())
        o[here] = torch.matmul(read[here].unsqueeze(1), states).squeeze(1)
        state = states[-1].clone()
    return o[None, :, None], state[None, None]


def diagonal(gates, weights=None):
    def forms(x):
        blocks = [(0, "steps"), (16, "steps, blocks of 16"), (64, "steps, blocks of 64")]
        made = {name: lambda block=block: by_steps(x, gates, block) for block, name in blocks}
        if weights:
            made |= {f"lerp {name}": lambda block=block: by_interpolation(x, weights, block) for block, name in blocks}
        for chunk in (16, 64):
            made[f"cumsum, chunk {chunk}"] = lambda chunk=chunk: by_cumsum(x, gates, chunk)
            made[f"two levels, chunk {chunk}"] = lambda chunk=chunk: by_levels(x, gates, chunk)
        made["doubling, chunk 16"] = lambda: by_doubling(x, gates, 16)
        return made
    return forms


def mamba(x):
    made = {f"steps, blocks of {block}": lambda block=block: mamba_by_steps(x, block) for block in (4, 16, 64)}
    return made | {f"cumsum, chunk {chunk}": lambda chunk=chunk: mamba_by_cumsum(x, chunk) for chunk in (8, 16)}


FORMS = {"mamba": mamba, "rg_lru": diagonal(gates_rg_lru), "first_order": diagonal(gates_first_order),
         "hgrn": diagonal(gates_hgrn, lambda x: (x["i"], x["log_f"].expm1().neg_())),
         "mingru": diagonal(gates_mingru, lambda x: (x["h_tilde"], x["z_logit"].sigmoid()))}
