#!/usr/bin/env python3
"""The Python package on an NVIDIA GPU, with PyTorch: values against the float64 recurrence, streams, CUDA graphs, memory
and the time of a call.

usage: python_gpu.py [--target cuda:sm_90a] [--compile-only FOLDER | --bundles FOLDER]

  --compile-only FOLDER   writes the bundles and stops: for a machine with the compiler and without a GPU
  --bundles FOLDER        plays those, on a machine with a GPU and without the compiler

`prism` must be importable: pip install ., or PYTHONPATH=build/python (which holds what --bundles needs).
"""

import argparse
import gc
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python", "tests"))

import numpy as np
import prism
import recurrence

MODELS = {
    "f32": recurrence.spec(),
    "bf16": recurrence.spec("bf16"),
    # What tensor cores take.
    "wide": {
        "prism_spec": 1,
        "family": "gated_deltanet",
        "dims": {"H": 4, "K": 128, "V": 128},
        "dtype": {"io": "bf16"},
    },
}
failures = []


def report(name, good, detail=""):
    print(f"{'ok    ' if good else 'FAILED'} {name} {detail}", flush=True)
    if not good:
        failures.append(name)


def tensors(torch, arrays, dtype=None):
    given = {name: torch.from_numpy(a).cuda() for name, a in arrays.items()}
    for name in "qkv" if dtype else "":
        given[name] = given[name].to(dtype)
    return given


def host(tensor):
    return tensor.float().cpu().numpy()


def rounded(given):
    """What the kernels really read, for the recurrence."""
    return {name: host(tensor) for name, tensor in given.items()}


def check_values(torch, programs):
    for io, limit in (("f32", 1e-5), ("bf16", 5e-3)):
        dtype = torch.bfloat16 if io == "bf16" else None
        for batch, steps in ((1, 1), (2, 65), (3, 200)):
            for schedule in (None, "recurrent", "chunk"):
                given = tensors(torch, recurrence.inputs(batch, steps), dtype)
                S = torch.from_numpy(recurrence.state(batch)).cuda()
                outputs = programs[io].forward(**given, initial_state=S, schedule=schedule)
                wanted = recurrence.reference(rounded(given), host(S))
                worst = max(recurrence.ratio(host(a), b) for a, b in zip(outputs, wanted))
                report(f"values {io} B={batch} T={steps} {schedule}", worst <= limit, f"{worst:.1e}")
                kinds = outputs.o.device == given["q"].device and outputs.o.dtype == given["q"].dtype
                report(f"outputs are tensors like q, {io}", kinds)


def check_packed(torch, program):
    offsets = torch.tensor([0, 3, 3, 40], device="cuda")
    given = tensors(torch, recurrence.inputs(1, 40))
    for options in ({"host_offsets": offsets.cpu()}, {"trust_offsets": True}):
        outputs = program.forward(**given, offsets=offsets, **options)
        wanted = recurrence.reference(rounded(given), offsets=offsets.tolist())
        worst = max(recurrence.ratio(host(a), b) for a, b in zip(outputs, wanted))
        report(f"packed {next(iter(options))}", worst <= 1e-5, f"{worst:.1e}")
    try:
        program.forward(**given, offsets=offsets)
        report("offsets without a copy are refused", False)
    except prism.ArgumentError as error:
        report("offsets without a copy are refused", error.argument == "offsets", str(error))


def check_decode(torch, program):
    arrays = recurrence.inputs(2, 30)
    given, S = tensors(torch, arrays), torch.from_numpy(recurrence.state(2)).cuda()
    wanted = recurrence.reference(arrays, recurrence.state(2))
    address, parts = S.data_ptr(), []
    for t in range(30):
        token = {name: tensor[:, t : t + 1] for name, tensor in given.items()}
        parts.append(program.decode(**token, initial_state=S, final_state=S).o)
    worst = max(recurrence.ratio(host(torch.cat(parts, 1)), wanted[0]), recurrence.ratio(host(S), wanted[1]))
    report("decode in place, strided views", worst <= 1e-5 and S.data_ptr() == address, f"{worst:.1e}")


def check_streams(torch, program):
    """A call waits for what its stream does before it, and for no other stream."""
    given = tensors(torch, recurrence.inputs(2, 65))
    wanted = recurrence.reference(rounded(given))[0]
    program.forward(**given)
    torch.cuda.synchronize()
    for name, explicit in (("the current stream", False), ("a stream given", True)):
        side = torch.cuda.Stream()
        late = {n: torch.zeros_like(t) for n, t in given.items()}
        out, state = torch.empty_like(given["v"]), torch.empty(2, recurrence.H, recurrence.K, recurrence.V, device="cuda")
        torch.cuda.synchronize()
        with torch.cuda.stream(side):
            torch.cuda._sleep(50_000_000)
            for n, tensor in late.items():
                tensor.copy_(given[n])
        begin = time.perf_counter()
        if explicit:
            program.forward(**late, o=out, final_state=state, stream=side.cuda_stream)
        else:
            with torch.cuda.stream(side):
                program.forward(**late, o=out, final_state=state)
        waited = time.perf_counter() - begin
        torch.cuda.synchronize()
        error = recurrence.ratio(host(out), wanted)
        report(f"{name}", error <= 1e-5, f"{error:.1e}, the call took {waited * 1e6:.0f} us while the stream was busy")
        report(f"{name}: the call does not wait", waited < 0.01)


def check_graph(torch, program):
    given = tensors(torch, recurrence.inputs(1, 1))
    S = torch.zeros(1, recurrence.H, recurrence.K, recurrence.V, device="cuda")
    out = torch.empty(1, 1, recurrence.H, recurrence.V, device="cuda")
    call = dict(given, initial_state=S, final_state=S, o=out)
    program.decode(**call)  # loads the kernel
    S.zero_()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        program.decode(**call)
    arrays = recurrence.inputs(1, 12, seed=5)
    parts = []
    for t in range(12):
        for name, tensor in given.items():
            tensor.copy_(torch.from_numpy(arrays[name][:, t : t + 1]))
        graph.replay()
        parts.append(out.clone())
    wanted = recurrence.reference(arrays)
    worst = max(recurrence.ratio(host(torch.cat(parts, 1)), wanted[0]), recurrence.ratio(host(S), wanted[1]))
    report("decode in a CUDA graph", worst <= 1e-5, f"{worst:.1e}")


def check_wide(torch, program):
    """Both schedules of a model for tensor cores against the float64 recurrence of its family."""
    torch.manual_seed(0)
    shapes = program.entries["forward"].shapes(B=1, T=130)
    given = {n: torch.randn(shapes[n], device="cuda") for n in ("q", "k", "v")}
    given["k"] = torch.nn.functional.normalize(given["k"], dim=-1)
    given = {n: t.bfloat16() for n, t in given.items()}
    given["log_alpha"] = -torch.rand(shapes["log_alpha"], device="cuda")
    given["beta"] = torch.rand(shapes["beta"], device="cuda")
    q, k, v, g, beta = (given[n].double().cpu().numpy() for n in ("q", "k", "v", "log_alpha", "beta"))
    S, wanted = np.zeros((4, 128, 128)), np.zeros((1, 130, 4, 128))
    for t in range(130):
        for h in range(4):
            S[h] *= np.exp(g[0, t, h])
            S[h] += beta[0, t, h] * np.outer(k[0, t, h], v[0, t, h] - k[0, t, h] @ S[h])
            wanted[0, t, h] = q[0, t, h] @ S[h]
    for schedule in ("chunk", "recurrent"):
        outputs = program.forward(**given, schedule=schedule)
        worst = max(recurrence.ratio(host(outputs.o), wanted), recurrence.ratio(host(outputs.final_state)[0], S))
        report(f"K = V = 128 in bf16, {schedule}", worst <= 5e-3, f"{worst:.1e}")


def check_growth(torch, program):
    """10,000 launches of kernels with tensor maps, split into segments too: no memory more, and every bit as before."""
    for steps, segments in ((130, None), (600, 2)):
        shapes = program.entries["forward"].shapes(B=1, T=steps)
        given = {n: torch.nn.functional.normalize(torch.randn(shapes[n], device="cuda"), dim=-1).bfloat16() for n in "qkv"}
        given["log_alpha"] = -torch.rand(shapes["log_alpha"], device="cuda")
        given["beta"] = torch.rand(shapes["beta"], device="cuda")
        options = {"segments": segments} if segments else {}
        first = program.forward(**given, schedule="chunk", **options)
        o, state = torch.empty_like(first.o), torch.empty_like(first.final_state)
        for _ in range(2_000):  # the driver's queues have their size then
            program.forward(**given, o=o, final_state=state, schedule="chunk", **options)
        torch.cuda.synchronize()
        gc.collect()
        device, host_pages = torch.cuda.mem_get_info()[0], resident_pages()
        for _ in range(10_000):
            program.forward(**given, o=o, final_state=state, schedule="chunk", **options)
        torch.cuda.synchronize()
        gc.collect()
        grown = (resident_pages() - host_pages) * os.sysconf("SC_PAGE_SIZE")
        same = torch.equal(o, first.o) and torch.equal(state, first.final_state)
        name = f"10,000 launches, T={steps}" + (f" in {segments} segments" if segments else "")
        taken = device - torch.cuda.mem_get_info()[0]
        report(f"{name}: no device memory", taken <= 0, f"{taken} bytes")
        report(f"{name}: no host memory", grown < 1 << 20, f"{grown} bytes")
        report(f"{name}: the same bits", same)


def resident_pages():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1])


def check_errors(torch, program):
    given = tensors(torch, recurrence.inputs(1, 3))
    for name, changes in (
        ("one tensor on the cpu", {"k": given["k"].cpu()}),
        ("a wrong dtype", {"k": given["k"].half()}),
        ("a gradient", {"k": given["k"].requires_grad_()}),
    ):
        try:
            program.forward(**{**given, **changes})
            report(name, False)
        except prism.ArgumentError as error:
            report(name, error.argument == "k", str(error))
        given["k"] = given["k"].detach()


def check_cost(torch, program):
    given = tensors(torch, recurrence.inputs(1, 1))
    S = torch.zeros(1, recurrence.H, recurrence.K, recurrence.V, device="cuda")
    out = torch.empty(1, 1, recurrence.H, recurrence.V, device="cuda")
    call = dict(given, initial_state=S, final_state=S, o=out)

    def per_call(count):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(count):
            program.decode(**call)
        passed = time.perf_counter() - begin
        torch.cuda.synchronize()
        return passed / count

    per_call(1000)
    gc.collect()
    free = torch.cuda.mem_get_info()[0]
    times = sorted(per_call(500) for _ in range(20))
    report("10,000 calls keep no device memory", torch.cuda.mem_get_info()[0] == free)
    plain = torch.empty(1, device="cuda")

    def launches(count):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(count):
            plain.zero_()
        passed = time.perf_counter() - begin
        torch.cuda.synchronize()
        return passed / count

    launch = sorted(launches(500) for _ in range(20))
    print(
        f"a decode call with 8 tensors: {times[10] * 1e6:.1f} us (median of 20 x 500, {times[0] * 1e6:.1f} to "
        f"{times[-1] * 1e6:.1f}); tensor.zero_(), a launch: {launch[10] * 1e6:.1f} us"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", default="cuda:sm_90a")
    parser.add_argument("--compile-only", metavar="FOLDER")
    parser.add_argument("--bundles", metavar="FOLDER")
    options = parser.parse_args()
    if options.bundles:
        programs = {name: prism.load(os.path.join(options.bundles, name)) for name in MODELS}
    else:
        programs = {name: prism.compile(model, target=options.target) for name, model in MODELS.items()}
    if options.compile_only:
        for name, program in programs.items():
            program.save(os.path.join(options.compile_only, name))
        return
    import torch

    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, prism {prism.__version__}")
    check_values(torch, programs)
    check_packed(torch, programs["f32"])
    check_decode(torch, programs["f32"])
    check_streams(torch, programs["f32"])
    check_graph(torch, programs["f32"])
    check_wide(torch, programs["wide"])
    check_growth(torch, programs["wide"])
    check_errors(torch, programs["f32"])
    check_cost(torch, programs["f32"])
    print(f"{len(failures)} failed" if failures else "all passed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
