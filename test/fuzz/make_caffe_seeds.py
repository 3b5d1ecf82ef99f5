#!/usr/bin/env python3
"""Writes the seeds of fuzz_caffe into caffe_seeds/ beside this file: texts and weights of cases of
test/conformance/caffe, of both generations, and a text with what those lack."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
SEEDS = HERE / "caffe_seeds"
sys.path.insert(0, str(HERE.parent / "conformance" / "caffe"))

import cases
import network as writer

CASES = ("Convolution_k11_s1_p0_d1_g1", "PReLU_rank2", "Pooling_MAX_k3_s2_p1", "Scale_bias_axis1_1", "chain_in_place",
         "shared_weights", "train_layers", "LSTM_plain_exposed", "DummyData", "PriorBox_2", "Reshape_0x-1_0_-1")
RULES = """state { phase: TEST level: 2 stage: "deploy" }
input: "a" input_shape { dim: 1 dim: 3 dim: 4 dim: 4 }
layer { name: "one" type: "ReLU" bottom: "a" top: "b" include { min_level: 1 max_level: 3 stage: "deploy" } }
layer { name: "two" type: "ReLU" bottom: "b" top: "c" exclude { not_stage: "deploy" } unknown_param { a: 1 } }
layer { name: "quiet" type: "Silence" bottom: "a" }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "c" bottom: "a" top: "loss" loss_weight: 1 }
"""


def main():
    SEEDS.mkdir(exist_ok=True)
    nets = dict(cases.all_cases())
    for name in CASES:
        net = nets[name]
        for generation in (1, 2) if net.fits_first_generation() else (2,):
            (SEEDS / f"{name}.v{generation}.prototxt").write_text(writer.text_of(net, generation))
            if any(layer.blobs for layer in net.layers):
                (SEEDS / f"{name}.v{generation}.caffemodel").write_bytes(writer.weights_of(net, generation))
    (SEEDS / "rules.prototxt").write_text(RULES)


if __name__ == "__main__":
    main()
