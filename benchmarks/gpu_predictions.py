"""The times that the compiler predicts, read from what --explain says of one call."""

import os
import re
import sys
from dataclasses import dataclass

PLAN = re.compile(r"  on cuda\S*: schedule (\w+), chunk (\d+), (?:blocks of (\d+) value columns|all value columns in one work item)"
                  r"(?:, clusters with (\d+) that only prepares?)?;")
TIMES = re.compile(r"    predicted for .*: (.* us.*)")
TIME = re.compile(r"(?:(\d+) segments )?([\d.]+) us")


@dataclass(frozen=True)
class Plan:
    """What tells a kernel, and the number of segments, from the others of a case."""

    schedule: str
    chunk: int
    value_block: int
    prepare_blocks: int
    segments: int

    @classmethod
    def of(cls, row, case):
        """The plan of a measured row."""
        plan = row["plan"]
        return cls(plan["schedule"], plan["chunk"], plan["value_block"] or case.values, plan.get("prepare_blocks", 0), row["segments"])

    def __str__(self):
        blocks = f", {self.prepare_blocks} prepare_blocks" if self.prepare_blocks else ""
        segments = f", {self.segments} segments" if self.segments > 1 else ""
        return f"{self.schedule} {self.chunk}, value block {self.value_block}{blocks}{segments}"


def path(folder, case):
    """Where the explanation of a case lies, beside its bundle."""
    return os.path.join(folder, f"{case.bundle}.{case.steps}x{case.sequences}.explain")


def parse(text, values):
    """Plan -> milliseconds; `values` columns where a work item has all."""
    result, plan = {}, None
    for line in text.splitlines():
        if line.startswith("  on "):
            plan = PLAN.match(line)
        times = TIMES.match(line)
        if plan and times:
            schedule, chunk, block, prepare = plan.groups()
            for segments, time in TIME.findall(times[1]):
                key = Plan(schedule, int(chunk), int(block or values), int(prepare or 0), int(segments or 1))
                result[key] = float(time) / 1e3
    return result


def read(folder, case):
    """The predictions of a case; ends if there are none."""
    file = path(folder, case)
    if not os.path.exists(file):
        sys.exit(f"run.py: {file} is missing: the bundles there were written by another suite; write them with --suite gpu-choice --compile-only")
    with open(file, encoding="utf-8") as text:
        result = parse(text.read(), case.values)
    if not result:
        sys.exit(f"run.py: {file} predicts no times, as the chip was not measured")
    return result
