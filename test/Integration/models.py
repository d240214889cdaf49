"""Specs of the models that the integration tests run, in the general form.

Every model is written out step by step, not by its family's name, so that the
tests do not lean on the presets they are meant to check.
"""

TOKEN = ["B", "T"]


def base(name, dtype, K, V, Hk=1, Hv=2, extra_dims=None):
    dims = {"B": None, "T": None, "Hk": Hk, "Hv": Hv, "K": K, "V": V}
    dims.update(extra_dims or {})
    return {
        "prism_spec": 1,
        "name": name,
        "dims": dims,
        "dtype": {"io": dtype},
        "inputs": {"q": TOKEN + ["Hk", "K"], "k": TOKEN + ["Hk", "K"], "v": TOKEN + ["Hv", "V"]},
        "entries": ["forward"],
    }


def gate(spec, name="log_alpha", axes=None):
    spec["inputs"][name] = axes or TOKEN + ["Hv"]


def linear_attention(dtype, K, V):
    spec = base("linear_attention", dtype, K, V)
    spec["steps"] = [{"inject": {"key": "k", "value": "v"}}, {"read": {"query": "q"}}]
    return spec


def retnet(dtype, K, V):
    spec = base("retnet", dtype, K, V)
    gate(spec, "log_gamma", ["Hv"])
    spec["steps"] = [{"decay": "log_gamma"}, {"inject": {"key": "k", "value": "v"}}, {"read": {"query": "q", "scale": 0.5}}]
    return spec


def gated_deltanet(dtype, K, V):
    spec = base("gated_deltanet", dtype, K, V)
    gate(spec)
    spec["inputs"]["beta"] = TOKEN + ["Hv"]
    spec["steps"] = [
        {"decay": "log_alpha"},
        {"erase": {"key": "k", "strength": "beta"}},
        {"inject": {"key": "k", "value": "v", "scale": "beta"}},
        {"read": {"query": "q"}},
    ]
    return spec


def prism(dtype, K, V, L):
    spec = gated_deltanet(dtype, K, V)
    spec["name"] = f"prism_l{L}"
    if L == 0:
        return spec
    spec["dims"]["L"] = L
    spec["inputs"].update({"u": TOKEN + ["Hv", "V"], "p": TOKEN + ["Hv", "L", "V"], "c": TOKEN + ["Hv", "L", "K"],
                           "b": TOKEN + ["Hv", "L"]})
    refined = {"inject": {"key": "c", "scale": "b",
                          "refine": {"anchor": "u", "value": "v", "gain": "p", "activation": "gelu"}}}
    spec["steps"].insert(3, refined)
    return spec


def nameless(dtype, K, V):
    """Two erases with different keys, a scalar decay between them, two injections, read before the update."""
    spec = base("nameless", dtype, K, V)
    gate(spec)
    spec["inputs"].update({"a": TOKEN + ["Hk", "K"], "w": TOKEN + ["Hv", "V"], "beta": TOKEN + ["Hv"],
                           "eta": TOKEN + ["Hv"]})
    spec["steps"] = [
        {"read": {"query": "q"}},
        {"erase": {"key": "k", "strength": "beta"}},
        {"decay": "log_alpha"},
        {"erase": {"key": "a", "strength": "eta"}},
        {"inject": {"key": "k", "value": "v", "scale": "eta"}},
        {"inject": {"key": "a", "value": "w", "scale": "beta"}},
    ]
    return spec


def gla(dtype, K, V):
    """A decay per key and an injection."""
    spec = base("gla", dtype, K, V)
    gate(spec, "g", TOKEN + ["Hv", "K"])
    spec["steps"] = [{"decay": {"gate": "g", "along": "key"}}, {"inject": {"key": "k", "value": "v"}},
                     {"read": {"query": "q", "scale": 0.5}}]
    return spec


def kda(dtype, K, V):
    """A decay per key, then the delta rule."""
    spec = gated_deltanet(dtype, K, V)
    spec["name"] = "kda"
    gate(spec, "log_alpha", TOKEN + ["Hv", "K"])
    spec["steps"][0] = {"decay": {"gate": "log_alpha", "along": "key"}}
    return spec


def dplr(dtype, K, V):
    """A decay per key and an erase that reads the state before it, along one key, and writes along another."""
    spec = base("dplr", dtype, K, V)
    gate(spec, "w", TOKEN + ["Hv", "K"])
    spec["inputs"].update({"a": TOKEN + ["Hv", "K"], "b": TOKEN + ["Hv", "K"], "eta": TOKEN + ["Hv"]})
    spec["steps"] = [{"decay": {"gate": "w", "along": "key"}},
                     {"erase": {"read": "a", "write": "b", "strength": "eta", "of": "previous"}},
                     {"inject": {"key": "k", "value": "v"}}, {"read": {"query": "q"}}]
    return spec


def many_gates(dtype, K, V):
    """Decays per key and of the whole state, before, between and after erases with free keys, and a read before all."""
    spec = nameless(dtype, K, V)
    spec["name"] = "many_gates"
    gate(spec, "g", TOKEN + ["Hv", "K"])
    gate(spec, "gates", TOKEN + ["Hk", "K"])
    spec["steps"].insert(1, {"decay": {"gate": "g", "along": "key"}})
    spec["steps"].append({"decay": {"gate": "gates", "along": "key"}})
    spec["steps"].insert(5, {"erase": {"read": "a", "write": "k", "strength": "eta"}})
    return spec


def s6(dtype, K, V):
    """A decay per element, made of a gate per value column and a parameter per element."""
    spec = base("s6", dtype, K, V)
    spec["inputs"].update({"dt": TOKEN + ["Hv", "V"], "a": ["Hv", "K", "V"]})
    spec["let"] = {"step": "softplus(dt)", "gate": "-exp(0.5 * a) * step", "value": "step * v"}
    spec["steps"] = [{"decay": "gate"}, {"inject": {"key": "k", "value": "value"}}, {"read": {"query": "q"}}]
    return spec


def elementwise(dtype, K, V):
    """A state of one row, whatever K: no keys, a decay per value column."""
    spec = base("elementwise", dtype, 1, V)
    spec["inputs"] = {"v": TOKEN + ["Hv", "V"], "log_a": TOKEN + ["Hv", "V"]}
    spec["steps"] = [{"decay": "log_a"}, {"inject": {"value": "v"}}, {"read": {"scale": 0.5}}]
    return spec


def micro_steps(dtype, K, V):
    """Two delta rules a token, one after the other."""
    spec = gated_deltanet(dtype, K, V)
    spec["name"] = "micro_steps"
    spec["dims"]["M"] = 2
    spec["inputs"].update({"k": TOKEN + ["Hk", "M", "K"], "v": TOKEN + ["Hv", "M", "V"], "beta": TOKEN + ["Hv", "M"]})
    spec["steps"] = [spec["steps"][0], {"repeat": {"axis": "M", "steps": spec["steps"][1:3]}}, spec["steps"][3]]
    return spec


def channel_gates(dtype, K, V):
    """The strengths of the delta rule are vectors: of the erase per key, of the write per value column."""
    spec = kda(dtype, K, V)
    spec["name"] = "channel_gates"
    del spec["inputs"]["beta"]
    spec["inputs"].update({"e": TOKEN + ["Hv", "K"], "w": TOKEN + ["Hv", "V"]})
    spec["let"] = {"read": "e * k", "value": "w * v"}
    spec["steps"][1:3] = [{"erase": {"read": "read", "write": "k", "strength": 1}}, {"inject": {"key": "k", "value": "value"}}]
    return spec


def three_states(dtype, K, V):
    """A state, the sum of its keys, and the number by whose exp both are divided."""
    spec = base("three_states", dtype, K, V)
    spec["inputs"].update({"i": TOKEN + ["Hv"], "f": TOKEN + ["Hv"]})
    spec["states"] = {"C": ["K", "V"], "n": ["K"], "m": []}
    spec["let"] = {"next": "max(logsigmoid(f) + m, i)", "keep": "logsigmoid(f) + m - next", "write": "exp(i - next)"}
    spec["steps"] = [{"decay": "keep"}, {"inject": {"key": "k", "value": "v", "scale": "write"}},
                     {"decay": {"gate": "keep", "state": "n"}}, {"inject": {"key": "k", "scale": "write", "state": "n"}},
                     {"set": {"state": "m", "value": "next"}}, {"read": {"query": "q", "output": "num"}},
                     {"read": {"query": "q", "state": "n", "output": "den"}}]
    spec["outputs"] = {"o": "num / max(abs(den), exp(-next))"}
    return spec


def two_states(dtype, K, V):
    """A state and the sum of its keys, by which what is read is divided: the same gate, keys and queries."""
    spec = base("two_states", dtype, K, V)
    gate(spec)
    spec["states"] = {"S": ["K", "V"], "z": ["K"]}
    spec["let"] = {"write": "1 - exp(log_alpha)"}
    spec["steps"] = [{"decay": "log_alpha"}, {"inject": {"key": "k", "value": "v", "scale": "write"}},
                     {"decay": {"gate": "log_alpha", "state": "z"}},
                     {"inject": {"key": "k", "scale": "write", "state": "z"}}, {"read": {"query": "q", "output": "num"}},
                     {"read": {"query": "q", "state": "z", "output": "den"}}]
    spec["outputs"] = {"o": "num / (0.5 + den)"}
    return spec


def unlike_states(dtype, K, V):
    """States of different kinds: a delta rule, a decay per key, a row without keys."""
    spec = gated_deltanet(dtype, K, V)
    spec["name"] = "unlike_states"
    gate(spec, "w", TOKEN + ["Hv", "K"])
    gate(spec, "g")
    spec["states"] = {"S": ["K", "V"], "R": ["K", "V"], "h": ["V"]}
    spec["steps"][3:] = [{"read": {"query": "q", "output": "a"}},
                         {"decay": {"gate": "w", "state": "R"}}, {"read": {"query": "q", "state": "R", "output": "b"}},
                         {"inject": {"key": "k", "value": "v", "state": "R"}},
                         {"decay": {"gate": "g", "state": "h"}}, {"inject": {"value": "v", "state": "h"}},
                         {"read": {"scale": 0.5, "state": "h", "output": "c"}}]
    spec["outputs"] = {"o": "a + tanh(b) - c", "o2": "l2norm(a - b, 0.01)"}
    return spec


def computed_output(dtype, K, V):
    """One state; the output is a gate times the norm of what is read before and after the update."""
    spec = gated_deltanet(dtype, K, V)
    spec["name"] = "computed_output"
    spec["inputs"]["w"] = TOKEN + ["Hv", "V"]
    spec["steps"] = [{"read": {"query": "q", "output": "before"}}, *spec["steps"][:3], {"read": {"query": "q", "output": "after"}}]
    spec["outputs"] = {"o": "silu(w) * l2norm(after - 0.5 * before, 0.01)"}
    return spec


MODELS = {
    "linear_attention": linear_attention,
    "retnet": retnet,
    "gated_deltanet": gated_deltanet,
    "prism_l0": lambda *a: prism(*a, 0),
    "prism_l1": lambda *a: prism(*a, 1),
    "prism_l2": lambda *a: prism(*a, 2),
    "prism_l4": lambda *a: prism(*a, 4),
    "nameless": nameless,
    "gla": gla,
    "kda": kda,
    "dplr": dplr,
    "many_gates": many_gates,
    "s6": s6,
    "elementwise": elementwise,
    "micro_steps": micro_steps,
    "channel_gates": channel_gates,
    "three_states": three_states,
    "two_states": two_states,
    "unlike_states": unlike_states,
    "computed_output": computed_output,
}
GATED = {"gated_deltanet", "prism_l0", "prism_l1", "prism_l2", "prism_l4", "nameless", "retnet", "gla", "kda",
         "dplr", "many_gates", "elementwise", "micro_steps", "channel_gates", "two_states", "unlike_states", "computed_output"}
# Without chunk form: stepped on every path.
STEPPED = {"s6", "elementwise"}
# Of several states: sequences are not split, and a GPU has no room for a chunk of large ones.
SEVERAL = {"three_states", "two_states", "unlike_states"}
