#!/usr/bin/env python3
"""Writes networks of the zoo as ONNX, with an input of each.

usage: export.py [--again] DIR [NAME ...]

Writes DIR/NAME.onnx and DIR/NAME_in.npz for all networks of networks.ini, or for the NAMEs, and prints a line for
each; what is there already is left unless --again. A network that its library cannot export is said so, and the
status is 1. About 15 minutes and 3 GB for all of them.

It needs an environment of its own, which nothing else needs (requirements.txt):

    python3.10 -m venv V
    V/bin/pip install --no-deps torch==1.12.1 torchvision==0.13.1 timm==0.9.16
    V/bin/pip install -r requirements.txt
    V/bin/python export.py DIR

Weights are the libraries' own random ones, of a seed that follows from the name. Nothing is fetched. Batch norms
take their statistics from noise, so that activations keep a size near 1. That is fit for cycles, sizes and equality,
not for accuracy.
"""

import argparse
import contextlib
import hashlib
import os
import pathlib
import sys
import warnings

import numpy
import torch

import zoo

TOKENS = 500  # every vocabulary of the zoo has as many


def seed_of(name):
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")


def arguments(text):
    """The keyword arguments that a description states."""
    return eval(f"dict({text})", {"__builtins__": {"dict": dict}}) if text else {}  # the table is ours


def find(library, path):
    for part in path.split("."):
        library = getattr(library, part)
    return library


def make_timm(network):
    import timm
    return timm.create_model(network.model, pretrained=False, exportable=True, **arguments(network.config))


def make_torchvision(network):
    import torchvision
    return find(torchvision.models, network.model)(weights=None, **arguments(network.config))


def make_transformers(network):
    import transformers
    kind = find(transformers, network.model)
    config = getattr(transformers, network.config_class) if network.config_class else kind.config_class
    module = kind(config(return_dict=False, **arguments(network.config)))
    module.config.return_dict = False
    return module


def make_own(network):
    import own
    return own.MODELS[network.model](**arguments(network.config))


MAKERS = {"timm": make_timm, "torchvision": make_torchvision, "transformers": make_transformers, "own": make_own}


def make_input(each, batch):
    extents = [each.extents[0], batch, *each.extents[1:]] if each.kind == "float_time" else [batch, *each.extents]
    if each.kind == "ids":
        return torch.randint(0, TOKENS, extents)
    if each.kind == "ones":
        return torch.ones(extents, dtype=torch.long)
    return torch.ones(extents) if each.kind == "ones_float" else torch.randn(extents)


def settle(module, inputs, keywords):
    """Lets batch norms count what comes by when noise goes through the network."""
    norms = [each for each in module.modules() if isinstance(each, torch.nn.modules.batchnorm._BatchNorm)]
    module.eval()
    if not norms:
        return
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None
        norm.train()
    with torch.no_grad():
        for _ in range(2):
            noise = [torch.randn(max(4, each.shape[0]), *each.shape[1:]) if each.is_floating_point() else each for each in inputs]
            module(**dict(zip(keywords, noise))) if keywords else module(*noise)
    module.eval()


def keep_attention(module):
    """Has torch compute attention as ops that ONNX has: in evaluation it takes a path of its own. No attention of
    the zoo drops anything out, so nothing else changes. Behind what torch.onnx sets."""
    for each in module.modules():
        if isinstance(each, (torch.nn.MultiheadAttention, torch.nn.TransformerEncoderLayer)):
            each.training = True


@contextlib.contextmanager
def quiet():
    """Keeps what torch's C++ writes to the error stream from the reader: pages of one warning."""
    sys.stderr.flush()
    saved, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(nowhere)


class Tensors(torch.nn.Module):
    """What a network makes as a flat list of tensors: dictionaries and nests of tuples have no form in ONNX."""

    def __init__(self, module, keywords):
        super().__init__()
        self.module, self.keywords = module, keywords

    def flat(self, made):
        if isinstance(made, torch.Tensor):
            return [made]
        values = made.values() if isinstance(made, dict) else made
        return [tensor for value in values if value is not None for tensor in self.flat(value)]

    def forward(self, *inputs):
        keep_attention(self.module)
        return tuple(self.flat(self.module(**dict(zip(self.keywords, inputs))) if self.keywords else self.module(*inputs)))


def export(network, folder):
    seed = seed_of(network.name)
    torch.manual_seed(seed)
    module = MAKERS[network.source](network)
    described = network.inputs or [zoo.Input("input", "float", list(module.default_cfg["input_size"]))]
    inputs = tuple(make_input(each, network.batch) for each in described)
    names = [each.name for each in described]
    keywords = names if network.keywords or network.source == "transformers" and "." not in network.model else []
    settle(module, inputs, keywords)
    path = folder / f"{network.name}.onnx"
    unfinished = path.with_suffix(".unfinished")
    with torch.no_grad(), quiet():
        torch.onnx.export(Tensors(module, keywords).eval(), inputs, str(unfinished), opset_version=network.opset, input_names=names,
                          do_constant_folding=network.form == "folded")
    # What the network does not read is no input of the file.
    import onnx
    read = {each.name for each in onnx.load(str(unfinished), load_external_data=False).graph.input}
    numpy.savez(folder / f"{network.name}_in.npz", **{name: each.numpy() for name, each in zip(names, inputs) if name in read})
    os.replace(unfinished, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    every = zoo.networks()
    unknown = [name for name in options.names if name not in every]
    if unknown:
        sys.exit(f"export.py: no network '{unknown[0]}'; expected names of {zoo.TABLE.name}")
    warnings.filterwarnings("ignore")
    options.folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in options.names or every:
        if (options.folder / f"{name}.onnx").exists() and not options.again:
            continue
        try:
            export(every[name], options.folder)
            print(f"{name}: written", flush=True)
        except Exception as error:  # whatever a library throws
            failed += 1
            (options.folder / f"{name}.unfinished").unlink(missing_ok=True)
            print(f"{name}: {type(error).__name__}: " + " ".join(str(error).split())[:160], flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
