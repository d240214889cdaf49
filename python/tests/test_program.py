"""What a program says of itself; saving and loading."""

import inspect
import os
import pickle
import pydoc

import numpy as np
import prism
import pytest
from recurrence import H, K, V, check, inputs, reference


def test_repr(program):
    lines = repr(program).split("\n")
    assert lines[0] == f"<prism program delta_rule, {program.compiler}>"
    assert lines[1] == "forward, for cpu:x86-64-v3, cpu:x86-64-v4"
    assert "     q              f32 [B, T, 2, 8]" in lines
    assert "     offsets        i64 [N+1] optional" in lines
    assert "  -> o              f32 [B, T, 2, 4]" in lines


def test_help(program):
    text = pydoc.render_doc(program, renderer=pydoc.plaintext)
    # Newer versions break long signatures into lines.
    signature = "forward(self, /, *, q, k, v, g, beta, initial_state=None, offsets=None, o=None, final_state=Ellipsis"
    assert signature.replace(" ", "") in "".join(text.replace("|", "").split())
    assert "f32 [B, T, 2, 8], axes bthk" in text
    assert "prism.ArgumentError" in text
    assert 'pins a schedule ("chunk", "recurrent")' in text
    assert inspect.signature(program.decode).parameters["q"].kind is inspect.Parameter.KEYWORD_ONLY
    assert "Runs the entry 'decode'" in program.decode.__doc__


def test_arguments(program):
    entry = program.entries["forward"]
    assert entry.arguments[0] == ("q", "input", "f32", "bthk", ("B", "T", H, K), False)
    assert [a.name for a in entry.arguments if a.is_output] == ["o", "final_state"]
    assert entry.Outputs._fields == ("o", "final_state")
    assert entry.shapes(B=2, T=65)["initial_state"] == (2, H, K, V)
    packed = entry.shapes(T=65, N=3)
    assert (packed["q"], packed["offsets"], packed["final_state"]) == ((1, 65, H, K), (4,), (3, H, K, V))
    assert {kernel.schedule for kernel in entry.kernels} == {"chunk", "recurrent"}


def test_manifest(program):
    assert program.manifest["name"] == program.name == "delta_rule"
    assert program.spec["dims"]["K"] == K
    assert prism.compile(program.spec).spec == program.spec


def test_no_such_entry(program):
    with pytest.raises(AttributeError):
        program.backward(q=1)
    with pytest.raises(TypeError, match="programs are made by prism.compile"):
        prism.Program()
    assert isinstance(program, prism.Program)


def test_names_that_python_has_taken():
    """Inputs named as keywords or as the options of a call."""
    model = {
        "prism_spec": 1,
        "name": "odd_names",
        "dims": {"H": 1, "K": 2, "V": 2},
        "inputs": {n: ["B", "T", "H", "K"] for n in ("lambda", "self", "stream", "cls")},
        "steps": [
            {"inject": {"key": "lambda", "value": "self"}},
            {"inject": {"key": "cls", "value": "self"}},
            {"read": {"query": "stream", "output": "class"}},
        ],
    }
    model["inputs"]["self"] = ["B", "T", "H", "V"]
    program = prism.compile(model)
    ones = np.ones((1, 1, 1, 2), "f4")
    outputs = program.forward(**{"lambda": ones, "self": ones, "stream": ones, "cls": ones})
    assert np.array_equal(outputs[0], 4 * ones)
    # The option of the same name is there by run().
    assert program.entries["forward"].run(
        {"lambda": ones, "self": ones, "stream": ones, "cls": ones}, schedule="recurrent"
    )[0].tolist() == [[[[4, 4]]]]


def test_save_and_load(program, tmp_path):
    path = tmp_path / "a" / "bundle"
    program.save(path)
    loaded = prism.load(path)
    assert loaded.manifest == program.manifest
    assert sorted(os.listdir(path))[-2:] == ["manifest.json", "prism_delta_rule.h"]
    arrays = inputs(2, 20)
    check(loaded.forward(**arrays), reference(arrays))
    loaded.save(path)  # over itself
    check(loaded.decode(**arrays), reference(arrays))
    with pytest.raises(prism.BundleError, match="exists and is no bundle"):
        program.save(tmp_path)
    with pytest.raises(ValueError, match="path: holds a null character"):
        prism.load("a\0b")
    with pytest.raises(prism.BundleError, match="No such file or directory"):
        prism.load(tmp_path / "none")
    (path / "manifest.json").write_text("{}")
    with pytest.raises(prism.BundleError, match="manifest.json"):
        prism.load(path)


def test_programs_are_not_pickled(program):
    with pytest.raises((TypeError, pickle.PicklingError)):
        pickle.dumps(program)
