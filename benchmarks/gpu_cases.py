"""What the GPU suites measure: recurrences, shapes, inputs, and the work that each takes.

Nothing here needs a GPU; tensors are made on the device that the caller names.
"""

from dataclasses import dataclass

KEYS = VALUES = 128  # unless a case says otherwise
GATE_RATE = 1 / 16  # of log-gates: logsigmoid(randn) times that
ERASES = 2  # of a token of gated_deltaproduct
NORM_EPSILON = 1e-6
ELEMENTWISE = ("hgrn", "mingru", "rg_lru", "first_order")  # a state of one row, each column by itself
DIAGONAL = (*ELEMENTWISE, "mamba")
STEPPED = ("gla", "kda", "rwkv7", "gated_deltaproduct")  # checked against the recurrence step by step, as many key as value heads


@dataclass(frozen=True)
class Case:
    """One recurrence at one shape. Arrays hold `sequences` rows of `steps` tokens."""

    model: str
    steps: int
    sequences: int
    key_heads: int
    value_heads: int
    ranks: int = 0  # of PRISM's second injection
    entry: str = "forward"  # or "decode": one step on from a state
    state: str = "f32"  # what states are between calls; "bf16"
    keys: int = KEYS
    values: int = VALUES
    inside: bool = False  # norms of keys and queries, and what gates are computed of, are the kernel's work too
    io: str = "bf16"  # what inputs and outputs are; or "f32"

    @property
    def read_scale(self):
        return self.keys**-0.5

    @property
    def size(self):
        """Keys and values of a head as part of a name; nothing for the usual size."""
        return "" if (self.keys, self.values) == (KEYS, VALUES) else f" K={self.keys} V={self.values}"

    @property
    def name(self):
        ranks = f" L={self.ranks}" if self.model == "prism" else ""
        entry = f" {self.entry}, {self.state} state" if self.entry != "forward" else ""
        inside = " norms and gates inside" if self.inside else ""
        return f"{self.model}{ranks} {self.steps}x{self.sequences} ({self.key_heads},{self.value_heads}){self.size}{entry}{inside}{self.arrays}"

    @property
    def arrays(self):
        """Part of a name where inputs and outputs are not bf16."""
        return "" if self.io == "bf16" else f" {self.io} arrays"

    @property
    def bundle(self):
        """Cases of one bundle differ in length and number of sequences only."""
        ranks = f"_l{self.ranks}" if self.model == "prism" else ""
        entry = f"_{self.entry}_{self.state}" if self.entry != "forward" else ""
        size = self.size.replace(" ", "_").replace("=", "").lower()
        inside = "_inside" if self.inside else ""
        arrays = "" if self.io == "bf16" else f"_{self.io}"
        return f"{self.model}{ranks}_{self.key_heads}_{self.value_heads}{size}{entry}{inside}{arrays}"

    @property
    def calls(self):
        """Calls in a timed graph: one of few microseconds would be lost in the events' own."""
        return 1 if self.entry == "forward" else max(1, 64 // self.sequences)


def forward_cases():
    shapes = [(8192, 1, 16, 32), (32768, 1, 16, 32), (8192, 4, 8, 32), (4096, 8, 16, 16),
              (8192, 1, 2, 8), (32768, 1, 16, 64), (8192, 1, 96, 96), (16384, 2, 16, 16)]
    cases = [Case("gated_deltanet", *shape) for shape in shapes]
    cases += [Case("gated_deltanet", *shape, inside=True) for shape in shapes[:3]]
    cases += [case for model in ("retnet", "simple_gla", "deltanet", "mamba2") for case in three_shapes(model)]
    return cases + [Case("prism", 8192, 4, 8, 32, ranks) for ranks in (0, 1, 2)]


def three_shapes(model):
    key_heads = 1 if model == "mamba2" else 16  # Mamba-2 has one group of B and C
    return [Case(model, steps, sequences, key_heads, 16) for steps, sequences in ((8192, 1), (8192, 4), (32768, 1))]


def family_cases():
    """Decays of each key channel, an erase of its own key, two erases a token."""
    return [case for model in STEPPED for case in three_shapes(model)]


def decode_cases():
    cases = [Case("gated_deltanet", 1, sequences, 16, 32, entry="decode", state=state)
             for state in ("f32", "bf16") for sequences in (1, 64, 256)]
    return cases + [Case(model, 1, sequences, 32, 32, entry="decode", state="bf16")
                    for model in ("retnet", "gla", "kda", "rwkv7") for sequences in (8, 32, 256)]


def length_cases():
    """As many tokens in few long sequences as in many short ones, of 128 value heads."""
    return [Case(model, steps, 131072 // steps, 32, 128, ranks)
            for model, ranks in (("gated_deltanet", 0), ("prism", 1)) for steps in (2048, 8192, 32768, 131072)]


def size_cases():
    """Head sizes beside 128 x 128, which comes first."""
    sizes = [(128, 128), (64, 64), (96, 96), (128, 64), (64, 128), (192, 192), (256, 256)]
    return [Case("gated_deltanet", 8192, 4, 8, 32, keys=keys, values=values) for keys, values in sizes]


def choice_cases():
    """Few and many heads, short and long, of light and heavy recurrences."""
    shapes = [(2048, 1, 8, 8), (8192, 1, 2, 8), (8192, 1, 16, 32), (32768, 1, 4, 4), (32768, 1, 16, 16), (4096, 8, 16, 16)]
    return [Case(model, *shape) for model in ("gated_deltanet", "retnet", "simple_gla", "deltanet") for shape in shapes]


def diagonal_cases():
    """2,048 channels: elementwise states in 16 heads of 128, and one head of 16 states each."""
    shapes = [(8192, 1), (8192, 4), (32768, 1)]
    return [Case(model, *shape, 16, 16, keys=1, values=128, io=io)
            for io in ("bf16", "f32") for model in ELEMENTWISE for shape in shapes] \
        + [Case("mamba", 8192, 1, 1, 1, keys=16, values=2048, io=io) for io in ("bf16", "f32")]


CASES = {"gpu-forward": forward_cases, "gpu-families": family_cases, "gpu-decode": decode_cases, "gpu-choice": choice_cases,
         "gpu-diagonal": diagonal_cases, "gpu-lengths": length_cases, "gpu-sizes": size_cases}


def by_name():
    """Name -> case, of all suites."""
    return {case.name: case for cases in CASES.values() for case in cases()}


def small_cases(suite):
    """For --dry-run: one of each model, with a chunk that is not full and more than one sequence."""
    small = {}
    for case in CASES[suite]():
        steps = 1 if case.entry == "decode" else 130
        key_heads = 1 if case.model == "mamba2" else 2
        value_heads = 2 if case.model in STEPPED else 4
        if case.model in DIAGONAL:
            key_heads = value_heads = min(case.value_heads, 4)
        few = Case(case.model, steps, 2, key_heads, value_heads, case.ranks, case.entry, case.state, case.keys, case.values, case.inside,
                   case.io)
        small[few.name] = few
    return list(small.values())


def spec(case, targets):
    """The spec that our compiler is given."""
    key, value = ["B", "T", "Hk", "K"], ["B", "T", "Hv", "V"]
    result = {"prism_spec": 1, "name": case.bundle, "entries": [case.entry], "target": targets,
              "dtype": {"io": case.io, "state": case.state},
              "dims": {"B": None, "T": None, "Hk": case.key_heads, "Hv": case.value_heads, "K": case.keys, "V": case.values}}
    read = {"read": {"query": "q", "scale": case.read_scale}}
    if case.model in DIAGONAL:
        return {**result, **diagonal(case)}
    if case.model == "simple_gla":
        result["inputs"] = {"q": key, "k": key, "v": value, "log_alpha": ["B", "T", "Hv"]}
        result["steps"] = [{"decay": "log_alpha"}, {"inject": {"key": "k", "value": "v"}}, read]
    elif case.model == "mamba2":  # x, B, C under the names v, k, q
        result["inputs"] = {"q": key, "k": key, "v": value, "dt": ["B", "T", "Hv"], "A": ["Hv"]}
        result["let"] = {"log_alpha": "dt * A"}
        result["steps"] = [{"decay": "log_alpha"}, {"inject": {"key": "k", "value": "v", "scale": "dt"}}, {"read": {"query": "q"}}]
    else:
        result["family"] = case.model
        result["options"] = {"scale": case.read_scale}
        if case.inside:
            result["options"]["l2norm"] = NORM_EPSILON
            result["inputs"] = {"A_log": ["Hv"], "dt": ["B", "T", "Hv"], "dt_bias": ["Hv"], "beta_logit": ["B", "T", "Hv"]}
            result["let"] = {"log_alpha": "-exp(A_log) * softplus(dt + dt_bias)", "beta": "sigmoid(beta_logit)"}
        if case.model == "gated_deltaproduct":
            result["dims"]["M"] = ERASES
        if case.model == "prism":
            result["dims"]["L"] = case.ranks
    return result


def diagonal(case):
    """What such a spec has of its own. Mamba's steps are softplus(dt + dt_bias), in the kernel."""
    dims = {"B": None, "T": None, "H": case.value_heads, "V": case.values}
    if case.model != "mamba":
        return {"family": case.model, "dims": dims}
    channels, keys = ["B", "T", "V"], ["B", "T", "K"]
    return {"family": "mamba", "dims": {**dims, "K": case.keys}, "let": {"delta": "softplus(dt + dt_bias)"},
            "inputs": {"x": channels, "dt": channels, "dt_bias": {"axes": ["V"], "dtype": "f32"},
                       "A_log": {"axes": ["K", "V"], "dtype": "f32"}, "B": keys, "C": keys}}


def diagonal_inputs(case, randn, decays):
    """Log-gates as the others', what gates are computed of standard normal; step sizes of about 0.01 to 0.1 for Mamba."""
    import torch

    rows, values = (case.sequences, case.steps), case.values
    dtype = {"f32": torch.float32, "bf16": torch.bfloat16}[case.io]
    channels = (*rows, values) if case.model == "mamba" else (*rows, case.value_heads, values)
    token = lambda *axes: randn(*axes).to(dtype)  # noqa: E731
    if case.model == "mamba":
        return {"x": token(*channels), "dt": token(*channels), "dt_bias": randn(values) / 2 - 3,
                "A_log": (1 + torch.arange(case.keys, device=randn(1).device)).float().log().unsqueeze(1).repeat(1, values),
                "B": token(*rows, case.keys), "C": token(*rows, case.keys)}
    if case.model == "hgrn":
        return {"i": token(*channels), "log_f": decays(values)}
    if case.model == "mingru":
        return {"h_tilde": token(*channels), "z_logit": token(*channels)}
    if case.model == "rg_lru":
        return {"x": token(*channels), "r_logit": token(*channels), "i_logit": token(*channels),
                "Lambda": 4 + randn(case.value_heads, values)}
    return {"x": token(*channels), "log_a": decays(values)}


def inputs(case, device, seed):
    """Argument name -> tensor: keys and queries of unit length, log-gates logsigmoid(randn) / 16, 0 in every fourth head.

    Where norms and gates are inside, keys and queries of about 11 and what makes gates of the same size.
    """
    import torch

    generator = torch.Generator(device=device).manual_seed(seed)
    rows = (case.sequences, case.steps)

    def randn(*axes):
        return torch.randn(*axes, generator=generator, device=device)

    def unit(*axes):
        return (randn(*axes) if case.inside else torch.nn.functional.normalize(randn(*axes), dim=-1)).bfloat16()

    heads = torch.arange(case.value_heads, device=device)

    def decays(*axes):
        return torch.nn.functional.logsigmoid(randn(*rows, case.value_heads, *axes)) * GATE_RATE

    def gates(*axes):
        return decays(*axes) * (heads.view(-1, *[1] * len(axes)) % 4 != 0)

    if case.model in DIAGONAL:
        return diagonal_inputs(case, randn, decays)
    micro = (ERASES,) if case.model == "gated_deltaproduct" else ()
    result = {"r" if case.model == "rwkv7" else "q": unit(*rows, case.key_heads, case.keys),
              "k": unit(*rows, case.key_heads, *micro, case.keys), "v": randn(*rows, case.value_heads, *micro, case.values).bfloat16()}
    if case.inside:
        result["A_log"] = torch.where(heads % 4 != 0, torch.full_like(heads, GATE_RATE, dtype=torch.float32).log(), -100.0)
        result["dt"], result["dt_bias"] = randn(*rows, case.value_heads), randn(case.value_heads) / 8
        result["beta_logit"] = randn(*rows, case.value_heads)
    elif case.model in ("gated_deltanet", "simple_gla", "prism", "gated_deltaproduct"):
        result["log_alpha"] = gates()
    if case.model in ("gla", "kda", "rwkv7"):
        result["log_w" if case.model == "rwkv7" else "log_alpha"] = gates(case.keys)
    if case.model in ("gated_deltanet", "deltanet", "prism", "kda", "gated_deltaproduct") and not case.inside:
        result["beta"] = torch.sigmoid(randn(*rows, case.value_heads, *micro))
    if case.model == "rwkv7":
        result["kappa"] = unit(*rows, case.key_heads, case.keys)
        result["a"] = torch.sigmoid(randn(*rows, case.key_heads, case.keys)).bfloat16()
    if case.model == "retnet":  # the decays of the paper, which the peer has built in
        result["log_gamma"] = torch.log1p(-torch.exp2(-5.0 - heads.double())).float()
    if case.model == "mamba2":
        result["dt"], result["A"] = -decays(), -(heads % 4 != 0).float()
    if case.model == "prism" and case.ranks:
        result["u"] = randn(*rows, case.value_heads, case.values).bfloat16()
        result["p"] = torch.sigmoid(randn(*rows, case.value_heads, case.ranks, case.values)).bfloat16()
        result["c"] = unit(*rows, case.key_heads, case.ranks, case.keys)
        result["b"] = torch.sigmoid(randn(*rows, case.value_heads, case.ranks))
    if case.entry == "decode":
        state = randn(case.sequences, case.value_heads, case.keys, case.values)
        result["initial_state"] = state.bfloat16() if case.state == "bf16" else state
    return result


def results(case, device):
    """Output and final state, full of NaN: what a kernel forgets to write is seen."""
    import torch

    rows = (case.sequences, case.steps, case.value_heads, case.values)
    state = (case.sequences, case.value_heads, case.keys, case.values)
    dtype = {"f32": torch.float32, "bf16": torch.bfloat16}[case.state]
    output = {"f32": torch.float32, "bf16": torch.bfloat16}[case.io]
    return {"o": torch.full(rows, float("nan"), dtype=output, device=device),
            "final_state": torch.full(state, float("nan"), dtype=dtype, device=device)}


def flops(case, chunk=64):
    """Of the dense chunk form, triangles counted in full, the inverse itself not counted; a single step as it is.

    Read: Q K^T, its product with what was written, Q S. Write: K^T X. An erase adds
    K K^T, the product with the inverse, and K S. Each rank: two scores with an erase
    (one without), their products, and its write. So does each micro-step after the first.
    """
    if case.model in DIAGONAL:  # a decay, an injection and a read of each element
        return 5 * case.keys * case.values * case.steps * case.sequences * case.value_heads
    erases = case.model in ("gated_deltanet", "deltanet", "prism", "kda", "rwkv7", "gated_deltaproduct")
    products = 2 if erases else 1
    if case.entry == "decode":
        return 2 * case.keys * case.values * (1 + products) * case.sequences * case.value_heads
    a_token = 2 * chunk * (case.keys + case.values) * products + 2 * case.keys * case.values * (1 + products)
    a_token += case.ranks * (2 * chunk * (case.keys + case.values) * products + 2 * case.keys * case.values)
    if case.model == "gated_deltaproduct":  # rows interleaved: each erase reads the keys of all before it
        a_token += (ERASES - 1) * (2 * chunk * (case.keys + case.values) * (1 + 2 * ERASES) + 2 * case.keys * case.values * 2)
    return a_token * case.steps * case.sequences * case.value_heads


def traffic(tensors):
    """Bytes, if every input is read once and every output written once."""
    return sum(x.numel() * x.element_size() for x in tensors)
