"""Recurrent cells of all kinds: coupled gates, peepholes, projections, norms, limits, two directions."""

import itertools

from cases import RELU, RELU6, TANH, Given, State, add, weights


def cell(size, units, outputs, seed, coupled=False, peepholes=False, projection=None, norms=None):
    """The constants of an LSTM cell in the order of the format; `projection`: None, "filter" or "bias"."""
    seeds = itertools.count(seed)

    def gates(*shape, leaves_out=()):
        return [None if gate in leaves_out else weights(*shape, seed=next(seeds)) for gate in range(4)]
    without = (0,) if coupled else ()
    made = gates(units, size, leaves_out=without) + gates(units, outputs, leaves_out=without)
    made += [weights(units, seed=next(seeds)) if peepholes and gate not in without else None for gate in range(3)]
    made += gates(units, leaves_out=without)
    made.append(weights(outputs, units, seed=next(seeds)) if projection else None)
    made.append(weights(outputs, seed=next(seeds)) if projection == "bias" else None)
    return made, gates(units, leaves_out=without) if norms else []


KINDS = {"coupled": {"coupled": True}, "peepholes": {"peepholes": True}, "projection": {"projection": "filter"},
         "bias": {"projection": "bias"}, "norms": {"norms": True},
         "coupled_norms": {"coupled": True, "norms": True}, "coupled_peepholes": {"coupled": True, "peepholes": True},
         "all": {"peepholes": True, "projection": "bias", "norms": True},
         "coupled_all": {"coupled": True, "peepholes": True, "projection": "bias", "norms": True}}
for name, kind in KINDS.items():
    for samples, steps, size, units in ((1, 3, 4, 5), (2, 4, 3, 6)):
        outputs = 3 if "projection" in kind else units
        constants, norms = cell(size, units, outputs, 30, **kind)
        states = [State((samples, outputs)), State((samples, units))]
        for limits in ({}, {"cellClip": .4, "projClip": .2}):
            label = f"{name}.{samples}.{'limits' if limits else 'plain'}"
            add(label, "LSTM", [Given((samples, size)), *constants, *states, *norms], options="LSTMOptions",
                fusedActivationFunction=TANH, **limits)
            for major in (False, True):
                shape = (steps, samples, size) if major else (samples, steps, size)
                add(f"{label}.{major}", "UNIDIRECTIONAL_SEQUENCE_LSTM", [Given(shape), *constants, *states, *norms],
                    options="UnidirectionalSequenceLSTMOptions", fusedActivationFunction=TANH, timeMajor=major, **limits)
for activation in (RELU, RELU6):
    constants, _ = cell(3, 4, 4, 50)
    add(f"activation{activation}", "UNIDIRECTIONAL_SEQUENCE_LSTM",
        [Given((2, 4, 3)), *constants, State((2, 4)), State((2, 4))], options="UnidirectionalSequenceLSTMOptions",
        fusedActivationFunction=activation)

for name, kind in (("plain", {}), *KINDS.items()):
    if "norms" in kind:
        continue
    steps, size, units = 4, 3, 5
    outputs = 4 if "projection" in kind else units
    ahead, behind = (cell(size, units, outputs, seed, **kind)[0] for seed in (60, 90))
    for major, merged in itertools.product((False, True), (False, True)):
        # LiteRT gives other numbers in each run for several samples that come first, with one output.
        samples = 1 if merged and not major else 2
        states = [State((samples, each)) for each in (outputs, units, outputs, units)]
        shape = (steps, samples, size) if major else (samples, steps, size)
        for other in ("none", "backward", "crossed"):
            crossed = [weights(units, size, seed=120 + gate) if "coupled" not in kind or gate % 4 else None
                       for gate in range(8)]
            more = {"none": [None] * 9, "backward": [Given(shape)] + [None] * 8, "crossed": [Given(shape), *crossed]}
            add(f"{name}.{major}.{merged}.{other}", "BIDIRECTIONAL_SEQUENCE_LSTM",
                [Given(shape), *ahead, *behind, *states, *more[other]], ["float32"] * (1 if merged else 2),
                "BidirectionalSequenceLSTMOptions", fusedActivationFunction=TANH, timeMajor=major, mergeOutputs=merged)

for activation, major, merged, other in itertools.product((TANH, RELU), (False, True), (False, True),
                                                          ("none", "backward", "crossed")):
    samples, steps, size, units = 2, 4, 3, 5
    shape = (steps, samples, size) if major else (samples, steps, size)
    cells = [[weights(units, size, seed=seed), weights(units, units, seed=seed + 1), weights(units, seed=seed + 2),
              State((samples, units))] for seed in (150, 160)]
    more = {"none": [None] * 3, "backward": [Given(shape), None, None],
            "crossed": [Given(shape), weights(units, size, seed=170), weights(units, size, seed=171)]}
    add(f"{activation}.{major}.{merged}.{other}", "BIDIRECTIONAL_SEQUENCE_RNN",
        [Given(shape), *cells[0], *cells[1], *more[other]], ["float32"] * (1 if merged else 2),
        "BidirectionalSequenceRNNOptions", fusedActivationFunction=activation, timeMajor=major, mergeOutputs=merged)

for samples, size, units in ((1, 3, 4), (3, 5, 2)):
    add(f"basic.{samples}", "LSTM",
        [Given((samples, size)), Given((samples, units), low=-1, high=1), weights(4 * units, size + units),
         weights(4 * units, seed=2), Given((samples, units), low=-1, high=1)], ["float32"] * 4, "LSTMOptions",
        fusedActivationFunction=TANH, kernelType=1, version=2)
    for rank, memory, biased, activation in itertools.product((1, 2), (1, 4), (False, True), (0, RELU)):
        add(f"{samples}.{rank}.{memory}.{biased}.{activation}", "SVDF",
            [Given((samples, size)), weights(units * rank, size), weights(units * rank, memory, seed=2),
             weights(units, seed=3) if biased else None, State((samples, memory * units * rank))],
            options="SVDFOptions", rank=rank, fusedActivationFunction=activation)
