"""What the CPU suites measure: every family at a shape of practice, and its inputs.

The float64 recurrences and the arrays' roles are those of test/Integration, which
takes them from the papers; inputs here are milder, as those of a trained model are.
"""

import os
import sys
from dataclasses import dataclass, field

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "test", "Integration"))
import families  # noqa: E402


def log_sigmoid(x):
    return -np.logaddexp(0.0, -x)


def step_sizes(rng, shape):
    """What softplus makes 0.001 to 0.1 of, as Mamba starts."""
    return np.log(np.expm1(np.exp(rng.uniform(np.log(1e-3), np.log(0.1), shape))))


def rates(rng, shape):
    """Logarithms of 1 to 16 in turn along the keys of each element, or of heads."""
    count = shape[-2] if len(shape) > 2 else shape[-1]
    ramp = np.log(1 + np.arange(count) % 16)
    return np.broadcast_to(ramp[:, None] if len(shape) > 2 else ramp, shape).copy()


def poles(rng, shape):
    """Logits of a base whose 8th power is 0.9 to 0.999, as Griffin starts."""
    base = rng.uniform(0.9, 0.999, shape) ** 0.125
    return np.log(base / (1 - base))


DRAW = {**families.DRAW, "gate": lambda rng, shape: log_sigmoid(rng.standard_normal(shape)) / 16,
        "fraction": lambda rng, shape: np.exp(log_sigmoid(rng.standard_normal(shape))),
        "steps": step_sizes, "rates": rates, "poles": poles}
# Arrays drawn in another way than in the tests.
HOW = {"dt": "steps", "A_log": "rates", "Lambda": "poles"}


@dataclass
class Case:
    """One family at one shape; f32, one sequence."""

    label: str
    steps: int
    heads: int
    keys: int
    values: int
    dims: dict = field(default_factory=dict)
    key_heads: int = 0

    def __post_init__(self):
        found = next(f for f in families.FAMILIES if f.name == self.label and not f.variant and
                     all(f.dims.get(name) == size for name, size in self.dims.items() if name == "L"))
        arrays = {name: (where, HOW.get(name, how), features) for name, (where, how, features) in found.arrays.items()}
        dims = {"Hk": self.key_heads or self.heads, "Hv": self.heads, "K": self.keys, "V": self.values, **self.dims}
        self.family = families.Family(found.name, found.loop, arrays, dims=dims, states=found.states, table=DRAW)

    @property
    def name(self):
        extra = "".join(f" {name}={size}" for name, size in self.dims.items())
        return f"{self.label}{extra} {self.keys}x{self.values}"

    @property
    def shape(self):
        heads = f"{self.key_heads},{self.heads}" if self.key_heads else f"{self.heads}"
        return f"T {self.steps} H {heads}"

    def spec(self):
        spec = self.family.spec("f32", entries=["forward"], target=["cpu"])
        return {**spec, "name": "model", "dims": {"B": 1, "T": self.steps, **spec["dims"]}}

    def inputs(self, seed):
        arrays = self.family.draw(np.random.default_rng(seed), 1, self.steps)
        return {name: np.ascontiguousarray(array, np.float32) for name, array in arrays.items()}

    def reference(self, inputs):
        """o and the final states in float64, step by step."""
        with np.errstate(all="ignore"):
            return self.family.reference({name: array.astype(np.float64) for name, array in inputs.items()})


DIAGONAL = ("hgrn", "mingru", "rg_lru", "first_order")
MATRIX = ("linear_attention", "retnet", "gla", "deltanet", "gated_deltanet", "gated_deltanet2", "kda", "rwkv7", "mlstm", "gated_rfa")


def all_cases(steps=2048, heads=4, size=64, wide=128, channels=512, elements=1536):
    cases = [Case(name, steps, heads, size, size) for name in MATRIX]
    cases.append(Case("gated_deltaproduct", steps, heads, size, size, {"M": 2}))
    cases.append(Case("mamba2", steps, heads, size, size, key_heads=1))
    cases.append(Case("mamba", steps, 1, 16, elements))
    cases += [Case(name, steps, heads, 1, channels) for name in DIAGONAL]
    cases += [Case("prism", steps, heads, size, size, {"L": ranks}) for ranks in (0, 1, 2, 4)]
    cases.append(Case("gated_deltanet", steps, heads, wide, wide))
    return cases + [Case("prism", steps, heads, wide, wide, {"L": ranks}) for ranks in (0, 1, 2, 4)]


def small_cases():
    """For --dry-run."""
    return all_cases(steps=128, heads=2, size=16, wide=24, channels=40, elements=24)


def one_case():
    """For cpu-gated-deltanet."""
    return [Case("gated_deltanet", 4096, 4, 64, 64)]
