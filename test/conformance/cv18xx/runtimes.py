"""The outputs of .cvimodel files on the vendor's runtime (PyPI package tpu-mlir 1.30.2, Python 3.10)
and on ours, as they are stored: both must have the same names, types and bytes."""

import hashlib
import pathlib
import shutil
import subprocess
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from vendor_compiler import Failure  # noqa: E402

CHIPS = ["cv183x", "cv182x", "cv181x", "cv180x"]

# One process for each file, since the vendor's library keeps the first chip that it sees. BF16 is
# widened, as our runner does, which keeps all bits.
VENDOR_RUN = r"""
import sys, numpy, tpu_mlir
import pyruntime_cvi
from utils.lowering import lowering
model = pyruntime_cvi.Model(sys.argv[1], output_all_tensors=False)
given = numpy.load(sys.argv[2])
for tensor in model.inputs:
    value = given[tensor.name] if tensor.name in given.files else None
    if value is None and len(model.inputs) == len(given.files) == 1: value = given[given.files[0]]
    if value is None: sys.exit(f'no input {tensor.name}')
    if value.size != tensor.data.size: sys.exit(f'{tensor.name}: {value.size} values')
    stored = value if value.dtype == tensor.data.dtype else lowering(
        value, pdtype=tensor.dtype, pshape=value.shape, pzero_point=tensor.qzero_point,
        pscale=tensor.qscale)
    tensor.data.reshape(-1)[:] = stored.flatten()
model.forward()
def raw(tensor):
    data = numpy.array(tensor.data)
    if tensor.dtype != 'bf16': return data
    return (data.view(numpy.uint16).astype(numpy.uint32) << 16).view(numpy.float32)
numpy.savez(sys.argv[3], **{t.name: raw(t) for t in model.outputs})
"""


def digest(*parts):
    """A number for files (paths) and texts together."""
    made = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if isinstance(part, pathlib.Path) else str(part).encode()
        made.update(len(data).to_bytes(8, "little") + data)
    return made.hexdigest()


def fresh_folder(folder, *parts):
    """The folder, empty unless what it holds was made of the same parts as `digest` takes."""
    stamp = folder / "made_of"
    wanted = digest(*parts)
    if not stamp.exists() or stamp.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        stamp.write_text(wanted)
    return folder


def least_cosine(first, second):
    """Of the outputs of two runs, one by one."""
    if len(first.files) != len(second.files):
        raise Failure(f"outputs {sorted(first.files)} and {sorted(second.files)}")
    least = 1.0
    for name, other in zip(first.files, second.files):
        a, b = (values.astype(numpy.float64).reshape(-1) for values in (first[name], second[other]))
        if a.size != b.size:
            raise Failure(f"{name}: {a.size} and {b.size} elements")
        if numpy.array_equal(a, b):
            continue
        norms = numpy.linalg.norm(a) * numpy.linalg.norm(b)
        least = min(least, float(a @ b / norms) if norms else 0.0, 1 - 1e-9)
    return least


class Runtimes:
    def __init__(self, compiler, tools):
        self.compiler = compiler
        self.tools = pathlib.Path(tools).resolve()
        self.answers = compiler.work / "answers"
        self.answers.mkdir(parents=True, exist_ok=True)
        self.version = compiler.python(
            "import importlib.metadata as m; print(m.version('tpu_mlir'))", compiler.work).strip()

    def ours(self, *command):
        """What one of our programs prints. Failures are exceptions."""
        done = subprocess.run([self.tools / command[0], *map(str, command[1:])],
                              capture_output=True, text=True)
        if done.returncode:
            raise Failure((done.stderr.strip() or f"{command[0]} fails").splitlines()[-1])
        return done.stdout

    def vendor_outputs(self, file, inputs):
        """Answers are kept by what was asked."""
        answer = self.answers / f"{digest(self.version, VENDOR_RUN, file, inputs)}.npz"
        if not answer.exists():
            made = answer.with_name(f"made_{answer.name}")
            self.compiler.python(VENDOR_RUN, self.answers, file, inputs, made)
            made.rename(answer)
        return numpy.load(answer)

    def our_outputs(self, file, inputs):
        made = file.with_suffix(".ours.npz")
        made.unlink(missing_ok=True)
        self.ours("model_runner", "--model", file, "--input", inputs, "--out_fixed", "--output", made)
        return numpy.load(made)

    def module_outputs(self, module, inputs, made):
        made.unlink(missing_ok=True)
        self.ours("model_runner", "--model", module, "--input", inputs, "--out_fixed", "--output", made)
        return numpy.load(made)

    def likeness(self, file, lowered, top, inputs):
        """The least cosines between the outputs of a file and of its lowered network, of the file and of
        the network in floats, and of the latter two, all on our programs. Of equal bits it is 1, of
        others less."""
        got = self.our_outputs(file, inputs)
        of_lowered = self.module_outputs(lowered, inputs, file.with_suffix(".lowered.npz"))
        of_top = self.module_outputs(top, inputs, file.with_suffix(".float.npz"))
        return tuple(least_cosine(a, b) for a, b in ((got, of_lowered), (got, of_top), (of_lowered, of_top)))

    def difference(self, file, inputs):
        """What differs between the outputs of both, or nothing."""
        try:
            # It decodes each command and encodes it again.
            self.ours("model_tool", "--dump_commands", file)
            theirs, got = self.vendor_outputs(file, inputs), self.our_outputs(file, inputs)
        except Failure as failure:
            return str(failure)
        if set(theirs.files) != set(got.files) or not got.files:
            return f"outputs {sorted(got.files)}; theirs are {sorted(theirs.files)}"
        for name in theirs.files:
            a, b = theirs[name], got[name]
            if a.dtype != b.dtype or a.size != b.size or a.size == 0:
                return f"{name}: {b.size} of {b.dtype}; theirs are {a.size} of {a.dtype}"
            octets = [numpy.frombuffer(values.tobytes(), numpy.uint8) for values in (a, b)]
            count = int((octets[0] != octets[1]).sum())
            if count:
                return f"{name}: {count} of {octets[0].size} bytes differ"
        return None
