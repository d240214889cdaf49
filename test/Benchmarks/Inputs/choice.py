"""What the suites gpu-choice and gpu-diagonal make of times. usage: choice.py BENCHMARKS"""

import json
import os
import sys
import tempfile

sys.path.insert(0, sys.argv[1])
import gpu_cases  # noqa: E402
import gpu_choice  # noqa: E402
import gpu_predictions  # noqa: E402


def row(case, schedule, chunk, block, ms, segments=1, chosen=False, right=True, arrays="bf16"):
    return {"case": f"{case} 64x1 (1,1) {arrays}, label", "plan": {"schedule": schedule, "chunk": chunk, "value_block": block},
            "segments": segments, "ours_ms": ms, "default_plan": chosen, "right": right}


rows = [row("light", "chunk", 64, 64, 1.1, chosen=True), row("light", "chunk", 64, 64, 1.0, segments=4),
        row("light", "chunk", 64, 128, 0.5, right=False), {"case": "broken 64x1 (1,1)", "failed": "a fault"},
        row("heavy", "chunk", 64, 128, 1.25, chosen=True), row("heavy", "recurrent", 1, 32, 1.0),
        row("lost", "chunk", 64, 64, 1.0),
        row("steps", "recurrent", 1, 64, 1.0), row("steps", "recurrent", 1, 128, 0.5, segments=8, chosen=True),
        row("steps", "recurrent", 1, 64, 1.0, chosen=True, arrays="f32 arrays"), row("steps", "recurrent", 1, 128, 0.9, segments=8, arrays="f32 arrays"),
        row("wrong", "chunk", 64, 64, 0.5, chosen=True, right=False), row("wrong", "recurrent", 1, 32, 1.0)]
for verdict in gpu_choice.judge(rows):
    print(f"{verdict['case']}: {verdict['failed']}, missed" if "failed" in verdict else f"{verdict['case']}: {verdict['chosen']}, best {verdict['best']}, loss {100 * verdict['loss']:.1f} %"
          + (", missed" if verdict["missed"] else ""))


def predicted(row, ms):
    return {**row, "predicted_ms": ms}


def say(rows):
    for verdict in gpu_choice.judge_predictions(rows):
        print(verdict["case"] + ": " + verdict["failed"] if "failed" in verdict else gpu_choice.say_prediction(verdict))


near = predicted(row("near", "chunk", 64, 64, 1.0, chosen=True), 1.1)
say([near, predicted(row("wrong", "chunk", 64, 64, 1.0, right=False), 9.0), {"case": "broken 64x1 (1,1)", "failed": "a fault"}])
say([near, predicted(row("far", "chunk", 64, 64, 1.0, segments=4), 1.5), predicted(row("far", "recurrent", 1, 32, 1.0), 0.6)])
say([near, predicted(row("none", "chunk", 64, 128, 1.0), None)])

TEXT = """entry 'forward'
  on cpu: schedule chunk, chunk 16, all value columns in one work item; 1 kFLOP
    note: predicted ns a step and value head on x86-64-v3, 4096 steps: chunk 16 1.0 (this plan)
  on cuda:sm_90a: schedule chunk, chunk 64, blocks of 64 value columns, clusters with 1 that only prepares; 188.4 kFLOP
    predicted for 1 sequence of 64 steps: 12.5 us
  on cuda:sm_90a: schedule chunk, chunk 64, blocks of 64 value columns; 188.4 kFLOP
    predicted for 1 sequence of 64 steps: 2 segments 9.0 us (taken), 3 segments 10.0 us
  on cuda:sm_90a: schedule recurrent, chunk 1, all value columns in one work item; 114.7 kFLOP
    predicted for 1 sequence of 64 steps: 100.0 us
"""
for plan, time in gpu_predictions.parse(TEXT, 128).items():
    print(f"{plan}: {time:.4f} ms")

# Times of an earlier run, by what a bundle's table names now.
case = gpu_cases.choice_cases()[0]
plan = {"schedule": "chunk", "chunk": 64, "stages": 2}
kernels = [{"target": "cuda", "chip": "sm_90a", "cubin": "a", "plan": {**plan, "value_block": block}} for block in (64, 128)]
entry = {"name": "forward", "value_heads": case.value_heads, "kernels": kernels,
         "choice": [{"target": "cuda", "max_heads": 4, "schedule": "chunk", "value_block": 128}, {"target": "cuda", "schedule": "chunk", "value_block": 64}]}
with tempfile.TemporaryDirectory() as folder:
    os.mkdir(os.path.join(folder, case.bundle))
    with open(os.path.join(folder, case.bundle, "manifest.json"), "w", encoding="utf-8") as file:
        json.dump({"entries": [entry]}, file)
    with open(gpu_predictions.path(folder, case), "w", encoding="utf-8") as file:
        file.write(TEXT.replace(", clusters with 1 that only prepares", ""))
    before = [{**row("x", "chunk", 64, block, 1.0, chosen=block == 128), "case": f"{case.name} bf16"} for block in (64, 128)]
    for found in gpu_choice.recorded(before, folder, [case]):
        print(f"value block {found['plan']['value_block']}: named {found['default_plan']}, predicted {found['predicted_ms']} ms")

# Rows are a case's by its whole name: of two types of arrays, and of a kernel that the table does not name.
bf16, f32 = gpu_cases.diagonal_cases()[0], next(case for case in gpu_cases.diagonal_cases() if case.io == "f32")
for name in (f"{bf16.name} bf16", f"{bf16.name} bf16, recurrent 1 value block 64", f32.name, f"{f32.name}, recurrent 1 value block 64", f"{f32.name}x"):
    print(name.removeprefix("hgrn 8192x1 (16,16) ") + ":", *(case.io for case in (bf16, f32) if gpu_choice.is_of({"case": name, "right": True}, case)))
