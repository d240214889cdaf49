"""Calls with real PyTorch tensors on the CPU."""

import numpy as np
import prism
import pytest
import torch
from recurrence import H, K, V, check, inputs, reference, state


def tensors(batch, steps):
    arrays = inputs(batch, steps)
    return arrays, {name: torch.from_numpy(a.copy()) for name, a in arrays.items()}


def test_values(program):
    arrays, given = tensors(2, 20)
    outputs = program.forward(**given, initial_state=torch.from_numpy(state(2)))
    assert type(outputs.o) is torch.Tensor and outputs.o.device.type == "cpu"
    check([o.numpy() for o in outputs], reference(arrays, state(2)))


def test_nothing_is_copied(program):
    """A view of a larger tensor goes in as it is, and the state is updated where it lies."""
    arrays, given = tensors(2, 12)
    wide = torch.zeros(2, 12, H, 2 * K)
    wide[..., :K] = given["q"]
    head_first = given["k"].transpose(1, 2).contiguous().transpose(1, 2)
    S = torch.from_numpy(state(2))
    address = S.data_ptr()
    o, same = program.decode(
        **{**given, "q": wide[..., :K], "k": head_first}, initial_state=S, final_state=S
    )
    assert same is S and S.data_ptr() == address
    check([o.numpy(), S.numpy()], reference(arrays, state(2)))
    with pytest.raises(prism.ArgumentError, match="argument 'q': expected stride 1 along the last axis"):
        program.forward(**{**given, "q": wide[..., ::2]})


def test_bfloat16(bf16_program):
    arrays, given = tensors(2, 19)
    for name in "qkv":
        given[name] = given[name].bfloat16()
        arrays[name] = given[name].float().numpy()
    outputs = bf16_program.forward(**given)
    assert outputs.o.dtype == torch.bfloat16 and outputs.final_state.dtype == torch.float32
    check([o.float().numpy() for o in outputs], reference(arrays), limit=5e-3)


def test_parameters_and_gradients(program):
    arrays, given = tensors(1, 6)
    given["q"] = torch.nn.Parameter(given["q"])
    with pytest.raises(prism.ArgumentError, match="argument 'q': requires a gradient, which Prism does not compute"):
        program.forward(**given)
    with torch.no_grad():
        check([o.numpy() for o in program.forward(**given)], reference(arrays))
    with torch.inference_mode():
        check([o.numpy() for o in program.forward(**given)], reference(arrays))
    given["q"] = given["q"].detach()
    check([o.numpy() for o in program.forward(**given)], reference(arrays))


def test_wrong_tensors(program):
    _, given = tensors(1, 6)
    for wrong, text in (
        (given["q"].double(), "expected dtype f32, found f64"),
        (given["q"].int(), "expected dtype f32, found int32"),
        (given["q"].to("meta"), "argument 'q': "),
        (given["q"].to_sparse(), "argument 'q': "),
        (torch._neg_view(given["q"]), "pass tensor.resolve_neg()"),
    ):
        with pytest.raises(prism.ArgumentError) as caught:
            program.forward(**{**given, "q": wrong})
        assert text in str(caught.value) and caught.value.argument == "q"
        assert "\n" not in str(caught.value)


def test_numpy_beside_torch(program):
    """The library of the first array decides what comes out; all are on the CPU."""
    arrays, given = tensors(1, 6)
    offsets = np.array([0, 2, 6])
    outputs = program.forward(**given, offsets=offsets)
    assert type(outputs.o) is torch.Tensor
    check([o.numpy() for o in outputs], reference(arrays, offsets=offsets))
    assert isinstance(program.forward(**{**given, "q": arrays["q"]}).o, np.ndarray)


def test_subclasses(program):
    class Mine(torch.Tensor):
        pass

    arrays, given = tensors(1, 6)
    given["q"] = given["q"].as_subclass(Mine)
    check([o.numpy() for o in program.forward(**given)], reference(arrays))


def test_triton_beside_the_compiler(program):
    """Triton has an LLVM of its own, which must not meet ours."""
    triton = pytest.importorskip("triton")
    from triton._C.libtriton import ir

    context = ir.context()
    ir.load_dialects(context)
    assert triton.__version__
    arrays, given = tensors(1, 6)
    check([o.numpy() for o in prism.compile(program.spec).forward(**given)], reference(arrays))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_devices_that_are_not_taken(program):
    _, given = tensors(1, 6)
    with pytest.raises(prism.DeviceError, match="no kernel for cuda"):
        program.forward(**{name: tensor.cuda() for name, tensor in given.items()})


