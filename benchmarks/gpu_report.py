#!/usr/bin/env python3
"""Prints the tables of docs/Benchmarks.md from what a GPU suite of run.py wrote with --json.

usage: gpu_report.py FILE.json [--plot FILE.svg [--kind roofline|lengths|ranks]]     (--plot needs matplotlib)
"""

import argparse
import json


def by_case(rows):
    """Case -> (our row or None, its peers' rows), in the suite's order."""
    result = {}
    for row in rows:
        name = row["case"].rpartition(" bf16")[0]
        ours, peers = result.setdefault(name, [None, []])
        if row.get("default_plan"):
            result[name][0] = row
        elif row.get("peer") and row.get("ours_ms") is None:
            peers.append(row)
    return result


def figure(error):
    return f"{error:.1e}" if error == error else "NaN"


def table(rows):
    lines = ["| case | ours, ms | segments | peer | its ms | ours / peer | RMS ratio ours (o, state) | peer (o, state) | of roofline: ours, peer |",
             "|---|---|---|---|---|---|---|---|---|"]
    for name, (ours, peers) in by_case(rows).items():
        best = min(peers, key=lambda row: row["peer_ms"], default=None)
        cells = [name]
        wrong = "" if ours is None or ours["right"] else " (WRONG)"
        cells.append(f"{ours['ours_ms']:.3f}{wrong}" if ours else "failed")
        cells.append(str(ours["segments"]) if ours and ours.get("segments", 1) > 1 else "")
        cells += [best["peer"], f"{best['peer_ms']:.3f}"] if best else ["", ""]
        cells.append(f"{ours['ours_ms'] / best['peer_ms']:.2f}" if ours and best else "")
        cells += [f"{figure(row['error'])}, {figure(row['state_error'])}" if row else "" for row in (ours, best)]
        cells.append(", ".join(f"{100 * row['of_roofline']:.0f} %" for row in (ours, best) if row))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def head(rows):
    row = next(row for row in rows if "failed" not in row)
    versions = ", ".join(name + " " + version.removeprefix(name + " ") for name, version in row["versions"].items())
    return f"{row['device']}, {row['date'][:10]}; {versions}. Copy {row['copy_gb_s']:.0f} GB/s, bf16 product " \
           f"{row['matmul_tflops']:.0f} TFLOP/s, both in the same run; median of {row['repeats']}."


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--plot", metavar="FILE.svg")
    parser.add_argument("--kind", choices=("roofline", "lengths", "ranks"), default="roofline",
                        help="share of the roofline by case (default), tokens per second by length, time by ranks of PRISM")
    options = parser.parse_args()
    with open(options.file, encoding="utf-8") as file:
        # What some suites say of several rows is none of a case.
        rows = [row for row in json.load(file)["rows"] if "ours_ms" in row or "failed" in row]
    print(head(rows) + "\n\n" + table(rows))
    if options.plot:
        import gpu_plots

        gpu_plots.PLOTS[options.kind](rows, options.plot)


if __name__ == "__main__":
    main()
