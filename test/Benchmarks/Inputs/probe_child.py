"""Stands in for gpu_probe.py's child: the second case hangs, the fourth dies."""

import sys
import time

print("ready", flush=True)
for name in sys.argv[3:]:
    if "32768x1 (16,32)" in name:
        time.sleep(60)
    if "4096x8" in name:
        sys.exit("an illegal memory access")
    print(name, flush=True)
