//===- OpMaker.cpp - The ops that one op stands for ------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/OpMaker.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/OpTraits.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Support/Convert.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

Location OpMaker::name(StringRef what) {
  return NameLoc::get(builder.getStringAttr(tensorNames(op)[0] + "_" + what.str()));
}

Value OpMaker::none() { return builder.create<top::NoneOp>(op->getLoc(), builder.getNoneType()); }

Value OpMaker::make(StringRef opName, StringRef what, TypeRange types, ValueRange operands,
                    const NamedAttrList &attributes) {
  OperationState state(name(what), opName, operands, types, attributes.getAttrs());
  return givenResult(builder.create(state));
}

Value OpMaker::reshaped(Value value, ArrayRef<int64_t> dims, StringRef what) {
  if (dimsOf(value) == dims)
    return value;
  if (std::optional<Tensor> constant = constantOf(value)) {
    Value made = weight(constant->reshaped(Shape(std::span(dims.data(), dims.size()))), what);
    // What its integers stand for stays.
    made.setType(typeOf(value).clone(dims));
    return made;
  }
  NamedAttrList attributes;
  attributes.set("shape", builder.getI64ArrayAttr(dims));
  return make<tpu::ReshapeOp>(what, dims, {value, none()}, attributes);
}

/// Whether `made` is computed from the elements in the same place of tensors of the same
/// dimensions alone, for one reader.
static bool keepsPlaces(Operation *made) {
  return made && made->hasTrait<traits::Pointwise>() && made->getNumResults() == 1 &&
         made->hasOneUse() && !isa<tpu::LutOp>(made) &&
         (isa<tpu::CastOp>(made) || !tpu::isQuantized(made->getResult(0))) &&
         llvm::all_of(made->getOperands(), [&](Value operand) {
           return isa<NoneType>(operand.getType()) ||
                  OpMaker::dimsOf(operand) == OpMaker::dimsOf(made->getResult(0));
         });
}

Value OpMaker::viewed(Value value, ArrayRef<int64_t> dims, StringRef what) {
  Operation *made = value.getDefiningOp();
  if (auto reshape = dyn_cast_or_null<tpu::ReshapeOp>(made);
      reshape && dimsOf(reshape->getOperand(0)) == dims)
    return reshape->getOperand(0);
  if (dimsOf(value) == dims || !keepsPlaces(made))
    return reshaped(value, dims, what);
  SmallVector<Value> operands;
  for (auto [index, operand] : llvm::enumerate(made->getOperands()))
    operands.push_back(isa<NoneType>(operand.getType())
                           ? operand
                           : viewed(operand, dims, (what + Twine(index)).str()));
  return make(made->getName().getStringRef(), (what + "_elements").str(),
              Type(typeOf(value).clone(dims)), operands, made->getAttrs());
}

Value OpMaker::permuted(Value value, ArrayRef<int64_t> order, StringRef what) {
  SmallVector<int64_t> dims;
  for (int64_t source : order)
    dims.push_back(dimsOf(value)[static_cast<size_t>(source)]);
  NamedAttrList attributes;
  attributes.set("order", builder.getI64ArrayAttr(order));
  return make<tpu::PermuteOp>(what, dims, value, attributes);
}

Value OpMaker::sliced(Value value, int64_t axis, int64_t begin, int64_t size, StringRef what,
                      int64_t step) {
  SmallVector<int64_t> dims(dimsOf(value));
  if (dims[static_cast<size_t>(axis)] == size && step == 1)
    return value;
  dims[static_cast<size_t>(axis)] = (size + step - 1) / step;
  NamedAttrList attributes;
  attributes.set("offset", builder.getI64ArrayAttr(begin));
  attributes.set("ends", builder.getI64ArrayAttr(begin + size));
  attributes.set("steps", builder.getI64ArrayAttr(step));
  attributes.set("axes", builder.getI64ArrayAttr(axis));
  const Value no = none();
  return make<tpu::SliceOp>(what, dims, {value, no, no, no, no}, attributes);
}

Value OpMaker::part(Value value, int64_t axis, int64_t begin, int64_t size, StringRef what) {
  if (size == dimsOf(value)[static_cast<size_t>(axis)])
    return value;
  if (std::optional<Tensor> constant = constantOf(value))
    return weight(slicedConstant(*constant, static_cast<size_t>(axis), begin, size), what);
  return sliced(value, axis, begin, size, what);
}

SmallVector<Value> OpMaker::split(Value value, int64_t axis, int64_t parts, StringRef what) {
  const int64_t size = dimsOf(value)[static_cast<size_t>(axis)] / parts;
  return split(value, axis, SmallVector<int64_t>(static_cast<size_t>(parts), size), what);
}

SmallVector<Value> OpMaker::split(Value value, int64_t axis, ArrayRef<int64_t> sizes,
                                  StringRef what) {
  SmallVector<int64_t> dims(dimsOf(value));
  SmallVector<Type> types;
  SmallVector<Location> names;
  for (auto [index, size] : llvm::enumerate(sizes)) {
    dims[static_cast<size_t>(axis)] = size;
    types.push_back(typeOf(value).clone(dims));
    names.push_back(name((what + llvm::Twine(index)).str()));
  }
  NamedAttrList attributes;
  attributes.set("axis", builder.getI64IntegerAttr(axis));
  attributes.set("split_size", builder.getI64ArrayAttr(sizes));
  return SmallVector<Value>(builder
                                .create<tpu::SplitOp>(builder.getFusedLoc(names), types,
                                                      ValueRange{value, none()},
                                                      attributes.getAttrs())
                                .getResults());
}

Value OpMaker::joined(ValueRange values, int64_t axis, StringRef what) {
  if (values.size() == 1)
    return values.front();
  SmallVector<int64_t> dims(dimsOf(values.front()));
  dims[static_cast<size_t>(axis)] = 0;
  for (Value value : values)
    dims[static_cast<size_t>(axis)] += dimsOf(value)[static_cast<size_t>(axis)];
  NamedAttrList attributes;
  attributes.set("axis", builder.getI64IntegerAttr(axis));
  return make<tpu::ConcatOp>(what, dims, values, attributes);
}

Value OpMaker::weight(const Tensor &tensor, StringRef what) {
  return top::WeightOp::create(builder, op->getParentOfType<ModuleOp>(),
                               tensorNames(op)[0] + "_" + what.str(), tensor)
      .getOutput();
}

Value OpMaker::weight(const Tensor &tensor, StringRef what, Value like) {
  return weight(tpuc::convert(tensor, *storageDataType(like.getType())), what);
}

static constexpr StringLiteral kActivation[] = {"do_relu", "relu_limit"};

NamedAttrList OpMaker::activationOf(const NamedAttrList &attributes) {
  NamedAttrList activation;
  for (StringRef name : kActivation)
    if (Attribute value = attributes.get(name))
      activation.set(name, value);
  return activation;
}

NamedAttrList OpMaker::withoutActivation(NamedAttrList attributes) {
  for (StringRef name : kActivation)
    attributes.erase(name);
  return attributes;
}

bool OpMaker::isFloat(Value value) {
  const Type element = typeOf(value).getElementType();
  const std::optional<DataType> type = storageDataType(element);
  return type == DataType::F32 || type == DataType::F16 || type == DataType::BF16;
}

Value OpMaker::converted(Value value, Type element, StringRef what) {
  if (typeOf(value).getElementType() == element)
    return value;
  NamedAttrList attributes;
  attributes.set("to", TypeAttr::get(element));
  return make(tpu::DtypeCastOp::getOperationName(), what, Type(typeOf(value).clone(element)), value,
              attributes);
}

Value OpMaker::widened(Value value, StringRef what, bool folds) {
  if (!isFloat(value) || storageDataType(value.getType()) == DataType::F32 ||
      !hasScheme(backend.info(), schemes::kF32))
    return value;
  if (std::optional<Tensor> constant = folds ? constantOf(value) : std::nullopt)
    return weight(tpuc::convert(*constant, DataType::F32), what);
  return make(tpu::CastOp::getOperationName(), what,
              Type(typeOf(value).clone(builder.getF32Type())), value, {});
}

Value OpMaker::narrowed(Value value, unsigned index, StringRef what) {
  const auto wanted = typeOf(op->getResult(index));
  if (storageDataType(value.getType()) == storageDataType(wanted))
    return value;
  return make(tpu::CastOp::getOperationName(), what,
              Type(typeOf(value).clone(wanted.getElementType())), value, {});
}

Value OpMaker::finished(Value value, unsigned index) {
  return reshaped(narrowed(value, index), dimsOf(op->getResult(index)), "shaped");
}

void OpMaker::replace(unsigned index, Value value) {
  // What the op reads keeps its own name.
  if (llvm::is_contained(op->getOperands(), value))
    value = makeLike<tpu::CopyOp>("same", value);
  if (Operation *maker = value.getDefiningOp(); maker && value == maker->getResult(0))
    maker->setLoc(NameLoc::get(builder.getStringAttr(tensorNames(op)[index])));
  op->getResult(index).replaceAllUsesWith(value);
}

std::optional<Tensor> OpMaker::constantOf(Value value) {
  auto weight = value.getDefiningOp<top::WeightOp>();
  if (!weight)
    return std::nullopt;
  Expected<Tensor> tensor = weight.read();
  return tensor ? std::optional(*tensor) : std::nullopt;
}

Tensor codegen::slicedConstant(const Tensor &tensor, size_t axis, int64_t begin, int64_t size) {
  SmallVector<int64_t> dims = llvm::to_vector(tensor.shape().dims());
  const int64_t extent = dims[axis];
  int64_t outer = 1;
  int64_t inner = 1;
  for (auto [dim, count] : llvm::enumerate(dims))
    (dim < axis ? outer : inner) *= dim == axis ? 1 : count;
  dims[axis] = size;
  Tensor made(tensor.type(), Shape(std::span(dims.data(), dims.size())));
  const auto at = [&](int64_t elements) {
    return static_cast<size_t>(byteSize(tensor.type(), elements));
  };
  for (int64_t i = 0; i < outer; ++i)
    std::ranges::copy(tensor.rawBytes().subspan(at((i * extent + begin) * inner), at(size * inner)),
                      made.mutableBytes().subspan(at(i * size * inner)).begin());
  return made;
}
