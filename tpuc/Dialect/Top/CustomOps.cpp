//===- CustomOps.cpp - Ops that users define ------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/CustomOps.h"
#include "tpuc/Dialect/Top/OpChecks.h"
#include "tpuc/Support/Sizes.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

/// The extents that `shape` states; none where it is no array of extents.
static std::optional<Dims> extentsOf(Attribute shape) {
  auto array = dyn_cast<ArrayAttr>(shape);
  if (!array)
    return std::nullopt;
  Dims dims;
  for (Attribute each : array) {
    auto extent = dyn_cast<IntegerAttr>(each);
    if (!extent || !extent.getType().isInteger(64) || extent.getInt() < 0 ||
        extent.getInt() > kMostExtent)
      return std::nullopt;
    dims.push_back(extent.getInt());
  }
  return dims;
}

LogicalResult CustomOp::verify() {
  if (getOutputShapes().size() != getOutputs().size())
    return emitOpError("states ") << getOutputShapes().size() << " output_shapes; expected "
                                  << getOutputs().size() << ", one for each result";
  if (!llvm::all_of(getOutputShapes(), [](Attribute shape) { return extentsOf(shape); }))
    return emitOpError("has output_shapes ")
           << getOutputShapes() << "; expected arrays of extents, 0 to 2^40";
  if (getParamOrder() && getParamOrder()->size() != (getParams() ? getParams()->size() : 0))
    return emitOpError("names ") << getParamOrder()->size()
                                 << " of params in param_order; expected each of them";
  return success();
}

LogicalResult CustomOp::inferShape() {
  const Type element =
      getInputs().empty() ? Float32Type::get(getContext()) : elementTypeOf(getInputs()[0]);
  for (auto [index, shape] : llvm::enumerate(getOutputShapes()))
    if (failed(setResult(*this, static_cast<unsigned>(index), element, *extentsOf(shape))))
      return failure();
  return success();
}
