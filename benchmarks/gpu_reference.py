"""The recurrences of the GPU suites in float64, on whatever device the inputs are.

`recurrence` is the definition, step by step. `chunked` is the same sum taken 64
steps at a time, for sequences on which a loop over steps takes too long; it is
itself compared with `recurrence` on the first steps of every case. `stepped` is
the recurrence of models that `chunked` does not cover.
"""

import torch


def computed(x, epsilon):
    """Inputs of a case with norms and gates inside -> those that the others have, in float64."""
    unit = lambda t: t * (t.square().sum(-1, keepdim=True) + epsilon).rsqrt()  # noqa: E731
    a, dt, bias, beta = (x[name].double() for name in ("A_log", "dt", "dt_bias", "beta_logit"))
    return {"q": unit(x["q"].double()), "k": unit(x["k"].double()), "v": x["v"],
            "log_alpha": -a.exp() * torch.nn.functional.softplus(dt + bias), "beta": beta.sigmoid()}


def factors(x, read_scale):
    """Inputs by name -> (q, k, v, log gates or None, erase strengths or None, scales or None, ranks or None), float64.

    Ranks are the keys c [B, T, H, L, K] and the values [B, T, H, L, V], with strength, of a second injection.
    """
    heads = x["v"].shape[2]
    spread = lambda t: t.double().repeat_interleave(heads // t.shape[2], 2)  # noqa: E731
    gate, scale = x.get("log_alpha"), x.get("beta")
    if "log_gamma" in x:
        gate = x["log_gamma"].expand(x["v"].shape[:3])
    if "dt" in x:
        # The product is a float32, as it is in a kernel.
        gate, scale = x["dt"] * x["A"], x["dt"]
    ranks = (spread(x["c"]), refined(x)) if "c" in x else None
    to_double = lambda t: None if t is None else t.double()  # noqa: E731
    return (spread(x["q"]) * read_scale, spread(x["k"]), x["v"].double(), to_double(gate), to_double(x.get("beta")),
            to_double(scale), ranks)


def refined(x):
    """PRISM's refinement loop: what the ranks inject, times its strength."""
    rest, deltas = x["v"].double() - x["u"].double(), []
    for rank in range(x["p"].shape[3]):
        delta = torch.nn.functional.gelu(x["p"][:, :, :, rank].double() * rest)
        deltas.append(delta)
        rest = rest - delta
    return torch.stack(deltas, 3) * x["b"].double().unsqueeze(-1)


def recurrence(x, read_scale, steps):
    """Outputs [B, steps, H, V] of the first steps, and the state after them [B, H, K, V]."""
    first = x.get("initial_state")
    x = {name: t[:, :steps] if t.dim() > 1 else t for name, t in x.items()}
    q, k, v, gate, erase, scale, ranks = factors(x, read_scale)
    shape = (*v[:, 0].shape[:2], k.shape[-1], v.shape[-1])
    state = torch.zeros(shape, dtype=torch.float64, device=v.device) if first is None else first.double()
    outputs = torch.empty_like(v)
    for t in range(v.shape[1]):
        if gate is not None:
            state = state * gate[:, t].exp()[..., None, None]
        written = v[:, t]
        if erase is not None:  # the erase and the injection share their key and their strength
            written = written - torch.einsum("bhk,bhkv->bhv", k[:, t], state)
        if scale is not None:
            written = written * scale[:, t].unsqueeze(-1)
        state = state + k[:, t].unsqueeze(-1) * written.unsqueeze(-2)
        if ranks is not None:
            state = state + torch.einsum("bhlk,bhlv->bhkv", ranks[0][:, t], ranks[1][:, t])
        outputs[:, t] = torch.einsum("bhk,bhkv->bhv", q[:, t], state)
    return outputs, state


def stepped(case, x, read_scale):
    """Outputs [B, T, H, V] and the last state [B, H, K, V] of gla, kda, rwkv7 and gated_deltaproduct, step by step."""
    q, gate = (x[name].double() for name in (("r", "log_w") if case.model == "rwkv7" else ("q", "log_alpha")))
    decay = gate.exp().unsqueeze(-1) if gate.dim() == 4 else gate.exp()[..., None, None]
    k, v = x["k"].double(), x["v"].double()
    rows = k.shape[3] if k.dim() == 5 else 0
    strength = x["beta"].double() if "beta" in x else None
    first = x.get("initial_state")
    shape = (*v.shape[:1], *v.shape[2:3], k.shape[-1], v.shape[-1])
    state = torch.zeros(shape, dtype=torch.float64, device=v.device) if first is None else first.double()
    outputs = torch.empty(*v.shape[:3], v.shape[-1], dtype=torch.float64, device=v.device)
    seen = lambda key, state: torch.einsum("bhk,bhkv->bhv", key, state)  # noqa: E731
    outer = lambda key, value: key.unsqueeze(-1) * value.unsqueeze(-2)  # noqa: E731
    for t in range(v.shape[1]):
        if case.model == "rwkv7":  # erases what the state was before it decayed
            removed = x["kappa"][:, t].double()
            written = outer(x["a"][:, t].double() * removed, seen(removed, state))
            state = state * decay[:, t] - written + outer(k[:, t], v[:, t])
        elif strength is None:
            state = state * decay[:, t] + outer(k[:, t], v[:, t])
        else:
            state = state * decay[:, t]
            for i in range(max(rows, 1)):
                key, value, beta = (a[:, t, :, i] if rows else a[:, t] for a in (k, v, strength))
                state = state + outer(key, beta.unsqueeze(-1) * (value - seen(key, state)))
        outputs[:, t] = seen(q[:, t], state)
    return outputs * read_scale, state


def elementwise(case, x):
    """What each element of the state is multiplied by at each step and what is added, [B, T, H, K, V], and queries or None."""
    x = {name: t.double() for name, t in x.items()}
    if case.model == "mamba":
        delta = torch.nn.functional.softplus(x["dt"] + x["dt_bias"])
        factor = (-x["A_log"].exp() * delta.unsqueeze(-2)).exp()
        added = x["B"].unsqueeze(-1) * (delta * x["x"]).unsqueeze(-2)
        return factor.unsqueeze(2), added.unsqueeze(2), x["C"]
    if case.model == "hgrn":
        factor, added = x["log_f"].exp(), -torch.expm1(x["log_f"]) * x["i"]
    elif case.model == "mingru":
        factor, added = torch.sigmoid(-x["z_logit"]), torch.sigmoid(x["z_logit"]) * x["h_tilde"]
    elif case.model == "rg_lru":
        log_a = 8 * torch.sigmoid(x["r_logit"]) * torch.nn.functional.logsigmoid(x["Lambda"])
        factor, added = log_a.exp(), (-torch.expm1(2 * log_a)).sqrt() * torch.sigmoid(x["i_logit"]) * x["x"]
    else:
        factor, added = x["log_a"].exp(), x["x"]
    return factor.unsqueeze(3), added.unsqueeze(3), None


def diagonal(case, x):
    """Outputs [B, T, H, V] and the last state [B, H, K, V]: maps of 1, 2, 4, ... steps, all at once."""
    factor, state, query = elementwise(case, x)
    reach, steps = 1, state.shape[1]
    while reach < steps:
        state[:, reach:] += factor[:, reach:] * state[:, :-reach].clone()
        factor[:, reach:] *= factor[:, :-reach].clone()
        reach *= 2
    read = state[..., 0, :] if query is None else torch.einsum("btk,bthkv->bthv", query, state)
    return read, state[:, -1].clone()


def chunked(x, read_scale, chunk=64):
    """The same for all steps, by chunks."""
    steps = x["v"].shape[1]
    state, outputs = None, []
    for begin in range(0, steps, chunk):
        part = {name: t[:, begin:begin + chunk] if t.dim() > 1 else t for name, t in x.items()}
        output, state = one_chunk(factors(part, read_scale), state)
        outputs.append(output)
    return torch.cat(outputs, 1), state


def one_chunk(parts, state):
    """One chunk, [B, C, H, ...] in and out, and the next state [B, H, K, V]."""
    q, k, v, gate, erase, scale, ranks = (None if t is None else t.transpose(1, 2) if torch.is_tensor(t)
                                          else [r.transpose(1, 2) for r in t] for t in parts)
    if state is None:
        state = v.new_zeros(*v.shape[:2], k.shape[-1], v.shape[-1])
    sums = v.new_zeros(v.shape[:3]) if gate is None else gate.cumsum(-1)
    seen = torch.ones(v.shape[2], v.shape[2], dtype=torch.bool, device=v.device).tril()
    decay = (sums.unsqueeze(-1) - sums.unsqueeze(-2)).masked_fill(~seen, float("-inf")).exp()
    since_entry, to_end = sums.exp().unsqueeze(-1), (sums[..., -1:] - sums).exp().unsqueeze(-1)
    rank_sums = None
    if ranks is not None:
        count = ranks[0].shape[3]
        keys, values = (r.flatten(2, 3) for r in ranks)
        rank_decay = decay.repeat_interleave(count, -1)
        rank_sums = lambda query: (query @ keys.mT * rank_decay) @ values  # noqa: E731
    written = v
    if erase is not None:
        written = written - since_entry * (k @ state)
        if ranks is not None:
            # Its own token's ranks come after the erase: a step reads those of the steps before it.
            before = (k @ keys.mT * rank_decay * seen.tril(-1).repeat_interleave(count, -1)) @ values
            written = written - before
    if scale is not None:
        written = written * scale.unsqueeze(-1)
    if erase is not None:
        matrix = (k @ k.mT * decay * erase.unsqueeze(-1)).tril(-1)
        written = torch.linalg.solve_triangular(matrix, written, upper=False, unitriangular=True)
    output = since_entry * (q @ state) + (q @ k.mT * decay) @ written
    state = sums[..., -1:].exp().unsqueeze(-1) * state + (k * to_end).mT @ written
    if ranks is not None:
        output = output + rank_sums(q)
        state = state + (keys * to_end.repeat_interleave(count, 2)).mT @ values
    return output.transpose(1, 2), state


def rms_ratio(got, want):
    """sqrt(sum of squared errors / sum of squares); NaN if anything is NaN."""
    return float((((got.double() - want) ** 2).sum() / (want**2).sum()).sqrt())


def worst_head(got, want):
    """The largest RMS ratio of a head; heads are the axis before the last in outputs."""
    axes = [axis for axis in range(want.dim()) if axis != 2]
    return float((((got.double() - want) ** 2).sum(axes) / (want**2).sum(axes)).sqrt().max())
