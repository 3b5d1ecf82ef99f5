//===- ConvertSignal.cpp - Spectra and windows ----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/ConvertShared.h"

#include "tpuc/Dialect/Top/SignalOps.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::onnx;

namespace {

Attrs dftAttrs(NodeBuilder &node) {
  return node.attrs()
      .setBool("inverse", node.getInt("inverse", 0) != 0)
      .setBool("onesided", node.getInt("onesided", 0) != 0);
}

void dftAttribute(NodeBuilder &node) {
  node.emit<top::DFTOp>({node.in(0), node.in(1), node.none()},
                        dftAttrs(node).setInt("axis", node.getInt("axis", 1)));
}

void dft(NodeBuilder &node) {
  IntsOrTensor axis = node.intsOrTensor(2);
  if (axis.ints && axis.ints->size() != 1)
    return node.fail(fmt::format("axis has {} elements", axis.ints->size()), "one");
  Attrs attributes = dftAttrs(node);
  if (axis.ints)
    attributes.setInt("axis", (*axis.ints)[0]);
  node.emit<top::DFTOp>({node.in(0), node.in(1), axis.tensor}, attributes);
}

void stft(NodeBuilder &node) {
  node.emit<top::STFTOp>({node.in(0), node.in(1), node.in(2), node.in(3)},
                         node.attrs().setBool("onesided", node.getInt("onesided", 1) != 0));
}

Type outputType(NodeBuilder &node) {
  return node.getType("output_datatype", Float32Type::get(node.context()));
}

void emitWindow(NodeBuilder &node, const std::vector<double> &coeff) {
  node.emit<top::CosineWindowOp>(node.in(0),
                                 node.attrs()
                                     .setFloats("coeff", coeff)
                                     .setBool("periodic", node.getInt("periodic", 1) != 0)
                                     .setType("to", outputType(node)));
}

void hann(NodeBuilder &node) { emitWindow(node, {0.5, 0.5}); }
void hamming(NodeBuilder &node) { emitWindow(node, {25.0 / 46, 21.0 / 46}); }
void blackman(NodeBuilder &node) { emitWindow(node, {0.42, 0.5, 0.08}); }

void melWeightMatrix(NodeBuilder &node) {
  node.emit<top::MelWeightMatrixOp>(node.inputsFrom(0),
                                    node.attrs().setType("to", outputType(node)));
}

constexpr OpRow kSignalRows[] = {
    {"BlackmanWindow", 17, 1, 1, blackman, "CosineWindow"},
    {"DFT", 17, 1, 2, dftAttribute, "DFT"},
    {"DFT", 20, 1, 3, dft, "DFT"},
    {"HammingWindow", 17, 1, 1, hamming, "CosineWindow"},
    {"HannWindow", 17, 1, 1, hann, "CosineWindow"},
    {"MelWeightMatrix", 17, 5, 5, melWeightMatrix, "MelWeightMatrix"},
    {"STFT", 17, 2, 4, stft, "STFT"},
};

} // namespace

ArrayRef<OpRow> tpuc::onnx::signalRows() { return kSignalRows; }
