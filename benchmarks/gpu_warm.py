#!/usr/bin/env python3
"""Compiles the peers' Triton kernels into Triton's cache, measuring none: run.py starts several of these at once.

usage: gpu_warm.py [PART/CASE...]   (names as the suite prints them; PART: 0, 1, ... below PARTS)

The peers' tuners compile hundreds of configurations one after the other, which
takes longer than all the measurements; the suite then finds them in the cache.
"""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PARTS = 3  # processes that share the configurations of one case
NO_TRITON = {"flashinfer": "its compiler keeps nothing for other processes", "flash_qla": "another compiler's"}


def warm(cases, jobs):
    """Runs this program over the cases in up to that many processes; a failure is seen later, in the suite itself."""
    work = [(case.name, part) for case in distinct(cases) for part in range(PARTS)]
    groups = [work[i::jobs] for i in range(jobs)]
    environment = dict(os.environ, FLA_CACHE_RESULTS="0")  # nothing is measured, so no choice may be kept
    running = [subprocess.Popen([sys.executable, os.path.abspath(__file__), *(f"{part}/{name}" for name, part in group)],
                                env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
               for group in groups if group]
    for process in running:
        process.wait()


def distinct(cases):
    """Kernels differ by model, heads and number of sequences; the length is an argument of theirs."""
    return list({(c.model, c.sequences, c.key_heads, c.value_heads, c.ranks, c.keys, c.values, c.inside): c for c in cases}.values())


def main():
    import torch

    import gpu_cases
    import gpu_peers

    cases = gpu_cases.by_name()
    for item in sys.argv[1:]:
        part, name = item.split("/", 1)
        gpu_peers.limit_tuning(compile_only=(int(part), PARTS))
        x = gpu_cases.inputs(cases[name], "cuda", 0)
        with torch.no_grad():
            for run in gpu_peers.peers(cases[name], x, dict(NO_TRITON)).values():
                run()
        torch.cuda.synchronize()
        del x, run


if __name__ == "__main__":
    main()
