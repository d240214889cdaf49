"""Pictures of what the GPU suites wrote, as SVG; drawing needs matplotlib, the points do not."""

import gpu_cases
import gpu_report

OURS, PEER, AIM = "#1f5fa8", "#bbbbbb", "#c0392b"


def roofline_points(rows):
    """(case, our share of the roofline, the best peer's) in per cent; 0 where there is none."""
    points = []
    for name, (ours, peers) in gpu_report.by_case(rows).items():
        best = min(peers, key=lambda row: row["peer_ms"], default=None)
        points.append((name, *(100 * row["of_roofline"] if row else 0 for row in (ours, best))))
    return points


def right_cases(rows):
    """(case, our row) of each case that is right."""
    cases = gpu_cases.by_name()
    return [(cases[name], ours) for name, (ours, _) in gpu_report.by_case(rows).items() if ours and ours["right"]]


def length_points(rows):
    """Model -> (steps of a sequence, tokens per second)."""
    lines = {}
    for case, row in right_cases(rows):
        name = case.model + (f" L={case.ranks}" if case.model == "prism" else "")
        lines.setdefault(name, []).append((case.steps, case.steps * case.sequences / row["ours_ms"] * 1e3))
    return {name: sorted(points) for name, points in lines.items()}


def rank_points(rows):
    """(ranks L of PRISM's second injection, milliseconds)."""
    return sorted((case.ranks, row["ours_ms"]) for case, row in right_cases(rows) if case.model == "prism")


def figure(width, height):
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "prism", "svg.fonttype": "none"})  # the same picture is the same file, its text is text
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(width, height))


def save(drawn, path):
    drawn.tight_layout()
    drawn.savefig(path, metadata={"Date": None})


def roofline(rows, path):
    """A bar each for us and the best peer."""
    points = roofline_points(rows)
    drawn, axes = figure(8, 0.32 * len(points) + 1)
    places = range(len(points))
    axes.barh([p - 0.2 for p in places], [ours for _, ours, _ in points], 0.4, label="Prism", color=OURS)
    axes.barh([p + 0.2 for p in places], [peer for _, _, peer in points], 0.4, label="best peer", color=PEER)
    axes.set_yticks(list(places), [name for name, _, _ in points], fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel("share of the roofline, %")
    axes.legend(fontsize=7)
    save(drawn, path)


def lengths(rows, path):
    """Tokens per second against the length of a sequence, a line for each model."""
    drawn, axes = figure(6, 3.5)
    for name, points in length_points(rows).items():
        axes.plot([steps for steps, _ in points], [speed / 1e6 for _, speed in points], marker="o", label=name)
    axes.set_xscale("log", base=2)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("steps of a sequence; the number of tokens in all is the same")
    axes.set_ylabel("million tokens per second")
    axes.legend(fontsize=8)
    save(drawn, path)


def ranks(rows, path):
    """Time against L, beside the time of L = 0 times 1 + 0.7 L."""
    points = rank_points(rows)
    drawn, axes = figure(5, 3.2)
    axes.plot([rank for rank, _ in points], [time for _, time in points], marker="o", color=OURS, label="Prism")
    if points and points[0][0] == 0:
        axes.plot([rank for rank, _ in points], [points[0][1] * (1 + 0.7 * rank) for rank, _ in points], "--", color=AIM, label="aim: 1 + 0.7 L")
    axes.set_xticks([rank for rank, _ in points])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("ranks L of the refined injection")
    axes.set_ylabel("milliseconds")
    axes.legend(fontsize=8)
    save(drawn, path)


PLOTS = {"roofline": roofline, "lengths": lengths, "ranks": ranks}
