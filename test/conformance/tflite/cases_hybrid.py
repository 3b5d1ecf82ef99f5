"""Dynamic range: weights of 8-bit integers beside floats, which LiteRT multiplies with inputs that it rounds to 8
bits at run time, row by row. tpuc computes the same with --hybrid."""

import itertools

import numpy as np

from cases import NONE, RELU, RELU6, SAME, TANH, VALID, Given, State, add, ints, weights


class Stored:
    """Integers that stand for `numbers` with a scale for all, or one for each index of `axis`."""

    def __init__(self, numbers, axis=None):
        others = tuple(each for each in range(numbers.ndim) if each != axis)
        most = np.abs(numbers).max(axis=others if axis is not None else None)
        self.scale, self.axis = (most / 127).astype(np.float32), axis or 0
        shape = [1] * numbers.ndim
        if axis is not None:
            shape[axis] = -1
        self.array = np.rint(numbers / np.reshape(self.scale, shape)).astype(np.int8)


def stored(*shape, seed=1, axis=None):
    return Stored(weights(*shape, seed=seed), axis)


def hybrid(name, op, inputs, outputs=("float32",), options=None, **fields):
    add(f"hybrid.{name}", op, inputs, outputs, options, hybrid=True, **fields)


for asymmetric, act in itertools.product((False, True), (NONE, RELU)):
    more = {"asymmetricQuantizeInputs": asymmetric, "fusedActivationFunction": act}
    for axis, shape, biased in itertools.product((None, 0), ((3, 40), (2, 2, 8)), (False, True)):
        label = f"{asymmetric}.{act}.{axis}.{len(shape)}.{biased}"
        hybrid(label, "FULLY_CONNECTED",
               [Given(shape), stored(5, shape[-1], axis=axis), weights(5) if biased else None], options="FullyConnectedOptions",
               version=9, **more)
for padding, stride, act, axis in itertools.product((SAME, VALID), (1, 2), (NONE, RELU6), (None, "channels")):
    window = {"padding": padding, "strideW": stride, "strideH": stride, "fusedActivationFunction": act}
    label = f"{padding}.{stride}.{act}.{axis}"
    hybrid(label, "CONV_2D", [Given((2, 9, 8, 3)), stored(5, 3, 2, 3, axis=0 if axis else None), weights(5)],
           options="Conv2DOptions", version=2, **window)
    # With one scale, LiteRT reads others behind it.
    for multiplier in (1, 2) if axis else ():
        hybrid(f"{label}.{multiplier}", "DEPTHWISE_CONV_2D",
               [Given((2, 9, 8, 3)), stored(1, 3, 2, 3 * multiplier, axis=3 if axis else None), weights(3 * multiplier)],
               options="DepthwiseConv2DOptions", version=3, depthMultiplier=multiplier, **window)
for axis in (None, 0):
    hybrid(f"{axis}.groups", "CONV_2D", [Given((1, 6, 6, 4)), stored(6, 3, 3, 2, axis=axis), weights(6)],
           options="Conv2DOptions", version=2, padding=SAME, strideW=1, strideH=1)
    hybrid(f"{axis}.dilated", "CONV_2D", [Given((1, 8, 8, 4)), stored(6, 3, 3, 4, axis=axis), weights(6)],
           options="Conv2DOptions", version=2, padding=SAME, strideW=1, strideH=1, dilationWFactor=2, dilationHFactor=2)
    hybrid(f"{axis}.long", "CONV_2D", [Given((1, 4, 4, 300)), stored(6, 3, 3, 300, axis=axis), weights(6)],
           options="Conv2DOptions", version=2, padding=SAME, strideW=1, strideH=1)
    hybrid(f"{axis}.transposed", "TRANSPOSE_CONV",
           [ints(1, 8, 10, 5), stored(5, 3, 2, 3, axis=axis), Given((1, 4, 5, 3)), weights(5)],
           options="TransposeConvOptions", version=3, padding=SAME, strideW=2, strideH=2)
for asymmetric, right, batch in itertools.product((False, True), (False, True), ((), (2,))):
    hybrid(f"{asymmetric}.{right}.{len(batch)}", "BATCH_MATMUL",
           [Given((*batch, 4, 6)), stored(*batch, *((3, 6) if right else (6, 3)))], options="BatchMatMulOptions", adjY=right,
           asymmetricQuantizeInputs=asymmetric, version=4)
hybrid("rows", "EMBEDDING_LOOKUP", [ints(1, 0, 3), stored(5, 4)], version=3)
for name, other in (("zeros", Given((3, 40), low=0, high=0)), ("positive", Given((3, 40), low=.5)),
                    ("negative", Given((3, 40), high=-.5))):
    for asymmetric in (False, True):
        hybrid(f"{name}.{asymmetric}", "FULLY_CONNECTED", [other, stored(5, 40), weights(5)], options="FullyConnectedOptions",
               version=9, asymmetricQuantizeInputs=asymmetric)

for asymmetric, (samples, steps, size, units) in itertools.product((False, True), ((1, 1, 3, 4), (2, 5, 3, 4))):
    cell = [stored(units, size), stored(units, units, seed=2), weights(units, seed=3), State((samples, units))]
    more = {"asymmetricQuantizeInputs": asymmetric}
    for activation in (TANH, RELU):
        label = f"{asymmetric}.{samples}.{activation}"
        hybrid(label, "RNN", [Given((samples, size)), *cell], options="RNNOptions", fusedActivationFunction=activation,
               version=3, **more)
        for major in (False, True):
            shape = (steps, samples, size) if major else (samples, steps, size)
            hybrid(f"{label}.{major}", "UNIDIRECTIONAL_SEQUENCE_RNN", [Given(shape), *cell], options="SequenceRNNOptions",
                   fusedActivationFunction=activation, timeMajor=major, version=3, **more)
    for rank, memory, biased in itertools.product((1, 2), (1, 4), (False, True)):
        hybrid(f"{asymmetric}.{samples}.{rank}.{memory}.{biased}", "SVDF",
               [Given((samples, size)), stored(units * rank, size), stored(units * rank, memory, seed=2),
                weights(units, seed=3) if biased else None, State((samples, memory * units * rank))], options="SVDFOptions",
               rank=rank, fusedActivationFunction=NONE, version=4, **more)


def cell(size, units, outputs, seed, coupled=False, peepholes=False, projection=False, norms=False):
    """The constants of an LSTM cell in the order of the format, and those of its norms."""
    seeds = itertools.count(seed)
    left_out = (0,) if coupled else ()

    def gates(make, *shape):
        return [None if gate in left_out else make(*shape, seed=next(seeds)) for gate in range(4)]
    made = gates(stored, units, size) + gates(stored, units, outputs)
    made += [stored(units, seed=next(seeds)) if peepholes and gate not in left_out else None for gate in range(3)]
    made += gates(weights, units)
    made.append(stored(outputs, units, seed=next(seeds)) if projection else None)
    made.append(weights(outputs, seed=next(seeds)) if projection else None)
    return made, gates(weights, units) if norms else []


KINDS = {"plain": {}, "coupled": {"coupled": True}, "peepholes": {"peepholes": True}, "projection": {"projection": True},
         "norms": {"norms": True}, "all": {"peepholes": True, "projection": True, "norms": True},
         "coupled_all": {"coupled": True, "peepholes": True, "projection": True, "norms": True}}
for (name, kind), asymmetric in itertools.product(KINDS.items(), (False, True)):
    for samples, steps, size, units in ((1, 3, 4, 5), (2, 4, 3, 6)):
        outputs = 3 if "projection" in kind else units
        constants, norms = cell(size, units, outputs, 30, **kind)
        states = [State((samples, outputs)), State((samples, units))]
        label = f"{name}.{asymmetric}.{samples}"
        more = {"asymmetricQuantizeInputs": asymmetric, "fusedActivationFunction": TANH}
        hybrid(label, "LSTM", [Given((samples, size)), *constants, *states, *norms], options="LSTMOptions", version=4, **more)
        for major in (False, True):
            shape = (steps, samples, size) if major else (samples, steps, size)
            hybrid(f"{label}.{major}", "UNIDIRECTIONAL_SEQUENCE_LSTM", [Given(shape), *constants, *states, *norms],
                   options="UnidirectionalSequenceLSTMOptions", timeMajor=major, version=3, **more)
        if norms:
            continue
        ahead, behind = (cell(size, units, outputs, seed, **kind)[0] for seed in (60, 90))
        states = [State((samples, each)) for each in (outputs, units, outputs, units)]
        for other in ("none", "crossed"):
            crossed = [stored(units, size, seed=120 + gate) if "coupled" not in kind or gate % 4 else None
                       for gate in range(8)]
            last = [None] * 9 if other == "none" else [Given((steps, samples, size)), *crossed]
            hybrid(f"{label}.{other}", "BIDIRECTIONAL_SEQUENCE_LSTM",
                   [Given((steps, samples, size)), *ahead, *behind, *states, *last], ["float32"] * 2,
                   "BidirectionalSequenceLSTMOptions", timeMajor=True, mergeOutputs=False, version=3, **more)
# With the steps first, what LiteRT gives for early ones changes with the inputs of later ones.
for asymmetric, other in itertools.product((False, True), ("none", "crossed")):
    samples, steps, size, units = 2, 4, 3, 5
    cells = [[stored(units, size, seed=seed), stored(units, units, seed=seed + 1), weights(units, seed=seed + 2),
              State((samples, units))] for seed in (150, 160)]
    shape = (samples, steps, size)
    more = [None] * 3 if other == "none" else [Given(shape), stored(units, size, seed=170), stored(units, size, seed=171)]
    hybrid(f"{asymmetric}.False.{other}", "BIDIRECTIONAL_SEQUENCE_RNN", [Given(shape), *cells[0], *cells[1], *more],
           ["float32"] * 2, "BidirectionalSequenceRNNOptions", fusedActivationFunction=TANH, timeMajor=False,
           mergeOutputs=False, asymmetricQuantizeInputs=asymmetric, version=3)
