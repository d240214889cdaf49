#!/usr/bin/env python3
"""Starts kernels in a process of their own before they are timed: one that faults or never ends costs its case only.

usage: gpu_probe.py FOLDER ALL CASE...   (bundles; 1 for all kernels of each; names as the suite prints them)

A kernel that faults takes the whole CUDA context with it, and one that waits for
ever cannot be stopped in its process. The child prints a case's name when its kernels have ended.
"""

import os
import select
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
START_SECONDS, CASE_SECONDS = 90, 10


def broken_cases(cases, folder, every):
    """Case name -> a sentence, for those whose kernels do not end well."""
    broken, left = {}, [case.name for case in cases]
    while left:
        command = [sys.executable, os.path.abspath(__file__), folder, str(int(every)), *left]
        child = subprocess.Popen(command, bufsize=0, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if read_line(child, START_SECONDS) != "ready":
            child.kill()
            sentence = f"FAILED: the process that tries kernels did not start: {last_line(child)}"
            return {**broken, **dict.fromkeys(left, sentence)}
        while left:
            line = read_line(child, CASE_SECONDS)
            if line != left[0]:
                child.kill()
                broken[left[0]] = f"FAILED: {last_line(child)}" if line == "" else f"FAILED: does not end within {CASE_SECONDS} s"
                left.pop(0)
                break
            left.pop(0)
        child.kill()
        child.wait()
    return broken


def read_line(child, seconds):
    """The next line; empty at the end of the output; None if none comes in time."""
    ready, _, _ = select.select([child.stdout], [], [], seconds)
    return child.stdout.readline().decode().strip() if ready else None


def last_line(child):
    lines = child.communicate()[1].decode().strip().splitlines()
    return lines[-1] if lines else "it ended without a message"


def main():
    import torch

    import gpu_cases
    import gpu_driver

    folder, every, names = sys.argv[1], sys.argv[2] == "1", sys.argv[3:]
    cases = gpu_cases.by_name()
    major, minor = torch.cuda.get_device_capability()
    torch.zeros(1, device="cuda")
    print("ready", flush=True)
    driver = gpu_driver.Driver()
    for name in names:
        case = cases[name]
        path = os.path.join(folder, case.bundle)
        _, entry = gpu_driver.read_entry(path, case.entry)
        x = gpu_cases.inputs(case, "cuda", 0)
        arrays = {**x, **gpu_cases.results(case, "cuda")}
        for info in gpu_driver.kernels(entry, case.sequences, case.steps, 10 * major + minor, every).values():
            driver.launcher(path, entry, info, arrays, case.sequences, case.steps)()
        end = torch.cuda.Event()
        end.record()
        while not end.query():  # not a wait in the driver: the process must stay killable
            time.sleep(0.001)
        print(name, flush=True)


if __name__ == "__main__":
    main()
