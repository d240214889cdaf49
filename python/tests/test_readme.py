"""The Python examples of README and docs/Python.md do what they say."""

import os
import re

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def examples():
    for page in ("README.md", os.path.join("docs", "Python.md")):
        with open(os.path.join(ROOT, page), encoding="utf-8") as file:
            blocks = re.findall(r"^```python\n(.*?)^```", file.read(), flags=re.S | re.M)
        for number, block in enumerate(blocks):
            if "import torch" not in block and "import jax" not in block:
                yield pytest.param(block, id=f"{os.path.basename(page)}-{number}")


@pytest.mark.parametrize("block", list(examples()))
def test_example(block, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    namespace = {}
    exec(block.replace("out/", f"{tmp_path}/"), namespace)  # asserts inside are part of the example
    assert "program" in namespace
