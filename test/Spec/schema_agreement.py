#!/usr/bin/env python3
"""The reader's structural stage accepts exactly what the published schema does.

usage: schema_agreement.py --tool PRISM-SPEC-CHECK [--count 10000] [--seed 1] [SPEC.json ...]

Mutates specs (seeded), asks python3-jsonschema and the reader about each, and
names the first disagreements. Also checks that the published schema is the
reader's own table, that the schema is valid, that one message comes per wrong
spec, and that both verdicts occur often enough for the test to mean something.
"""
import argparse
import collections
import copy
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "docs/schema/prism-spec-1.schema.json"
SEEDS = sorted((ROOT / "examples").glob("*.json")) + sorted((ROOT / "test/Spec/Inputs").glob("*.json"))

KEYS = """prism_spec name description family variant options dims dtype inputs let steps transition inject
read entries target reverse batch_invariant matmul layout plan serial granularity psm $schema decay erase repeat axis gate
along key write strength of value scale refine anchor gain activation query when output axes schedule chunk
value_block stages segments prepare_blocks forward decode backward io state B T H Hk Hv K V L R N l2norm mini_batch add from entry dim inputz Key short_convolution weight bias
x 1x a-b é""".split() + ["", "a b"]
VALUES = [None, True, False, 0, 1, 2, 8, -1, 1.0, 2.0, 0.5, -0.0, 1e-6, 1024, 1025, 1048576, 1048577, 1e18, 1e300,
          "", "x", "q", "f32", "f64", "bf16", "f16", "F32", "forward", "decode", "cpu", "chunk", "recurrent", "gelu",
          "scalar", "key", "before", "after", "previous", "entry", "token", "ieee", "head_first", "B", "T", "H", "K", "V", "L", "9", "a-b",
          "é", "K ", [], {}, [[]], [{}], ["q"], ["B", "T", "H", "K"], ["b"], [1], {"axes": ["B"]}, {"axes": []},
          {"axes": ["B"], "dtype": "f32"}, {"query": "q"}, {"decay": "g"}, {"read": {"query": "q"}},
          {"schedule": "chunk"}, {"gate": "g"}, {"key": "k", "value": "v"}, {"mini_batch": 4}, {"mini_batch": 257}, {"entry": "M"}, {"add": {"from": "M"}},
          {"anchor": "u", "value": "v", "gain": "p"}, ["K"] * 6, [{"read": {"query": "q"}}] * 65,
          {f"D{i}": 1 for i in range(30)}, {f"x{i}": ["B"] for i in range(65)}, {"x": "1"}]


def places(node, path=()):
    """Paths of all values below `node`."""
    yield path
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in children:
        yield from places(child, path + (key,))


def at(node, path):
    for key in path:
        node = node[key]
    return node


def mutate(rng, spec, pool):
    """One random change of `spec`, in place; returns the new root."""
    path = rng.choice(list(places(spec)))
    node = at(spec, path)
    value = copy.deepcopy(rng.choice(pool if rng.random() < 0.3 else VALUES))
    if isinstance(node, dict) and rng.random() < 0.8:
        action = rng.randrange(4)
        if action == 0 or not node:
            node[rng.choice(KEYS)] = value
        elif action == 1:
            del node[rng.choice(list(node))]
        elif action == 2:  # another name, same value
            old = rng.choice(list(node))
            node[rng.choice(KEYS)] = node.pop(old)
        else:
            node[rng.choice(list(node))] = value
    elif isinstance(node, list) and rng.random() < 0.8:
        if node and rng.random() < 0.5:
            del node[rng.randrange(len(node))]
        else:
            node.insert(rng.randint(0, len(node)), copy.deepcopy(rng.choice(node)) if node and rng.random() < 0.4 else value)
    elif path:
        at(spec, path[:-1])[path[-1]] = value
    elif rng.random() < 0.05:
        return value
    return spec


def verdicts(tool, specs):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.write("".join(json.dumps(s, ensure_ascii=rng_free(i)) + "\n" for i, s in enumerate(specs)))
        file.flush()
        out = subprocess.run([tool, "--verdicts", file.name], check=True, capture_output=True, text=True).stdout
    return out.splitlines()


def rng_free(i):
    """Every other spec is written with \\u escapes."""
    return i % 2 == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("specs", nargs="*")
    args = parser.parse_args()

    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    own = subprocess.run([args.tool, "--schema"], check=True, capture_output=True, text=True).stdout
    if own != SCHEMA.read_text():
        sys.exit(f"{SCHEMA} is not what {args.tool} --schema prints; write it anew")

    validator = jsonschema.Draft202012Validator(schema)
    seeds = [json.loads(pathlib.Path(f).read_text()) for f in (args.specs or SEEDS)]
    pool = [copy.deepcopy(at(s, p)) for s in seeds for p in places(s) if p]
    rng = random.Random(args.seed)
    specs = [copy.deepcopy(s) for s in seeds]
    while len(specs) < args.count:
        spec = copy.deepcopy(rng.choice(seeds))
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            spec = mutate(rng, spec, pool)
        specs.append(spec)

    lines = verdicts(args.tool, specs)
    if len(lines) != len(specs):
        sys.exit(f"{len(specs)} specs, {len(lines)} lines: not exactly one message per spec")
    counts, wrong = collections.Counter(), 0
    for spec, line in zip(specs, lines):
        stage = line.split(" ", 1)[0]
        admitted = validator.is_valid(spec)
        counts["schema " + ("accepts" if admitted else "refuses")] += 1
        counts["reader: " + stage] += 1
        if stage not in ("ok", "structure", "meaning") or admitted != (stage != "structure"):
            wrong += 1
            if wrong <= 5:
                print(f"schema {'accepts' if admitted else 'refuses'}, reader: {line}\n  {json.dumps(spec)[:600]}")
    print(f"{len(specs)} specs (seed {args.seed}), {wrong} disagreements;", dict(counts))
    if wrong:
        sys.exit(1)
    if min(counts["schema accepts"], counts["schema refuses"], counts["reader: ok"]) < len(specs) // 20:
        sys.exit("the mutations are too one-sided to show anything")


if __name__ == "__main__":
    main()
