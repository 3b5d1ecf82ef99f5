"""usage: activations.py WHOLE.cvimodel PARTS.cvimodel MOST: fails where the second file needs more than MOST times the
activations of the first one."""

import json
import subprocess
import sys


def bytes_of(file):
    shown = subprocess.run(["model_tool", "--print", file], check=True, capture_output=True, text=True).stdout
    return json.loads(shown)["programs"][0]["shared_bytes"]


whole, parts = map(bytes_of, sys.argv[1:3])
print(f"{whole} bytes, in parts {parts}")
sys.exit(0 if parts <= float(sys.argv[3]) * whole else 1)
