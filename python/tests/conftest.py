import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))

import prism  # noqa: E402
import recurrence  # noqa: E402


@pytest.fixture(scope="session")
def program():
    return prism.compile(recurrence.spec())


@pytest.fixture(scope="session")
def bf16_program():
    return prism.compile(recurrence.spec("bf16"))
