"""The GPU suites: our kernels and the peers' on one GPU, checked, then timed in turn."""

import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import time

import gpu_cases
import gpu_predictions

LIMITS = {"bf16": 0.005, "f32": 1e-5}  # RMS ratio by the type of inputs and outputs; heads may have 1.5 times that
PREFIX = 200  # steps over which the reference itself is compared with the step recurrence
FLUSH_BYTES = 256 << 20


def selected(options):
    cases = gpu_cases.small_cases(options.suite) if options.dry_run else gpu_cases.CASES[options.suite]()
    chosen = [case for case in cases if not options.only or any(text in case.name for text in options.only)]
    if not chosen:
        sys.exit(f"run.py: no case's name contains {' or '.join(options.only)}")
    return chosen


def compile_bundles(cases, folder, compiler, targets):
    """One bundle for all cases of the same model and heads."""
    os.makedirs(folder, exist_ok=True)
    for case in {case.bundle: case for case in cases}.values():
        spec = os.path.join(folder, case.bundle + ".json")
        with open(spec, "w", encoding="utf-8") as file:
            json.dump(gpu_cases.spec(case, targets), file)
        result = subprocess.run([compiler, spec, "-o", os.path.join(folder, case.bundle)], capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f"run.py: {case.bundle}: {result.stderr.strip() or result.returncode}")
        print(f"compiled {case.bundle}" + "".join(f"\n  {line}" for line in result.stderr.splitlines()), flush=True)


def predict(cases, folder, compiler, target):
    """What --explain says of each case on the target, in a file beside the bundles."""
    for case in cases:
        spec = os.path.join(folder, case.bundle + ".json")
        command = [compiler, spec, "--explain", f"--entry={case.entry}", f"--target={target}", f"--shape=B={case.sequences},T={case.steps}"]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f"run.py: {case.name}: {result.stderr.strip() or result.returncode}")
        with open(gpu_predictions.path(folder, case), "w", encoding="utf-8") as file:
            file.write(result.stdout)


def reference(case, x):
    """Float64 outputs and final state; the chunk form where sequences are long, after a look that it is the recurrence."""
    import gpu_reference as math

    if case.model in gpu_cases.DIAGONAL:
        return math.diagonal(case, x)
    if case.inside:
        x = math.computed(x, gpu_cases.NORM_EPSILON)
    scale = 1.0 if case.model == "mamba2" else case.read_scale
    if case.model in gpu_cases.STEPPED:
        return math.stepped(case, x, scale)
    if case.entry == "decode":
        return math.recurrence(x, scale, case.steps)
    outputs, state = math.chunked(x, scale)
    first, _ = math.recurrence(x, scale, min(PREFIX, case.steps))
    distance = math.rms_ratio(outputs[:, :PREFIX], first)
    if not distance < 1e-9:
        sys.exit(f"run.py: {case.name}: the float64 chunk form is {distance:.1e} off the recurrence")
    return outputs, state


def errors(got, want):
    import gpu_reference as math

    return {"error": math.rms_ratio(got[0], want[0]), "state_error": math.rms_ratio(got[1], want[1]),
            "worst_head": math.worst_head(got[0], want[0])}


def right(error, case):
    limit = LIMITS[case.io]
    return error["error"] <= limit and error["state_error"] <= limit and error["worst_head"] <= 1.5 * limit


def dry_run(cases, folder, options):
    """All but the GPU: specs, inputs, words and reference, with the same recurrences' CPU kernels."""
    import ctypes

    import bundle
    import gpu_driver

    wrong = 0
    for case in cases:
        path = os.path.join(folder, case.bundle)
        _, entry = gpu_driver.read_entry(path, case.entry)
        x = gpu_cases.inputs(case, "cpu", options.seed)
        want = reference(case, x)
        results = gpu_cases.results(case, "cpu")
        plan = gpu_driver.choose(entry, case.sequences, case.steps, 90)["plan"]
        cpu = bundle.Entry(path, case.entry)
        kernel = cpu.kernel(cpu.default_schedule(case.sequences, case.steps))
        words = gpu_driver.words(entry, {**x, **results}, case.sequences, case.steps)
        scratch = (ctypes.c_char * (kernel.info["workspace"] + 64))()
        workspace = -(-ctypes.addressof(scratch) // 64) * 64
        kernel.function(words, workspace, 0, gpu_driver.items(entry, kernel.info, case.sequences))
        error = errors(tuple(results.values()), want)
        wrong += not right(error, case)
        print(f"{case.name:<32} {'right' if right(error, case) else 'WRONG'} on the CPU: RMS ratio {error['error']:.1e}, "
              f"state {error['state_error']:.1e}; the GPU would take {plan}", flush=True)
    return wrong


def captured(function, calls=1):
    """So many calls of the function as a CUDA graph (replay with .replay()), and what the last returned."""
    import torch

    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            result = function()
    return graph, result


def measure(graphs, repeats):
    """Name -> milliseconds of each repeat, the cases in turn, the L2 cache flushed before each."""
    import torch

    flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")
    names, times = list(graphs), {name: [] for name in graphs}
    for repeat in range(repeats):
        for i in range(len(names)):
            name = names[(repeat + i) % len(names)]
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            flush.fill_(repeat % 256)  # takes longer than the host needs to enqueue the rest
            begin.record()
            graphs[name].replay()
            end.record()
            end.synchronize()
            times[name].append(begin.elapsed_time(end))
    return times


def ceilings():
    """Bytes and operations per second of this chip today: a copy, a bf16 matrix product."""
    import torch

    source = torch.randn(1 << 28, device="cuda")
    target = torch.empty_like(source)
    a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    c = a @ b
    # A graph's memory copy is not always the fastest way to copy.
    graphs = {"copy": captured(lambda: target.copy_(source))[0], "kernel": captured(lambda: torch.mul(source, 2, out=target))[0],
              "product": captured(lambda: torch.mm(a, b, out=c))[0]}
    times = {name: sorted(values)[len(values) // 2] for name, values in measure(graphs, 30).items()}
    return 2 * source.numel() * 4 / min(times["copy"], times["kernel"]) * 1e3, 2 * 8192**3 / times["product"] * 1e3


class Progress:
    """Says on stderr what was done and how long it took."""

    def __init__(self, name):
        self.name, self.last = name, time.monotonic()

    def step(self, what):
        now = time.monotonic()
        print(f"  {self.name}: {what}, {now - self.last:.1f} s", file=sys.stderr, flush=True)
        self.last = now


def driver_version():
    try:
        smi = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True)
    except OSError:
        return "unknown"
    return smi.stdout.split("\n")[0].strip() or "unknown"


class Suite:
    def __init__(self, folder, options):
        import torch

        import gpu_driver
        import gpu_peers

        self.folder, self.options = folder, options
        self.driver, self.skipped = gpu_driver.Driver(), {}
        major, minor = torch.cuda.get_device_capability()
        self.capability = 10 * major + minor
        self.bandwidth, self.rate = ceilings()
        self.common = {"device": torch.cuda.get_device_name(), "date": datetime.datetime.now(datetime.timezone.utc)
                       .isoformat(timespec="seconds"), "repeats": options.repeats,
                       "copy_gb_s": self.bandwidth / 1e9, "matmul_tflops": self.rate / 1e12,
                       "versions": {"driver": driver_version(),
                                    "torch": torch.__version__, "python": platform.python_version(), **gpu_peers.versions()}}
        print(f"{self.common['device']}, driver {self.common['versions']['driver']}: copy {self.bandwidth / 1e9:.0f} GB/s, "
              f"bf16 product {self.rate / 1e12:.0f} TFLOP/s", flush=True)

    def our_kernels(self, case, x):
        """Label -> (function, the manifest's kernel, what it writes, its launches); the label of the chosen one is empty."""
        import gpu_driver

        path = os.path.join(self.folder, case.bundle)
        manifest, entry = gpu_driver.read_entry(path, case.entry)
        self.common["versions"]["prism"] = manifest["compiler"]
        result = {}
        every = gpu_driver.kernels(entry, case.sequences, case.steps, self.capability, self.options.all)
        for label, info in every.items():
            outputs = gpu_cases.results(case, "cuda")
            launch = self.driver.launcher(path, entry, info, {**x, **outputs}, case.sequences, case.steps)
            outputs = tuple(outputs.values())
            result[label] = (lambda launch=launch, outputs=outputs: (launch(), outputs)[1], info, outputs, launch.parts)
        return result

    def prepare(self, function, want, calls):
        """A graph of so many calls, checked on outputs that were full of NaN."""
        import torch

        with torch.no_grad():
            function()  # loads, compiles, tunes
            torch.cuda.synchronize()
            graph, results = captured(function, calls)
            for tensor in results:
                tensor.fill_(float("nan"))
            graph.replay()
            torch.cuda.synchronize()
            return graph, errors(results, want)

    def run(self, case, broken):
        import gpu_peers

        log = Progress(case.name)
        x = gpu_cases.inputs(case, "cuda", self.options.seed)
        want = reference(case, x)
        log.step("reference")
        ours = {} if broken else self.our_kernels(case, x)
        graphs, checks = {}, {}
        for label, (function, _, _, _) in ours.items():
            graphs[label], checks[label] = self.prepare(function, want, case.calls)
        parts = {}  # of a kernel of several launches each one alone, on what the others left
        for label, (_, _, _, launches) in ours.items():
            for symbol, function in launches.items() if self.options.all and len(launches) > 1 else ():
                parts[label, symbol] = captured(function)[0]
        log.step("ours")
        peers = {} if self.options.no_peers else gpu_peers.peers(case, x, self.skipped)
        for name, function in list(peers.items()):
            try:
                graphs[name], checks[name] = self.prepare(function, want, case.calls)
            except Exception as error:  # of any kind: theirs; ours is timed all the same
                self.skipped[case.name, name] = gpu_peers.left_out(case, name, error)
                del peers[name]
        log.step("peers tuned")
        times = {name: [value / case.calls for value in values] for name, values in measure(graphs, self.options.repeats).items()}
        launches = {name: sorted(values)[len(values) // 2] for name, values in measure(parts, self.options.repeats).items()}
        log.step("timed")
        for label, (_, _, results, _) in ours.items():  # a race may show in one repeat only
            after = errors(results, want)
            if not right(after, case):
                checks[label] = after
        written = gpu_cases.results(case, "meta")
        rows = self.rows(case, ours, peers, times, checks, gpu_cases.traffic([*x.values(), *written.values()]))
        for label, row in zip(times, rows):
            row["launches_ms"] = {symbol: value for (of, symbol), value in launches.items() if of == label}
        return rows

    def rows(self, case, ours, peers, times, checks, transferred):
        median = {name: sorted(values)[len(values) // 2] for name, values in times.items()}
        best = min(peers, key=median.get, default=None)
        memory, arithmetic = transferred / self.bandwidth * 1e3, gpu_cases.flops(case) / self.rate * 1e3
        result = []
        for name in times:
            row = {"case": case.name + ("" if case.arrays else " bf16") + (name if name in ours else ", peer")}
            if name in ours:
                info = ours[name][1]
                row.update({"ours_ms": median[name], "peer": best, "peer_ms": median.get(best),
                            "ratio": median[best] / median[name] if best else None, "default_plan": not name,
                            "chip": info["chip"], "plan": info["plan"], "segments": info["segments"], "matmul": info["matmul"],
                            "right": right(checks[name], case)})
            else:
                row.update({"ours_ms": None, "peer": name, "peer_ms": median[name], "ratio": None})
            spread = sorted(times[name])
            row.update({"spread_ms": {"min": spread[0], "median": median[name], "max": spread[-1]}, **checks[name],
                        "roofline_memory_ms": memory, "roofline_arithmetic_ms": arithmetic,
                        "of_roofline": max(memory, arithmetic) / median[name], **self.common})
            result.append(row)
        return result


def show(row):
    """One line: what ran, its median and spread, its error, its share of the roofline, and against the best peer."""
    name = row["case"].removesuffix(", peer") + ("" if row["ours_ms"] else f", {row['peer']}")
    spread = row["spread_ms"]
    text = f"{name:<52} {spread['median']:8.4f} ms ({spread['min']:.4f} to {spread['max']:.4f})  " \
           f"o {row['error']:.1e} state {row['state_error']:.1e}  {100 * row['of_roofline']:3.0f} % of roofline"
    if row["ours_ms"] and row["ratio"]:
        text += f"  {1 / row['ratio']:.2f} of {row['peer']}'s time"
    if row.get("segments", 1) > 1:
        text += f"  in {row['segments']} segments"
    if row.get("predicted_ms"):
        text += f"  predicted {row['predicted_ms']:.4f} ms"
    if row.get("right") is False:
        text += "  WRONG"
    print(text, flush=True)
    for symbol, value in row.get("launches_ms", {}).items():
        print(f"    {symbol} alone {value:.4f} ms", flush=True)


def summary(rows):
    """Geometric means of our time over the best peer's, by model."""
    by_model = {}
    for row in rows:
        if row.get("default_plan") and row["ratio"] and row["right"]:
            by_model.setdefault(row["case"].split()[0], []).append(1 / row["ratio"])
    for model, shares in by_model.items():
        product = 1.0
        for share in shares:
            product *= share
        print(f"{model}: {product ** (1 / len(shares)):.2f} of the best peer's time (geometric mean of {len(shares)})")


def write(suite, rows, path):
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump({"suite": suite, "rows": rows}, file, indent=2)
        file.write("\n")
    os.replace(path + ".part", path)


def run(options):
    """The rows of the suite that the options name."""
    cases = selected(options)
    folder = options.bundles or tempfile.mkdtemp(prefix="prism-bench-")
    targets = ["cpu", options.target] if options.dry_run else [options.target]
    if options.compile_only or not options.bundles:
        compiler = os.path.join(options.bin, "prism-compile")
        compile_bundles(cases, folder, compiler, targets)
        if options.suite == "gpu-choice":
            predict(cases, folder, compiler, options.target)
    if options.compile_only:
        return []
    predicted = {case.name: gpu_predictions.read(folder, case) for case in cases} if options.suite == "gpu-choice" else {}
    if options.dry_run:
        for name, times in predicted.items():
            print(f"{name}: " + ", ".join(f"{plan} {1e3 * time:.1f} us" for plan, time in times.items()))
        sys.exit(dry_run(cases, folder, options))

    import torch

    import gpu_peers
    import gpu_probe
    import gpu_warm

    if not options.no_peers:
        if options.jobs:
            gpu_warm.warm(cases, options.jobs)
        gpu_peers.limit_tuning(milliseconds=options.tuning_ms)
    broken = gpu_probe.broken_cases(cases, folder, options.all)
    for name, sentence in broken.items():
        print(f"{name}: {sentence}", flush=True)
    rows = [{"case": name, "failed": sentence} for name, sentence in broken.items()]
    suite = Suite(folder, options)
    for case in cases:
        try:
            new = suite.run(case, case.name in broken)
        except (RuntimeError, LookupError) as error:  # a faulty kernel takes the context with it
            print(f"{case.name}: FAILED: {str(error).splitlines()[0]}", flush=True)
            rows.append({"case": case.name, "failed": str(error)})
            try:
                torch.cuda.synchronize()
            except RuntimeError:
                break
            continue
        for row in new:
            if case.name in predicted:
                row["predicted_ms"] = predicted[case.name].get(gpu_predictions.Plan.of(row, case))
            show(row)
        rows += new
        if options.json:
            write(options.suite, rows, options.json)
        torch.cuda.empty_cache()
    summary([row for row in rows if "failed" not in row])
    for sentence in suite.skipped.values():
        print(sentence)
    if options.json:
        write(options.suite, rows, options.json)
    bad = [row["case"] for row in rows if "failed" in row or row.get("right") is False]
    if bad:
        sys.exit(f"run.py: wrong or failed: {', '.join(bad)}")
    return rows
