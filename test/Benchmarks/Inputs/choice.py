"""What the suites gpu-choice and gpu-diagonal make of times. usage: choice.py BENCHMARKS"""

import sys

sys.path.insert(0, sys.argv[1])
import gpu_choice  # noqa: E402


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
