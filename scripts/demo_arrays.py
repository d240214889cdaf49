#!/usr/bin/env python3
"""Sample arrays for a bundle's forward entry, and an independent check of PRISM.

usage: demo_arrays.py make  BUNDLE FOLDER [--batch N] [--steps N]
       demo_arrays.py check BUNDLE FOLDER

`make` writes FOLDER/NAME.npy for every input of the entry and prints the arguments
that prism-run wants. `check` reads these and FOLDER/o.npy, FOLDER/final_state.npy and
compares them with the recurrence of examples/prism_l2.json in float64, written
down below as the paper does; exits with 1 if they differ.
"""

import argparse
import json
import math
import os
import sys

import numpy as np

LIMITS = {"f32": 1e-5, "f64": 1e-12, "bf16": 0.005, "f16": 0.002}
erf = np.vectorize(math.erf)


def arguments_of(bundle):
    with open(os.path.join(bundle, "manifest.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    entry = next(e for e in manifest["entries"] if e["name"] == "forward")
    return manifest, {a["name"]: a for a in entry["arguments"]}


def encode(values, dtype):
    if dtype == "bf16": # .npy has no bf16; its 16 bits travel as uint16
        bits = values.astype(np.float32).view(np.uint32)
        return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return values.astype({"f16": np.float16, "f32": np.float32, "f64": np.float64}[dtype])


def decode(array, dtype):
    if dtype == "bf16":
        array = (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float64)


def make(options):
    _, arguments = arguments_of(options.bundle)
    random = np.random.default_rng(7)
    os.makedirs(options.folder, exist_ok=True)
    words = []
    for name, argument in arguments.items():
        if argument["role"] != "input":
            continue
        extents = {"B": options.batch, "T": options.steps, "N": options.batch}
        shape = [extents.get(extent, extent) for extent in argument["shape"]]
        values = random.standard_normal(shape)
        if name.startswith("log_"): # a log-gate: mild decay
            values = -np.log1p(np.exp(-values)) / 16
        elif name in ("b", "beta"): # a strength in (0, 1)
            values = 1 / (1 + np.exp(-values))
        elif argument["axes"].endswith("k"): # unit keys and queries
            values /= np.linalg.norm(values, axis=-1, keepdims=True)
        path = os.path.join(options.folder, f"{name}.npy")
        np.save(path, encode(values, argument["dtype"]))
        words += ["--in", f"{name}={path}"]
    print(" ".join(words))
    return 0


def refine(anchor, value, gain):
    """delta_l = gelu(gain_l r_l), r_1 = value - anchor, r_(l+1) = r_l - delta_l."""
    rest, deltas = value - anchor, []
    for l in range(gain.shape[-2]):
        x = gain[..., l, :] * rest
        deltas.append(0.5 * x * (1 + erf(x / math.sqrt(2))))
        rest = rest - deltas[-1]
    return np.stack(deltas, -2)


def recurrence(x, scale):
    """Outputs [B, T, H, V] and final states [B, H, K, V]."""
    batch, steps, heads, keys = x["q"].shape
    state = np.zeros((batch, heads, keys, x["v"].shape[-1]))
    o = np.empty_like(x["v"])
    delta = refine(x["u"], x["v"], x["p"])
    for t in range(steps):
        k, v, strength = x["k"][:, t], x["v"][:, t], x["beta"][:, t, :, None]
        state = np.exp(x["log_alpha"][:, t])[..., None, None] * state
        erased = np.einsum("bhk,bhkv->bhv", k, state)
        state = state + np.einsum("bhk,bhv->bhkv", k, strength * (v - erased))
        state = state + np.einsum("bhl,bhlk,bhlv->bhkv", x["b"][:, t], x["c"][:, t], delta[:, t])
        o[:, t] = scale * np.einsum("bhk,bhkv->bhv", x["q"][:, t], state)
    return o, state


def read_scale(spec):
    """The read's scale, in the shorthand as in the ordered list of steps."""
    reads = [spec["read"]] if "read" in spec else [step["read"] for step in spec["steps"] if "read" in step]
    return reads[0].get("scale", 1.0)


def check(options):
    manifest, arguments = arguments_of(options.bundle)
    load = lambda name: decode(np.load(os.path.join(options.folder, f"{name}.npy")), arguments[name]["dtype"])  # noqa: E731
    inputs = {name: load(name) for name, a in arguments.items() if a["role"] == "input"}
    scale = read_scale(manifest["spec"])
    wrong = 0
    for name, want in zip(("o", "final_state"), recurrence(inputs, scale)):
        error = math.sqrt(np.sum((load(name) - want) ** 2) / np.sum(want**2))
        limit = LIMITS[arguments["o"]["dtype"]]
        right = error <= limit # false for NaN too
        wrong += not right
        print(f"{name:<12} {str(want.shape):<20} RMS ratio to float64 {error:.1e}, limit {limit}: "
              f"{'right' if right else 'WRONG'}")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("make", "check"):
        command = commands.add_parser(name)
        command.add_argument("bundle")
        command.add_argument("folder")
        command.add_argument("--batch", type=int, default=2)
        command.add_argument("--steps", type=int, default=300)
    options = parser.parse_args()
    return make(options) if options.command == "make" else check(options)


if __name__ == "__main__":
    sys.exit(main())
