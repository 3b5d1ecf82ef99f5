//===- ConvertCustom.cpp - Layers that users define -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/CustomOps.h"
#include "tpuc/Frontend/Caffe/CaffeLayer.h"
#include "tpuc/Frontend/Caffe/ParamLiteral.h"

#include "llvm/ADT/StringExtras.h"
#include <fmt/format.h>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::caffe;

namespace {

/// The shapes of all tops, which only the layer's class knows.
std::optional<ArrayAttr> statedShapes(CaffeLayer &layer) {
  Builder builder(layer.context());
  SmallVector<Attribute> shapes;
  for (unsigned index = 0; index < layer.numOutputs(); ++index) {
    std::optional<Ints> shape = layer.customShape(index);
    if (!shape) {
      layer.fail(fmt::format("nothing tells the shape of its top '{}'", layer.top(index)),
                 fmt::format("--custom_shapes {}=[...], as 'reshape' of its class makes it",
                             layer.top(index)));
      return std::nullopt;
    }
    shapes.push_back(builder.getI64ArrayAttr(*shape));
  }
  return builder.getArrayAttr(shapes);
}

/// An operator in Python is one that the user defines: its name is that of the class in lower case.
void python(CaffeLayer &layer) {
  const proto::PythonParameter &p = layer.parameters().python_param();
  if (p.layer().empty())
    return layer.fail("names no class", "python_param { layer: ... }");
  Expected<ParamLiteral> params = readParamLiteral(p.param_str(), layer.context());
  if (!params)
    return layer.fail(params.error().found, params.error().expected);
  std::optional<ArrayAttr> shapes = statedShapes(layer);
  if (!shapes)
    return;
  Builder builder(layer.context());
  Attrs attributes = layer.attrs();
  attributes.setString("name", StringRef(p.layer()).lower()).set("output_shapes", *shapes);
  if (!params->order.empty()) {
    SmallVector<StringRef> order(params->order.begin(), params->order.end());
    attributes.set("params", params->values).set("param_order", builder.getStrArrayAttr(order));
  }
  const unsigned tops = layer.numOutputs();
  layer.emitAll<top::CustomOp>(tops, tops, layer.inputsFrom(0), attributes);
}

constexpr LayerRow kCustomRows[] = {
    {"Python", 0, -1, python, "Custom"},
};

} // namespace

ArrayRef<LayerRow> tpuc::caffe::customRows() { return kCustomRows; }
