# The lit suite. test/ mirrors lib/ and tools/.
#
# PRISM_LIT_ROUNDTRIP=1 runs the tests that use prism-opt once more, every module
# printed and parsed again (as text and as bytecode) before its passes run.

import glob
import os
import resource
import shutil
import subprocess
import sys

import lit.formats
import lit.util

sys.path.insert(0, os.path.join(config.prism_source_dir, "test"))
import prism_lit

roundtrip = bool(os.environ.get("PRISM_LIT_ROUNDTRIP"))

config.name = "Prism-roundtrip" if roundtrip else "Prism"
config.test_format = prism_lit.PrismOptTests(False) if roundtrip else lit.formats.ShTest(False)
config.suffixes = [".mlir", ".json", ".test"]
config.excludes = ["Inputs", "CMakeLists.txt"]
config.test_source_root = os.path.join(config.prism_source_dir, "test")
config.test_exec_root = os.path.join(
    config.prism_binary_dir, "test", "roundtrip" if roundtrip else "plain"
)


def bound_resources():
    """No test may take the machine with it: lit's workers inherit these."""
    if lit.util.killProcessAndChildrenIsSupported()[0]:
        lit_config.maxIndividualTestTime = 60
    # Processor time needs no helper module and stops a process that spins.
    resource.setrlimit(resource.RLIMIT_CPU, (60, 120))
    # Sanitizers and the CUDA driver reserve more address space than exists.
    if not config.prism_sanitize and "gpu-device" not in config.available_features:
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))


def find_ptxas():
    """ptxas of a toolkit or of the PyPI wheel, or None."""
    homes = [os.environ.get(name, "") for name in ("CUDA_HOME", "CUDA_PATH")]
    found = [shutil.which(os.path.join(home, "bin", "ptxas")) for home in homes if home]
    found.append(shutil.which("ptxas"))
    found.append(shutil.which("/usr/local/cuda/bin/ptxas"))
    wheels = os.path.join(
        config.prism_source_dir, ".venv*/lib/python3*/site-packages/nvidia/cuda_nvcc/bin/ptxas"
    )
    found += sorted(glob.glob(wheels))
    return next((path for path in found if path), None)


def has_gpu():
    smi = shutil.which("nvidia-smi")
    if not smi:
        return False
    try:
        listing = subprocess.run([smi, "-L"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return listing.returncode == 0 and "GPU 0" in listing.stdout


def has_torch():
    """Has the Python of the tests PyTorch? It is not imported, which takes seconds."""
    search = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"
    return subprocess.run([config.python or "python3", "-c", search]).returncode == 0


if has_torch():
    config.available_features.add("torch")
ptxas = find_ptxas()
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))
    # The compiler looks in the same places; tests must not depend on the caller's shell.
    config.environment["CUDA_HOME"] = os.path.dirname(os.path.dirname(ptxas))
mlir_opt = os.path.join(config.llvm_tools_dir, "mlir-opt")
if os.path.exists(mlir_opt):
    config.available_features.add("mlir-opt")
    config.substitutions.append(("%mlir_opt", mlir_opt))
if has_gpu():
    config.available_features.add("gpu-device")
config.available_features.add("sanitizer" if config.prism_sanitize else "no-sanitizer")
bound_resources()

for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.environment["FILECHECK_OPTS"] = "--enable-var-scope --dump-input-filter=error"
config.environment["PRISM_SOURCE_DIR"] = config.prism_source_dir

from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.substitutions.append(("%python", config.python or "python3"))
config.substitutions.append(("%prism_src", config.prism_source_dir))
config.substitutions.append(("%prism_build", config.prism_binary_dir))
tools = [
    ToolSubst("prism-opt", extra_args=["--verify-roundtrip"] if roundtrip else []),
    ToolSubst("prism-calibrate", unresolved="ignore"),
    ToolSubst("prism-compile", unresolved="ignore"),
    ToolSubst("prism-run", unresolved="ignore"),
    ToolSubst("prism-lsp-server", unresolved="ignore"),
    ToolSubst("prism-reduce", unresolved="ignore"),
    ToolSubst("FileCheck"),
    ToolSubst("not"),
    ToolSubst("split-file"),
]
llvm_config.add_tool_substitutions(tools, [config.prism_tools_dir, config.llvm_tools_dir])
llvm_config.with_environment("PATH", config.prism_tools_dir, append_path=True)
llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
