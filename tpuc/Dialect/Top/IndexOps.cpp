//===- IndexOps.cpp - Gathering and scattering ---------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/IndexOps.h"
#include "tpuc/Dialect/Top/OpChecks.h"
#include "tpuc/Dialect/Top/TypeUtils.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

// Moving elements computes nothing.
int64_t GatherOp::flops() { return 0; }
int64_t GatherElementsOp::flops() { return 0; }
int64_t GatherNDOp::flops() { return 0; }
int64_t OneHotOp::flops() { return 0; }
int64_t CompressOp::flops() { return 0; }

/// One operation for each update that is combined with what is there.
template <typename Op> static int64_t scatterFlops(Op op) {
  return op.getReduction() == "none" ? Count(0) : staticElements(op.getUpdates());
}
int64_t ScatterElementsOp::flops() { return scatterFlops(*this); }
int64_t ScatterNDOp::flops() { return scatterFlops(*this); }

/// An error of `op` unless the constant `indices` count elements of `extents`: number i that of
/// i modulo their number. From -extent on: from the back.
static LogicalResult checkConstantIndices(Operation *op, Value indices, ArrayRef<int64_t> extents) {
  if (extents.empty())
    return success();
  const std::optional<Dims> numbers = constantInts(indices);
  if (!numbers)
    return success();
  for (auto [place, number] : llvm::enumerate(*numbers)) {
    const int64_t extent = extents[place % extents.size()];
    if (extent != kDynamic && (number < -extent || number >= extent))
      return op->emitOpError("has the index ")
             << number << "; expected one of " << extent << " elements";
  }
  return success();
}

LogicalResult GatherOp::verify() { return verifyIndexType(*this, "indices", getIndices()); }

LogicalResult GatherOp::inferShape() {
  Type element = elementTypeOf(getInput());
  std::optional<Dims> dims = dimsOf(getInput());
  std::optional<Dims> indices = dimsOf(getIndices());
  if (!dims)
    return setResult(*this, 0, element, std::nullopt);
  FailureOr<int64_t> axis =
      normalizeAxis(*this, static_cast<int64_t>(getAxis()), static_cast<int64_t>(dims->size()));
  if (failed(axis))
    return failure();
  if (!indices)
    return setResult(*this, 0, element, std::nullopt);
  if (failed(checkConstantIndices(*this, getIndices(), (*dims)[*axis])))
    return failure();
  auto *place = dims->erase(dims->begin() + *axis);
  dims->insert(place, indices->begin(), indices->end());
  return setResult(*this, 0, element, dims);
}

/// `input` and `indices` (operand 1) have one rank, and `axis` is a dimension of it.
static LogicalResult checkElementwiseIndices(Operation *op, const std::optional<Dims> &input,
                                             const std::optional<Dims> &indices, int64_t axis) {
  const std::optional<Dims> &known = input ? input : indices;
  if (!known)
    return success();
  const FailureOr<int64_t> front = normalizeAxis(op, axis, static_cast<int64_t>(known->size()));
  if (failed(front))
    return failure();
  if (input && indices && input->size() != indices->size())
    return op->emitOpError("indices have rank ")
           << indices->size() << "; expected " << input->size() << ", that of the input";
  return input ? checkConstantIndices(op, op->getOperand(1), (*input)[*front]) : success();
}

LogicalResult GatherElementsOp::verify() { return verifyIndexType(*this, "indices", getIndices()); }

LogicalResult GatherElementsOp::inferShape() {
  std::optional<Dims> dims = dimsOf(getInput());
  std::optional<Dims> indices = dimsOf(getIndices());
  if (failed(checkElementwiseIndices(*this, dims, indices, static_cast<int64_t>(getAxis()))))
    return failure();
  return setResult(*this, 0, elementTypeOf(getInput()),
                   indices ? indices
                   : dims  ? std::optional(unknownDims(dims->size()))
                           : dims);
}

LogicalResult GatherNDOp::verify() { return verifyIndexType(*this, "indices", getIndices()); }

LogicalResult GatherNDOp::inferShape() {
  Type element = elementTypeOf(getInput());
  std::optional<Dims> dims = dimsOf(getInput());
  std::optional<Dims> indices = dimsOf(getIndices());
  auto batch = static_cast<size_t>(getBatchDims());
  if (indices && indices->size() <= batch)
    return emitOpError("indices have rank ")
           << indices->size() << "; expected more than batch_dims, which is " << batch;
  if (!dims || !indices || indices->back() == kDynamic)
    return setResult(*this, 0, element, std::nullopt);
  auto tuple = static_cast<size_t>(indices->back());
  if (batch + tuple > dims->size())
    return emitOpError("has tuples of ")
           << tuple << " indices behind " << batch << " batch dimensions; expected at most "
           << dims->size() << " in all, the rank of the input";
  Dims result(ArrayRef(*indices).drop_back());
  for (size_t axis = 0; axis < batch; ++axis)
    if (!mergeExtent(result[axis], (*dims)[axis]))
      return emitOpError("has batches of ")
             << (*dims)[axis] << " and " << (*indices)[axis] << "; expected equal ones";
  if (failed(checkConstantIndices(*this, getIndices(), ArrayRef(*dims).slice(batch, tuple))))
    return failure();
  llvm::append_range(result, ArrayRef(*dims).drop_front(batch + tuple));
  return setResult(*this, 0, element, result);
}

template <typename Op> static LogicalResult verifyScatter(Op op) {
  if (failed(verifyIndexType(op, "indices", op.getIndices())) ||
      failed(
          verifyChoice(op, "reduction", op.getReduction(), {"none", "add", "mul", "max", "min"})))
    return failure();
  return verifySameElements(op, {op.getInput(), op.getUpdates()});
}

/// Every extent that is known on both sides is the same.
static bool fits(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip_equal(a, b), [](auto pair) {
           auto [x, y] = pair;
           return x == kDynamic || y == kDynamic || x == y;
         });
}

LogicalResult ScatterElementsOp::verify() { return verifyScatter(*this); }

LogicalResult ScatterElementsOp::inferShape() {
  std::optional<Dims> dims = dimsOf(getInput());
  std::optional<Dims> indices = dimsOf(getIndices());
  std::optional<Dims> updates = dimsOf(getUpdates());
  if (failed(checkElementwiseIndices(*this, dims, indices, static_cast<int64_t>(getAxis()))))
    return failure();
  if (indices && updates && !fits(*indices, *updates))
    return emitOpError("updates have type ")
           << getUpdates().getType() << "; expected the shape of the indices, "
           << getIndices().getType();
  return setResult(*this, 0, elementTypeOf(getInput()), dims);
}

LogicalResult ScatterNDOp::verify() { return verifyScatter(*this); }

LogicalResult ScatterNDOp::inferShape() {
  std::optional<Dims> dims = dimsOf(getInput());
  std::optional<Dims> indices = dimsOf(getIndices());
  std::optional<Dims> updates = dimsOf(getUpdates());
  if (indices && indices->empty())
    return emitOpError("indices are a scalar; expected at least rank 1");
  if (dims && indices && indices->back() != kDynamic) {
    auto tuple = static_cast<size_t>(indices->back());
    if (tuple > dims->size())
      return emitOpError("has tuples of ")
             << tuple << " indices; expected at most " << dims->size() << ", the rank of the input";
    if (failed(checkConstantIndices(*this, getIndices(), ArrayRef(*dims).take_front(tuple))))
      return failure();
    Dims wanted(ArrayRef(*indices).drop_back());
    llvm::append_range(wanted, ArrayRef(*dims).drop_front(tuple));
    if (updates && !fits(wanted, *updates))
      return emitOpError("updates have type ")
             << getUpdates().getType() << "; expected "
             << RankedTensorType::get(wanted, elementTypeOf(getInput()));
  }
  return setResult(*this, 0, elementTypeOf(getInput()), dims);
}

LogicalResult TensorScatterOp::verify() {
  if (failed(verifyChoice(*this, "mode", getMode(), {"linear", "circular"})) ||
      failed(verifyIndexType(*this, "starts", getStarts())))
    return failure();
  return verifySameElements(*this, {getInput(), getUpdates()});
}

LogicalResult TensorScatterOp::inferShape() {
  std::optional<Dims> dims = dimsOf(getInput());
  std::optional<Dims> updates = dimsOf(getUpdates());
  if (dims) {
    FailureOr<int64_t> axis =
        normalizeAxis(*this, static_cast<int64_t>(getAxis()), static_cast<int64_t>(dims->size()));
    if (failed(axis))
      return failure();
    if (*axis == 0)
      return emitOpError("axis is 0, the samples; expected another");
    Dims wanted = *dims;
    wanted[*axis] = kDynamic;
    if (updates && !fits(wanted, *updates))
      return emitOpError("updates have type ")
             << getUpdates().getType() << "; expected "
             << RankedTensorType::get(wanted, elementTypeOf(getInput()));
  }
  return setResult(*this, 0, elementTypeOf(getInput()), dims);
}

int64_t TensorScatterOp::flops() { return 0; }

LogicalResult OneHotOp::verify() {
  if (std::optional<int64_t> count = vectorLength(getValues()); count && *count != 2)
    return emitOpError("has ") << *count << " values; expected 2, for off and on";
  if (!storageDataType(getIndices().getType()))
    return emitOpError("indices have type ") << getIndices().getType() << "; expected numbers";
  return verifyRank(*this, "values", getValues(), 1);
}

LogicalResult OneHotOp::inferShape() {
  Type element = elementTypeOf(getValues());
  std::optional<Dims> dims = dimsOf(getIndices());
  if (!dims)
    return setResult(*this, 0, element, std::nullopt);
  FailureOr<int64_t> axis =
      normalizeAxis(*this, static_cast<int64_t>(getAxis()), static_cast<int64_t>(dims->size()) + 1);
  if (failed(axis))
    return failure();
  int64_t depth = kDynamic;
  if (std::optional<Dims> constant = constantInts(getDepth())) {
    if (constant->size() != 1 || constant->front() < 0)
      return emitOpError("depth is no number; expected one of at least 0");
    depth = constant->front();
  }
  dims->insert(dims->begin() + *axis, depth);
  return setResult(*this, 0, element, dims);
}

LogicalResult CompressOp::verify() {
  if (storageDataType(getCondition().getType()) != DataType::Bool)
    return emitOpError("condition has type ")
           << getCondition().getType() << "; expected elements i1";
  return verifyRank(*this, "condition", getCondition(), 1);
}

LogicalResult CompressOp::inferShape() {
  Type element = elementTypeOf(getInput());
  int64_t kept = kDynamic;
  if (std::optional<Tensor> condition = constantTensor(getCondition()))
    kept = llvm::count_if(condition->rawBytes(), [](std::byte b) { return b != std::byte(0); });
  if (!getAxis())
    return setResult(*this, 0, element, Dims{kept});
  std::optional<Dims> dims = dimsOf(getInput());
  if (!dims)
    return setResult(*this, 0, element, std::nullopt);
  FailureOr<int64_t> axis =
      normalizeAxis(*this, static_cast<int64_t>(*getAxis()), static_cast<int64_t>(dims->size()));
  if (failed(axis))
    return failure();
  (*dims)[static_cast<size_t>(*axis)] = kept;
  return setResult(*this, 0, element, dims);
}
