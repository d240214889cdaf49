"""What the suite gpu-forward measures: recurrences, shapes, inputs, and the work that each takes.

Nothing here needs a GPU; tensors are made on the device that the caller names.
"""

from dataclasses import dataclass

KEYS = VALUES = 128
READ_SCALE = KEYS**-0.5


@dataclass(frozen=True)
class Case:
    """One recurrence at one shape. Arrays hold `sequences` rows of `steps` tokens."""

    model: str
    steps: int
    sequences: int
    key_heads: int
    value_heads: int
    ranks: int = 0  # of PRISM's second injection

    @property
    def name(self):
        ranks = f" L={self.ranks}" if self.model == "prism" else ""
        return f"{self.model}{ranks} {self.steps}x{self.sequences} ({self.key_heads},{self.value_heads})"

    @property
    def bundle(self):
        """Cases of one bundle differ in length and number of sequences only."""
        ranks = f"_l{self.ranks}" if self.model == "prism" else ""
        return f"{self.model}{ranks}_{self.key_heads}_{self.value_heads}"


def all_cases():
    shapes = [(8192, 1, 16, 32), (32768, 1, 16, 32), (8192, 4, 8, 32), (4096, 8, 16, 16),
              (8192, 1, 2, 8), (32768, 1, 16, 64), (8192, 1, 96, 96), (16384, 2, 16, 16)]
    cases = [Case("gated_deltanet", *shape) for shape in shapes]
    for model in ("retnet", "simple_gla", "deltanet", "mamba2"):
        key_heads = 1 if model == "mamba2" else 16  # Mamba-2 has one group of B and C
        cases += [Case(model, steps, sequences, key_heads, 16) for steps, sequences in ((8192, 1), (8192, 4), (32768, 1))]
    return cases + [Case("prism", 8192, 4, 8, 32, ranks) for ranks in (0, 1, 2)]


def small_cases():
    """For --dry-run: one of each model, with a chunk that is not full and more than one sequence."""
    cases = [Case(model, 130, 2, 1 if model == "mamba2" else 2, 4) for model in
             ("gated_deltanet", "retnet", "simple_gla", "deltanet", "mamba2")]
    return cases + [Case("prism", 130, 2, 2, 4, ranks) for ranks in (0, 1, 2)]


def spec(case, targets):
    """The spec that our compiler is given."""
    key, value = ["B", "T", "Hk", "K"], ["B", "T", "Hv", "V"]
    result = {"prism_spec": 1, "name": case.bundle, "entries": ["forward"], "target": targets, "dtype": {"io": "bf16"},
              "dims": {"B": None, "T": None, "Hk": case.key_heads, "Hv": case.value_heads, "K": KEYS, "V": VALUES}}
    read = {"read": {"query": "q", "scale": READ_SCALE}}
    if case.model == "simple_gla":
        result["inputs"] = {"q": key, "k": key, "v": value, "log_alpha": ["B", "T", "Hv"]}
        result["steps"] = [{"decay": "log_alpha"}, {"inject": {"key": "k", "value": "v"}}, read]
    elif case.model == "mamba2":  # x, B, C under the names v, k, q
        result["inputs"] = {"q": key, "k": key, "v": value, "dt": ["B", "T", "Hv"], "A": ["Hv"]}
        result["let"] = {"log_alpha": "dt * A"}
        result["steps"] = [{"decay": "log_alpha"}, {"inject": {"key": "k", "value": "v", "scale": "dt"}}, {"read": {"query": "q"}}]
    else:
        result["family"] = case.model
        result["options"] = {"scale": READ_SCALE}
        if case.model == "prism":
            result["dims"]["L"] = case.ranks
    return result


def inputs(case, device, seed):
    """Argument name -> tensor: q and k of unit length, log-gates logsigmoid(randn) / 16, 0 in every fourth head."""
    import torch

    generator = torch.Generator(device=device).manual_seed(seed)
    rows = (case.sequences, case.steps)

    def randn(*axes):
        return torch.randn(*axes, generator=generator, device=device)

    def unit(*axes):
        return torch.nn.functional.normalize(randn(*axes), dim=-1).bfloat16()

    heads = torch.arange(case.value_heads, device=device)
    result = {"q": unit(*rows, case.key_heads, KEYS), "k": unit(*rows, case.key_heads, KEYS),
              "v": randn(*rows, case.value_heads, VALUES).bfloat16()}
    gate = torch.nn.functional.logsigmoid(randn(*rows, case.value_heads)) / 16
    if case.model in ("gated_deltanet", "simple_gla", "prism"):
        result["log_alpha"] = gate * (heads % 4 != 0)
    if case.model in ("gated_deltanet", "deltanet", "prism"):
        result["beta"] = torch.sigmoid(randn(*rows, case.value_heads))
    if case.model == "retnet":  # the decays of the paper, which the peer has built in
        result["log_gamma"] = torch.log1p(-torch.exp2(-5.0 - heads.double())).float()
    if case.model == "mamba2":
        result["dt"], result["A"] = -gate, -(heads % 4 != 0).float()
    if case.model == "prism" and case.ranks:
        result["u"] = randn(*rows, case.value_heads, VALUES).bfloat16()
        result["p"] = torch.sigmoid(randn(*rows, case.value_heads, case.ranks, VALUES)).bfloat16()
        result["c"] = unit(*rows, case.key_heads, case.ranks, KEYS)
        result["b"] = torch.sigmoid(randn(*rows, case.value_heads, case.ranks))
    return result


def results(case, device):
    """Output and final state, full of NaN: what a kernel forgets to write is seen."""
    import torch

    rows = (case.sequences, case.steps, case.value_heads, VALUES)
    state = (case.sequences, case.value_heads, KEYS, VALUES)
    return {"o": torch.full(rows, float("nan"), dtype=torch.bfloat16, device=device),
            "final_state": torch.full(state, float("nan"), dtype=torch.float32, device=device)}


def flops(case, chunk=64):
    """Of the dense chunk form, triangles counted in full, the inverse itself not counted.

    Read: Q K^T, its product with what was written, Q S. Write: K^T X. An erase adds
    K K^T, the product with the inverse, and K S. Each rank: two scores with an erase
    (one without), their products, and its write.
    """
    erases = case.model in ("gated_deltanet", "deltanet", "prism")
    products = 2 if erases else 1
    a_token = 2 * chunk * (KEYS + VALUES) * products + 2 * KEYS * VALUES * (1 + products)
    a_token += case.ranks * (2 * chunk * (KEYS + VALUES) * products + 2 * KEYS * VALUES)
    return a_token * case.steps * case.sequences * case.value_heads


def traffic(tensors):
    """Bytes, if every input is read once and every output written once."""
    return sum(x.numel() * x.element_size() for x in tensors)
