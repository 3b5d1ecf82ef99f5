"""What programs cost: for benchmarks, which find this file in the folder above theirs."""

import os
import subprocess
import sys

# A process counts the memory of the one that it was forked from, so a small one does that.
MEASURE = """
import os, sys
child = os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(child, 0)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, status)
"""


def measure(command, folder, path, timeout=None):
    """(CPU seconds, peak MB, its last line where it failed) of a command with its children. With a timeout, in
    seconds of elapsed time, one that takes longer ends with all its children and has failed."""
    process = subprocess.Popen([sys.executable, "-I", "-S", "-c", MEASURE, *map(str, command)], cwd=folder,
                               env=dict(os.environ, PATH=path), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, errors="replace", start_new_session=True)
    try:
        out, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        return 0.0, 0.0, f"{os.path.basename(command[0])} takes longer than {timeout} s"
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command[0], out)
    *text, figures = out.strip().splitlines()
    seconds, memory, status = map(float, figures.split())
    return seconds, memory, (text or ["no message"])[-1] if status else ""
