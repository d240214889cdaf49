"""What the suites gpu-lengths and gpu-sizes make of times. usage: lines.py BENCHMARKS"""

import sys

sys.path.insert(0, sys.argv[1])
import gpu_cases  # noqa: E402
import gpu_lines  # noqa: E402
import gpu_plots  # noqa: E402
import gpu_report  # noqa: E402


def row(case, ms, right=True, **more):
    return {"case": case.name + " bf16", "ours_ms": ms, "default_plan": True, "right": right, "of_roofline": 0.5, **more}


lengths = [row(case, 131.072 if case.model == "prism" else 65.536 * (1 + (case.steps == 2048) / 10)) for case in gpu_cases.length_cases()]
for verdict in gpu_lines.judge_lengths(lengths):
    print(gpu_lines.say_length(verdict) + (", missed" if verdict["missed"] else ""))

# A flop of 64 keys at the price of one of 128; of 96 at 1.5 times; 256 is wrong and not judged.
usual, *others = gpu_cases.size_cases()
prices = {64: 1.0, 96: 1.5}
sizes = [row(usual, gpu_cases.flops(usual) * 1e-9)]
sizes += [row(case, gpu_cases.flops(case) * 1e-9 * prices.get(case.keys, 1.0), right=case.keys != 256) for case in others if case.keys == case.values]
for verdict in gpu_lines.judge_sizes(sizes):
    print(gpu_lines.say_size(verdict) + (", missed" if verdict["missed"] else ""))
print(gpu_lines.judge_sizes(sizes[1:]))

ranks = [row(case, 0.5 + case.ranks) for case in gpu_cases.forward_cases() if case.model == "prism"]
print(gpu_plots.rank_points(ranks[::-1]))
peer = {"case": ranks[0]["case"] + ", peer", "peer": "one", "peer_ms": 2.0, "ours_ms": None, "of_roofline": 0.25}
print(gpu_plots.roofline_points([ranks[0], peer]))

# A name may hold the word that ends it in a row.
print(*gpu_report.by_case([row(case, 1.0) for case in gpu_cases.decode_cases()[2:4]]), sep="; ")
