//===- FuzzOnnx.cpp - Hostile .onnx files ---------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tpuc/Frontend/Onnx/GraphPlan.h"
#include "tpuc/Frontend/Onnx/Onnx.pb.h"

#include <cstdlib>

using namespace tpuc;
using namespace tpuc::onnx;

namespace {

/// Touches every element, so that a view beyond the input is seen.
void useTensor(const Expected<Tensor> &tensor) {
  if (!tensor)
    return;
  unsigned sum = 0;
  for (std::byte element : tensor->rawBytes())
    sum += std::to_integer<unsigned>(element);
  volatile unsigned sink = sum;
  (void)sink;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // External data is looked for in a folder that there is not.
  Expected<OnnxModel> model =
      OnnxModel::fromMemory(std::as_bytes(std::span(data, size)), nullptr, "input", "/nonexistent");
  if (!model)
    return 0;
  const proto::Graph &graph = model->message().graph();
  for (const proto::Tensor &tensor : graph.initializer())
    useTensor(model->read(tensor, tensor.name()));
  for (const proto::SparseTensor &tensor : graph.sparse_initializer()) {
    // A dense form of gigabytes from a few bytes is what the format allows.
    double elements = 1;
    for (int64_t extent : tensor.dims())
      elements *= static_cast<double>(extent);
    if (elements < 1 << 20)
      useTensor(model->read(tensor, tensor.values().name()));
  }
  Expected<GraphPlan> plan = GraphPlan::make(*model, {});
  if (!plan)
    return 0;
  size_t nodes = 0;
  plan->forEachNode([&](const proto::Node &node, int64_t opset) {
    nodes += describe(node).size();
    if (opset < 1 || opset > kNewestOpset)
      std::abort();
  });
  return 0;
}
