"""Calls with real JAX arrays on the CPU."""

import jax
import jax.numpy as jnp
import numpy as np
import prism
import pytest
from recurrence import check, inputs, reference, state


def arrays_of(batch, steps):
    arrays = inputs(batch, steps)
    return arrays, {name: jnp.asarray(a) for name, a in arrays.items()}


def test_values(program):
    arrays, given = arrays_of(2, 20)
    outputs = program.forward(**given, initial_state=jnp.asarray(state(2)))
    assert isinstance(outputs.o, jax.Array) and outputs.o.dtype == jnp.float32
    check(outputs, reference(arrays, state(2)))
    # They are arrays like any other.
    assert np.allclose((outputs.o * 2).sum(), 2 * np.asarray(outputs.o).sum(), rtol=1e-5)


def test_bfloat16(bf16_program):
    arrays, given = arrays_of(2, 19)
    for name in "qkv":
        given[name] = given[name].astype(jnp.bfloat16)
        arrays[name] = np.asarray(given[name].astype(jnp.float32))
    outputs = bf16_program.forward(**given)
    assert outputs.o.dtype == jnp.bfloat16 and outputs.final_state.dtype == jnp.float32
    check(outputs, reference(arrays), limit=5e-3)


def test_never_written(program):
    _, given = arrays_of(1, 6)
    S = jnp.asarray(state(1))
    with pytest.raises(prism.ArgumentError, match="argument 'final_state': is written, and"):
        program.decode(**given, initial_state=S, final_state=S)
    assert np.array_equal(S, state(1))


def test_outputs_outlive_the_program():
    from recurrence import spec

    arrays, given = arrays_of(1, 6)
    program = prism.compile(spec(), target="cpu:x86-64-v3")
    outputs = program.forward(**given)
    del program
    check(outputs, reference(arrays))
