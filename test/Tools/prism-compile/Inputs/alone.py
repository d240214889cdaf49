"""A sequence alone and in a batch: bits of all outputs. usage: alone.py RUN BUNDLE SAMPLES FOLDER

SAMPLES holds inputs of several sequences, sequences first.
"""

import pathlib
import subprocess
import sys

import numpy as np

run, bundle, samples, folder = sys.argv[1:]
folder = pathlib.Path(folder)
inputs = {path.stem: np.load(path) for path in pathlib.Path(samples).glob("*.npy") if ".expected" not in path.name}


def outputs(name, arrays):
    (folder / name).mkdir(parents=True)
    command = [run, bundle, "forward"]
    for key, array in arrays.items():
        np.save(folder / name / f"{key}.npy", np.ascontiguousarray(array))
        command += ["--in", f"{key}={folder / name / key}.npy"]
    for key in ("o", "final_state"):
        command += ["--out", f"{key}={folder / name / key}.npy"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return [np.load(folder / name / f"{key}.npy") for key in ("o", "final_state")]


together = outputs("together", inputs)
for i in range(len(together[0])):
    alone = outputs(f"alone{i}", {key: array[i : i + 1] for key, array in inputs.items()})
    same = all(a.tobytes() == b[i : i + 1].tobytes() and a.any() for a, b in zip(alone, together))
    print(f"sequence {i}: {'the same bits' if same else 'DIFFERS'}")
