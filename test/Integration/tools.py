"""Runs prism-compile and prism-run for the integration tests."""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time


def limit_memory():
    limit = 8 << 30
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


class Tools:
    def __init__(self, bin_dir, device="cpu", limit=True):
        self.bin = bin_dir
        self.device = device
        # The CUDA driver and the sanitizers reserve far more address space than they use.
        self.limit = limit and device == "cpu" and "ASAN_OPTIONS" not in os.environ
        self.scratch = tempfile.mkdtemp(prefix="prism-test-")

    def run(self, tool, *arguments, timeout=300):
        return subprocess.run([os.path.join(self.bin, tool), *arguments], capture_output=True, text=True, errors="replace",
                              timeout=timeout, preexec_fn=limit_memory if self.limit else None)

    def write_json(self, name, value):
        path = os.path.join(self.scratch, name)
        with open(path, "w") as file:
            json.dump(value, file)
        return path

    def check(self, spec, name, schedule=None, chunk=None, shape="B=1,T=65", gates="mild", seed=1, target="cpu",
              extra=(), segments=None):
        """prism-compile --check; returns (passed, output)."""
        arguments = [self.write_json(name + ".json", spec), "--check", "--shape", shape, "--gates", gates,
                     "--seed", str(seed), "--target", target, "--device", self.device, *extra]
        if schedule:
            plan = {"schedule": schedule}
            if chunk:
                plan["chunk"] = chunk
            if segments:
                plan["segments"] = segments
            arguments += ["--plan", self.write_json(name + ".plan.json", plan)]
        result = self.run("prism-compile", *arguments)
        return result.returncode == 0, result.stdout + result.stderr


def parser(description):
    p = argparse.ArgumentParser(description=description)
    p.add_argument("--bin", required=True, help="folder with prism-compile and prism-run")
    p.add_argument("--device", default="cpu", help="cpu or cuda:0")
    p.add_argument("--target", default=None, help="target of the compiled kernels (default: by device)")
    p.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    return p


class Tally:
    """Counts results, shows progress, and closes with one line that says how many passed."""

    def __init__(self, total):
        self.total, self.passed, self.failures, self.start = total, 0, [], time.time()

    def add(self, name, passed, output):
        if passed:
            self.passed += 1
        else:
            self.failures.append(name)
            print(f"FAILED {name}\n{output}", flush=True)
        done = self.passed + len(self.failures)
        if done % 25 == 0:
            print(f"  {done} of {self.total} in {time.time() - self.start:.0f} s", flush=True)

    def close(self):
        print(f"{self.passed} passed, {len(self.failures)} failed")
        if self.passed + len(self.failures) != self.total or self.total == 0:
            print("not every test ran")
            return 1
        return 1 if self.failures else 0


def run_all(jobs, tests, count):
    """tests: list of (name, function returning (passed, output))."""
    from concurrent.futures import ThreadPoolExecutor

    tally = Tally(len(tests))
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        for (name, _), future in [(t, pool.submit(t[1])) for t in tests]:
            try:
                passed, output = future.result()
            except Exception as error:  # a crash or time-out is a failed test, not a lost one
                passed, output = False, repr(error)
            tally.add(name, passed, output)
    return tally.close()


def main(function):
    sys.exit(function())
