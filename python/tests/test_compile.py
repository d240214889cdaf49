"""prism.compile: what it takes, and what it says."""

import json
import logging
import os
import subprocess
import sys
import threading

import prism
import pytest
from recurrence import check, inputs, reference, spec

MODULE = """
func.func @forward(%a: tensor<?x?x4xf32>) -> tensor<?x?x4xf32> {
  %b = arith.addi %a, %a : tensor<?x?x4xf32>
  return %b : tensor<?x?x4xf32>
}
"""


def wrong_spec():
    wrong = spec()
    wrong["steps"][1]["erase"]["strength"] = "betta"
    return wrong


def test_takes_a_dict_a_text_and_a_path(tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(spec()))
    arrays = inputs(1, 5)
    for given in (spec(), json.dumps(spec()), path, str(path)):
        check(prism.compile(given).forward(**arrays), reference(arrays))


def test_error_of_a_file_has_its_place(tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(wrong_spec(), indent=1))
    with pytest.raises(prism.SpecError) as caught:
        prism.compile(path)
    error = caught.value
    assert error.file == str(path)
    lines = path.read_text().split("\n")
    assert '"betta"' in lines[error.line - 1]
    assert lines[error.line - 1].index('"betta"') == error.column - 1
    assert error.pointer == "/steps/1/erase/strength"
    assert error.nearest == "beta"
    assert error.message == "unknown name 'betta', expected an input or a let (q, k, v, g or beta)"
    where = f"{path}:{error.line}:{error.column}"
    assert str(error) == f"{where}: error: {error.pointer}: {error.message}; did you mean 'beta'?"
    assert isinstance(error, ValueError) and isinstance(error, prism.PrismError)


def test_error_of_a_dict_has_a_pointer_and_no_line():
    for function in (prism.compile, prism.expand):
        with pytest.raises(prism.SpecError) as caught:
            function(wrong_spec())
        error = caught.value
        assert (error.file, error.line, error.column) == (None, None, None)
        assert error.pointer == "/steps/1/erase/strength"
        assert str(error) == (
            "/steps/1/erase/strength: unknown name 'betta', expected an input or a let (q, k, v, g or beta); "
            "did you mean 'beta'?"
        )


def test_errors_of_texts():
    with pytest.raises(prism.SpecError) as caught:
        prism.compile('{ "prism_spec": 1, }')
    assert caught.value.file == "spec" and caught.value.line == 1 and caught.value.pointer == ""
    with pytest.raises(prism.SpecError, match="the spec is no JSON: Object of type set"):
        prism.compile({"dims": {1, 2}})
    with pytest.raises(prism.SpecError, match="the spec is no JSON"):
        prism.compile({"scale": float("nan")})
    with pytest.raises(TypeError, match="spec: expected a dict, a JSON text or a path, found list"):
        prism.compile([1])
    with pytest.raises(FileNotFoundError):
        prism.compile("no-such-model.json")


def test_errors_of_options():
    for options, text in (
        ({"target": "gpu"}, "target: "),
        ({"target": ["cpu", "cpu:x86-64-v9"]}, "x86-64-v9"),
        ({"entries": "forwards"}, "no entry 'forwards'; did you mean 'forward'?"),
        ({"plan": {"chunks": 3}}, "/chunks: unknown key 'chunks'; did you mean 'chunk'?"),
    ):
        with pytest.raises(prism.CompileError) as caught:
            prism.compile(spec(), **options)
        assert text in str(caught.value)
    with pytest.raises(prism.CompileError) as caught:
        prism.compile(spec(), plan='{"chunks": 3}')
    error = caught.value
    assert str(error) == "plan:1:2: error: /chunks: unknown key 'chunks'; did you mean 'chunk'?"
    assert (error.file, error.line, error.column, error.pointer, error.nearest) == ("plan", 1, 2, "/chunks", "chunk")
    with pytest.raises(prism.CompileError) as caught:
        prism.compile(spec(), plan={"chunks": 3})
    assert (caught.value.line, caught.value.pointer) == (None, "/chunks")
    # So has what only the model shows to be wrong.
    with pytest.raises(prism.CompileError) as caught:
        prism.compile(spec(), plan='{"value_block": 4096}')
    assert (caught.value.file, caught.value.line, caught.value.column, caught.value.pointer) == ("plan", 1, 17, "/value_block")
    with pytest.raises(prism.CompileError) as caught:
        prism.compile(spec(), plan={"value_block": 4096})
    assert str(caught.value).startswith("/value_block: expected a value_block of at most ")
    with pytest.raises(TypeError, match="target: expected strings, found int"):
        prism.compile(spec(), target=[3])


def test_modules_and_diagnostics():
    told = []
    with pytest.raises(prism.CompileError) as caught:
        prism.compile(MODULE, is_module=True, on_diagnostic=told.append)
    error = caught.value
    assert (error.file, error.line) == ("module", 3)
    assert [str(diagnostic) for diagnostic in told] == [str(error)]
    assert told[0].severity == "error" and told[0].line == 3


def test_what_a_callback_raises_comes_out():
    def raising(what):
        raise KeyError(what)

    with pytest.raises(KeyError):
        prism.compile(spec(), on_progress=raising)
    told = []
    prism.compile(spec(), on_progress=told.append)
    assert told[0] == "entry forward, schedule chunk, cpu"


def test_notes_go_to_the_log(caplog):
    with caplog.at_level(logging.DEBUG, "prism"):
        with pytest.raises(prism.CompileError):
            prism.compile(MODULE, is_module=True)
    assert any("arith.addi" in record.getMessage() for record in caplog.records)


def test_plans_and_targets():
    program = prism.compile(spec(), target="cpu:x86-64-v3", entries="forward", plan={"schedule": "chunk", "chunk": 8})
    assert list(program.entries) == ["forward"]
    assert {(k.target, k.schedule, k.chunk) for k in program.entries["forward"].kernels} == {
        ("cpu:x86-64-v3", "chunk", 8)
    }
    arrays = inputs(2, 21)
    check(program.forward(**arrays), reference(arrays))


def costs(state, scores):
    """A calibration in which passes over the state and scores of a chunk cost so much, and all else nothing."""
    work = ["decayed_product", "transpose", "function", "elementwise", "tile", "chunk", "step_read", "near_byte"]
    level = dict.fromkeys([*work, "far_byte"], 0)
    level.update(product=1e-9, masked_product=scores, state_vector=state, step_update=1000)
    return {"prism_calibration": 1, "cache_bytes": 0, "levels": {"x86-64-v3": level}}


def test_calibrations(tmp_path):
    def chunk(calibration):
        program = prism.compile(spec(), target="cpu:x86-64-v3", entries="forward", calibration=calibration)
        return program.entries["forward"].kernels[0].chunk

    (tmp_path / "cpu.json").write_text(json.dumps(costs(state=10, scores=1e-9)))
    assert chunk(costs(state=10, scores=1e-9)) == chunk(tmp_path / "cpu.json") == 64
    assert chunk(costs(state=1e-9, scores=10)) == chunk(json.dumps(costs(state=1e-9, scores=10))) == 4


def test_errors_of_calibrations(tmp_path):
    wrong = costs(1, 1)
    wrong["levels"]["x86-64-v3"]["products"] = 1
    (tmp_path / "cpu.json").write_text(json.dumps(wrong))
    for given, place in ((wrong, (None, None)), (tmp_path / "cpu.json", (str(tmp_path / "cpu.json"), 1))):
        with pytest.raises(prism.CompileError) as caught:
            prism.compile(spec(), calibration=given)
        assert (caught.value.file, caught.value.line) == place
        assert (caught.value.pointer, caught.value.nearest) == ("/levels/x86-64-v3/products", "product")
    with pytest.raises(prism.CompileError, match="calibration: expected a CPU among the targets, found cuda:sm_90a"):
        prism.compile(spec(), target="cuda:sm_90a", calibration=costs(1, 1))
    with pytest.raises(OSError):
        prism.compile(spec(), calibration=tmp_path / "absent.json")


def test_ptx_without_ptxas():
    program = prism.compile(spec(), target=["cpu", "cuda:sm_90a"], assemble=False)
    targets = {kernel.target for kernel in program.entries["forward"].kernels}
    assert targets == {"cpu:x86-64-v3", "cpu:x86-64-v4", "cuda:sm_90a"}


def test_expand():
    text = prism.expand({"prism_spec": 1, "family": "linear_attention", "dims": {"H": 2, "K": 16, "V": 16}})
    assert "family" not in json.loads(text)
    assert prism.expand(text) == text


def test_in_threads():
    results = {}

    def work(index):
        arrays = inputs(1, 10 + index, seed=index)
        try:
            model = wrong_spec() if index % 3 == 2 else spec(reverse=False)
            check(prism.compile(model).forward(**arrays), reference(arrays))
            results[index] = "ok"
        except prism.SpecError as error:
            results[index] = error.nearest

    threads = [threading.Thread(target=work, args=(index,)) for index in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [results[index] for index in range(6)] == ["ok", "ok", "beta"] * 2


def test_process_without_path_and_without_the_compiler(tmp_path):
    """Compiling needs no PATH; running a bundle needs no compiler."""
    environment = {key: os.environ[key] for key in ("PYTHONPATH", "LD_LIBRARY_PATH") if key in os.environ}
    environment["PATH"] = ""
    bundle = tmp_path / "bundle"
    compiling = f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r}); import prism, recurrence\n"
    compiling += f"prism.compile(recurrence.spec()).save({str(bundle)!r})"
    subprocess.run([sys.executable, "-c", compiling], env=environment, check=True, timeout=120)
    running = f"""
import prism, sys
sys.path.insert(0, {os.path.dirname(__file__)!r})
import recurrence
program = prism.load({str(bundle)!r})
arrays = recurrence.inputs(1, 7)
recurrence.check(program.forward(**arrays), recurrence.reference(arrays))
try:
    prism.compile(recurrence.spec())
except prism.CompilerNotFoundError as error:
    print(error)
assert "libMLIR" not in open("/proc/self/maps").read()
"""
    environment["PRISM_COMPILER_LIBRARY"] = "/no/such/compiler.so"
    done = subprocess.run(
        [sys.executable, "-c", running], env=environment, check=True, timeout=120, capture_output=True, text=True
    )
    assert done.stdout.startswith("cannot load the compiler: /no/such/compiler.so")


def test_versions():
    assert prism.compiler_version().startswith(f"prism {prism.__version__} (LLVM 22.")
