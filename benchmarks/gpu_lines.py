"""The suites gpu-lengths and gpu-sizes: whether speed stays what it is as sequences get longer, and as heads change size."""

import gpu_cases
import gpu_plots
import gpu_suite

SPREAD = 0.05  # of tokens per second, from the shortest to the longest sequences
DEARER = 1.4  # time of a flop over that at 128 x 128


def judge_lengths(rows):
    """A row for each model: its tokens per second by length, and how far they lie apart."""
    result = []
    for model, points in gpu_plots.length_points(rows).items():
        speeds = [speed for _, speed in points]
        spread = max(speeds) / min(speeds) - 1
        result.append({"case": f"{model} lengths", "tokens_per_second": dict(points), "spread": spread, "missed": spread > SPREAD})
    return result


def judge_sizes(rows):
    """A row for each size: the time of a flop over that at 128 x 128."""
    cost = {case: row["ours_ms"] / gpu_cases.flops(case) for case, row in gpu_plots.right_cases(rows)}
    usual = next((value for case, value in cost.items() if not case.size), None)
    return [{"case": f"{case.name} size", "keys": case.keys, "values": case.values, "times": value / usual, "missed": value > DEARER * usual}
            for case, value in cost.items()] if usual else []


def say_length(row):
    speeds = ", ".join(f"{speed / 1e6:.1f} M tokens/s at T = {steps}" for steps, speed in row["tokens_per_second"].items())
    return f"{row['case']}: {speeds}; {100 * row['spread']:.1f} % apart, aim {100 * SPREAD:.0f} %"


def say_size(row):
    return f"K = {row['keys']}, V = {row['values']}: a flop takes {row['times']:.2f} times what it takes at 128 x 128, aim {DEARER}"


def judged(options, judge, say):
    options.no_peers = True
    rows = gpu_suite.run(options)
    verdicts = judge(rows)
    for row in verdicts:
        print(say(row) + ("  MISSED" if row["missed"] else ""))
    if options.json and rows:
        gpu_suite.write(options.suite, rows + verdicts, options.json)
    return rows + verdicts


def gpu_lengths(options):
    """As many tokens in 64 sequences of 2,048 steps as in one of 131,072, 128 value heads: Gated DeltaNet and PRISM on a GPU."""
    return judged(options, judge_lengths, say_length)


def gpu_sizes(options):
    """Gated DeltaNet with heads of 64, 96, 192, 256 and of two sizes on a GPU: the time of a flop beside that at 128 x 128."""
    return judged(options, judge_sizes, say_size)
