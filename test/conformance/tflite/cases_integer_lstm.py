"""LSTM cells of 8-bit integers, whose gates and content have 16 bits: coupled gates, peepholes, projections, norms,
limits, scales that cut gates off."""

import itertools

import numpy as np

from cases import CASES, TANH, Given
from network import Network

FULL_GATES = 4


def add_cell(name, op, shape, units, seed=1, outputs=None, coupled=False, peepholes=False, projected=None, normed=False,
             content=-11, input_scale=.01, output_scale=.008, zeros=(3, -7, 5), loud=1., **fields):
    """`shape`: of the input, the samples or steps first. `projected`: None, "filter" or "bias". `zeros`: of input,
    hidden state and output. `loud`: by how much weights exceed what keeps gates small."""
    random = np.random.default_rng(seed)
    outputs = outputs or units
    net = Network()
    given = net.tensor(shape, "int8", name="in0", scale=input_scale, zero=zeros[0])
    net.graph.inputs = [given]

    def integers(dims, low, high, dtype, scale):
        return net.constant(random.integers(low, high + 1, dims).astype(dtype), scale=scale)

    def gates(make, without=()):
        without = (*without, 0) if coupled else without
        return [-1 if gate in without else make(gate) for gate in range(FULL_GATES)]

    def near(scale):
        return np.float32(scale * loud * random.uniform(.7, 1.3))
    filters = gates(lambda _: integers((units, shape[-1]), -127, 127, "int8", near(.02)))
    recurrences = gates(lambda _: integers((units, outputs), -127, 127, "int8", near(.02)))
    looks = gates(lambda _: integers((units,), -32767, 32767, "int16", near(2e-5)) if peepholes else -1, without=(2,))
    biases = gates(lambda _: integers((units,), -3000, 3000, "int32", np.float32(2e-4)))
    projection = [integers((outputs, units), -127, 127, "int8", near(.01)) if projected else -1,
                  integers((outputs,), -900, 900, "int32", np.float32(1e-4)) if projected == "bias" else -1]
    states = [net.tensor((shape[0], outputs), "int8", scale=output_scale, zero=zeros[2]),
              net.tensor((shape[0], units), "int16", scale=2. ** content)]
    samples = shape[0] if len(shape) == 2 or not fields.get("timeMajor") else shape[1]
    for state in states:
        net.graph.tensors[state].isVariable = True
        net.graph.tensors[state].shape[0] = samples
    norms = gates(lambda _: integers((units,), -32767, 32767, "int16", near(3e-5))) if normed else []
    # The sums of four gates, and the hidden state.
    middle = [net.tensor((), "int16", scale=near(2e-3 if normed else 1)) for _ in range(FULL_GATES)]
    middle.append(net.tensor((), "int8", scale=np.float32(.0079), zero=zeros[1]))
    made = net.tensor((), "int8", name="out0", scale=output_scale, zero=zeros[2])
    look = [looks[0], looks[1], looks[3]]
    net.op(op, [given, *filters, *recurrences, *look, *biases, *projection, *states, *(norms or [-1] * 4)], [made],
           "LSTMOptions" if op == "LSTM" else "UnidirectionalSequenceLSTMOptions",
           version=4 if op == "LSTM" else 3, intermediates=middle, fusedActivationFunction=TANH, **fields)
    net.graph.outputs = [made]
    CASES.append((f"{op.lower()}.integers.{name}", net, {"in0": Given(shape, "int8", -128, 127)}))


KINDS = {"plain": {}, "coupled": {"coupled": True}, "peepholes": {"peepholes": True}, "projection": {"projected": "filter"},
         "bias": {"projected": "bias"}, "norms": {"normed": True}, "coupled_norms": {"coupled": True, "normed": True},
         "coupled_peepholes": {"coupled": True, "peepholes": True},
         "all": {"peepholes": True, "projected": "bias", "normed": True},
         "coupled_all": {"coupled": True, "peepholes": True, "projected": "bias", "normed": True}}
for name, kind in KINDS.items():
    for samples, steps, size, units in ((1, 3, 4, 5), (3, 6, 7, 16)):
        outputs = units - 2 if "projected" in kind else units
        for limits in ({}, {"cellClip": 1.7, "projClip": .4}):
            label = f"{name}.{samples}.{'limits' if limits else 'plain'}"
            more = {"units": units, "outputs": outputs, "seed": samples, **kind, **limits}
            add_cell(label, "LSTM", (samples, size), **more)
            for major in (False, True):
                shape = (steps, samples, size) if major else (samples, steps, size)
                add_cell(f"{label}.{major}", "UNIDIRECTIONAL_SEQUENCE_LSTM", shape, timeMajor=major, **more)
for content, loud, normed in itertools.product((-15, -14, -13, -12, -10, -9), (.2, 1., 9.), (False, True)):
    add_cell(f"scales.{-content}.{loud}.{normed}", "UNIDIRECTIONAL_SEQUENCE_LSTM", (2, 9, 8), units=24, seed=-content,
             content=content, loud=loud, normed=normed, zeros=(-128, 0, -3), timeMajor=False)
# More outputs than units; every state at the ends of its type.
add_cell("wide", "UNIDIRECTIONAL_SEQUENCE_LSTM", (2, 5, 3), units=4, outputs=9, projected="filter", timeMajor=False)
add_cell("long", "UNIDIRECTIONAL_SEQUENCE_LSTM", (1, 60, 6), units=8, loud=4., zeros=(127, 127, 127), timeMajor=False)
