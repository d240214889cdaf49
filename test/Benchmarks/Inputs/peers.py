"""Adapters of FlashInfer, FlashQLA and flash-linear-attention against the float64 recurrence, on a CPU, with stand-ins for the libraries. usage: peers.py BENCHMARKS"""

import sys

sys.path.insert(0, sys.argv[1])
import gpu_cases  # noqa: E402
import gpu_peers  # noqa: E402
import gpu_suite  # noqa: E402


def fails(case, x):
    raise ValueError("no such heads\nand more")


gpu_peers.LIBRARIES = {"flashinfer": gpu_peers.flash_infer, "flash_qla": gpu_peers.flash_qla, "other": fails}
gpu_peers.FLA = {name: gpu_peers.FLA[name] for name in ("rwkv7", "prism")}  # whose arrays are made up
cases = [gpu_cases.Case("gated_deltanet", 70, 3, 2, 4), gpu_cases.Case("retnet", 70, 3, 4, 4)]
cases += [gpu_cases.Case("gated_deltanet", 1, 5, 2, 4, entry="decode", state=state) for state in ("f32", "bf16")]
ours = gpu_peers.LIBRARIES
for case in cases + [gpu_cases.Case("rwkv7", 70, 2, 2, 2), *(gpu_cases.Case("prism", 40, 2, 2, 4, ranks) for ranks in (0, 2))]:
    gpu_peers.LIBRARIES = ours if case in cases else {"fla": gpu_peers.flash_linear_attention}
    x, skipped = gpu_cases.inputs(case, "cpu", 0), {}
    before = {name: tensor.clone() for name, tensor in x.items()}
    for name, function in gpu_peers.peers(case, x, skipped).items():
        for attempt in ("once", "again"):
            results = function()
            error = gpu_suite.errors(results, gpu_suite.reference(case, x))
            print(f"{case.name}: {name} {'right' if gpu_suite.right(error) else error} {attempt}")
            for result in results:
                result.fill_(float("nan"))
        print("inputs as they were:", all(x[name].equal(before[name]) for name in x))
    print(*skipped.values())
