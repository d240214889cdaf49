"""Mutated .mlir, .json, .npy and manifest files: a message and exit code 1, never a crash, nothing half-written.

Bytes are flipped, dropped, doubled and replaced, lines swapped, numbers changed
(seeded). An input that a mutation left valid must still work.
"""

import os
import random
import re
import shutil

import numpy as np

import models
import tools

TOKENS = [b"0", b"-1", b"99999999999999999999", b"{", b"}", b"[", b"]", b'"', b"null", b"tensor<?x?xf32>", b"nan",
          b"\xff\xfe", b"", b"scan.", b"%", b"1e400", b"true"]


def mutate(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        if not data:
            break
        at = rng.randrange(len(data))
        kind = rng.randrange(6)
        if kind == 0:
            data[at] = rng.randrange(256)
        elif kind == 1:
            del data[at:at + rng.randrange(1, 40)]
        elif kind == 2:
            data[at:at] = data[at:at + rng.randrange(1, 60)]
        elif kind == 3:
            data[at:at + rng.randrange(1, 8)] = rng.choice(TOKENS)
        elif kind == 4:
            numbers = list(re.finditer(rb"\d+", bytes(data)))
            if numbers:
                m = rng.choice(numbers)
                data[m.start():m.end()] = str(rng.choice([0, 1, 2, 3, 65, 1 << 31, 1 << 63])).encode()
        else:
            data = data[:at]
    return bytes(data)


class Mutator:
    def __init__(self, kit, examples):
        self.kit = kit
        self.specs = [open(os.path.join(examples, f), "rb").read() for f in sorted(os.listdir(examples)) if f.endswith(".json")]
        path = kit.write_json("seed.json", models.gated_deltanet("f32", 5, 3))
        self.mlir = kit.run("prism-compile", path, "--emit=scan").stdout.encode()
        assert b"scan.recurrence" in self.mlir
        self.bundle = os.path.join(kit.scratch, "seed.bundle")
        result = kit.run("prism-compile", path, "-o", self.bundle, "--target", "cpu:x86-64-v3")
        assert result.returncode == 0, result.stderr
        result = kit.run("prism-compile", path, "--sample", os.path.join(kit.scratch, "sample"), "--shape", "B=1,T=4")
        assert result.returncode == 0, result.stderr

    def verdict(self, result, outputs):
        if result.returncode not in (0, 1):
            return False, f"exit code {result.returncode}\n{result.stderr[-2000:]}"
        if result.returncode == 1 and not result.stderr.strip():
            return False, "failed without a message"
        if result.returncode == 1 and any(os.path.exists(path) for path in outputs):
            return False, "failed and left an output behind"
        return True, ""

    def nothing_left(self):
        """After all runs: while others write, their temporary files are there."""
        leftovers = [f for f in os.listdir(self.kit.scratch) if f.endswith((".tmp", ".old"))]
        return (not leftovers), f"left {leftovers}"

    def write(self, name, data):
        path = os.path.join(self.kit.scratch, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def json(self, n):
        rng = random.Random(f"json{n}")
        path = self.write(f"m{n}.json", mutate(rng.choice(self.specs), rng))
        return self.verdict(self.kit.run("prism-compile", path, "--emit=plan", "--target", "cpu"), [])

    def mlir_text(self, n):
        rng = random.Random(f"mlir{n}")
        path = self.write(f"m{n}.mlir", mutate(self.mlir, rng))
        out = path + ".out"
        return self.verdict(self.kit.run("prism-compile", path, "--emit=tile", "-o", out), [out])

    def run_call(self, bundle, sample, n):
        arguments = [bundle, "forward"]
        for name in ("q", "k", "v", "log_alpha", "beta", "initial_state"):
            arguments += ["--in", f"{name}={sample}/{name}.npy"]
        out = os.path.join(self.kit.scratch, f"out{n}.npy")
        result = self.kit.run("prism-run", *arguments, "--out", f"o={out}")
        good, why = self.verdict(result, [out])
        if good and result.returncode == 0:
            np.load(out)
            os.remove(out)
        return good, why

    def npy(self, n):
        rng = random.Random(f"npy{n}")
        sample = os.path.join(self.kit.scratch, f"sample{n}")
        shutil.copytree(os.path.join(self.kit.scratch, "sample"), sample)
        path = os.path.join(sample, rng.choice(["q", "beta", "initial_state"]) + ".npy")
        data = open(path, "rb").read()
        cut = rng.choice([128, len(data)])  # mostly the header
        with open(path, "wb") as file:
            file.write(mutate(data[:cut], rng) + data[cut:])
        result = self.run_call(self.bundle, sample, f"n{n}")
        shutil.rmtree(sample)
        return result

    def manifest(self, n):
        rng = random.Random(f"manifest{n}")
        bundle = os.path.join(self.kit.scratch, f"bundle{n}")
        shutil.copytree(self.bundle, bundle)
        path = os.path.join(bundle, "manifest.json")
        text = open(path, "rb").read()
        # Sizes of code and symbols are trusted, as the code itself is: mutate the description of arrays.
        begin, end = text.index(b'"arguments"'), text.index(b'"kernels"')
        changed = mutate(text[begin:end], rng)
        with open(path, "wb") as file:
            file.write(text[:begin] + changed + text[end:] if rng.random() < 0.8 else mutate(text, rng)[: rng.randrange(len(text))])
        result = self.kit.run("prism-run", bundle, "--list")
        shutil.rmtree(bundle)
        return self.verdict(result, [])


def main():
    parser = tools.parser(__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000, help="mutations in all, over the four kinds")
    parser.add_argument("--examples", required=True, help="folder with example specs")
    arguments = parser.parse_args()
    mutator = Mutator(tools.Tools(arguments.bin), arguments.examples)
    kinds = [mutator.json, mutator.mlir_text, mutator.npy, mutator.manifest]
    tests = [(f"{kinds[n % 4].__name__} {n}", lambda n=n: kinds[n % 4](n)) for n in range(arguments.count)]
    status = tools.run_all(arguments.jobs, tests, arguments.count)
    clean, why = mutator.nothing_left()
    if not clean:
        print(f"FAILED: {why}")
    return status if clean else 1


if __name__ == "__main__":
    tools.main(main)
