#!/usr/bin/env python3
"""Writes one of the cases: PREFIX.prototxt, and PREFIX.v1.caffemodel and PREFIX.v2.caffemodel.

usage: write_network.py CASE PREFIX
"""

import pathlib
import sys

import cases
import network as writer

net = dict(cases.all_cases())[sys.argv[1]]
pathlib.Path(sys.argv[2] + ".prototxt").write_text(writer.text_of(net, 2))
for generation in (1, 2):
    pathlib.Path(f"{sys.argv[2]}.v{generation}.caffemodel").write_bytes(writer.weights_of(net, generation))
