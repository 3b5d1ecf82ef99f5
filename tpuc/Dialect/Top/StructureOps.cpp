//===- StructureOps.cpp - What a network is made of besides its layers ---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Top/WeightRest.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/MappedFile.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Location.h"

#include <array>
#include <charconv>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

static constexpr StringLiteral kWeightRest = "weight_rest";

LogicalResult WeightOp::verify() {
  auto type = cast<RankedTensorType>(getOutput().getType());
  if (!type.hasStaticShape())
    return emitOpError("result type ") << getOutput().getType()
                                       << " is dynamic; expected the "
                                          "static shape of the tensor in the weight file";
  if (!(*this)->hasAttr(kWeightRest))
    return success();
  const auto scales = static_cast<int64_t>(getWeightScale() ? getWeightScale()->size() : 0);
  if (scales == 0 || type.getNumElements() % scales != 0 ||
      std::ssize(weightRest(*this)) != type.getNumElements())
    return emitOpError("weight_rest has ")
           << weightRest(*this).size() << " numbers beside " << scales
           << " scales; expected one for each element, and scales that divide them";
  return success();
}

/// Prints finite numbers with the fewest digits that give them back, and the point that MLIR's
/// parser wants: `0.1`, `5.0e-07`.
static void printScales(ArrayAttr numbers, raw_ostream &stream) {
  stream << '[';
  llvm::interleaveComma(numbers.getAsRange<FloatAttr>(), stream, [&](FloatAttr each) {
    std::array<char, 32> text;
    const auto [end, status] =
        std::to_chars(text.data(), text.data() + text.size(), each.getValueAsDouble());
    const StringRef written(text.data(), static_cast<size_t>(end - text.data()));
    const auto [digits, exponent] = written.split('e');
    stream << digits << (digits.contains('.') ? "" : ".0");
    if (!exponent.empty())
      stream << 'e' << exponent;
  });
  stream << ']';
}

OperationName::PrintAssemblyFn WeightOp::getPrintAssemblyFn() {
  return [](Operation *op, OpAsmPrinter &printer, StringRef) {
    auto scales = op->getAttrOfType<ArrayAttr>("weight_scale");
    const auto isPlain = [](Attribute each) {
      auto number = dyn_cast<FloatAttr>(each);
      return number && number.getValue().isFinite();
    };
    if (!scales || op->getNumOperands() != 0 || !llvm::all_of(scales, isPlain))
      return printer.printGenericOp(op);
    llvm::raw_ostream &stream = printer.getStream();
    stream << '"' << op->getName() << "\"() {";
    llvm::interleaveComma(op->getAttrs(), stream, [&](NamedAttribute each) {
      printer.printKeywordOrString(each.getName());
      if (isa<UnitAttr>(each.getValue()))
        return;
      stream << " = ";
      if (each.getValue() == scales)
        printScales(scales, stream);
      else
        printer.printAttribute(each.getValue());
    });
    stream << "} : ";
    printer.printFunctionalType(op);
  };
}

std::string WeightOp::name() {
  if (auto location = getLoc()->findInstanceOf<NameLoc>())
    return location.getName().str();
  return "";
}

static Expected<std::shared_ptr<WeightStore>> storeOf(WeightOp op) {
  auto *dialect = op->getContext()->getLoadedDialect<TopDialect>();
  return dialect->weights(op->getParentOfType<ModuleOp>());
}

Expected<Tensor> WeightOp::read() {
  Expected<std::shared_ptr<WeightStore>> store = storeOf(*this);
  if (!store)
    return propagate(store);
  auto type = cast<RankedTensorType>(getOutput().getType());
  // Before the elements, which may be deflated and inflate to far more than the shape takes.
  Expected<Shape> shape = (*store)->shape(name());
  if (!shape)
    return propagate(shape);
  if (shape->rank() != static_cast<size_t>(type.getRank()) ||
      !std::equal(type.getShape().begin(), type.getShape().end(), shape->begin()))
    return makeError("weight '" + name() + "'", "shape " + shape->str() + " in the file",
                     Shape(type.getShape()).str());
  Expected<Tensor> tensor = (*store)->read(name());
  if (!tensor)
    return tensor;
  // Files hold bf16 and 8-bit floats as f32, and 4-bit integers as 8-bit ones.
  std::optional<DataType> stored = storageDataType(type);
  if (stored && *stored != tensor->type())
    return convert(*tensor, *stored);
  return tensor;
}

Expected<std::vector<float>> WeightOp::read_as_float() {
  Expected<Tensor> tensor = read();
  if (!tensor)
    return propagate(tensor);
  Tensor floats = convert(*tensor, DataType::F32);
  auto values = floats.data<float>();
  return std::vector<float>(values.begin(), values.end());
}

Expected<std::vector<uint8_t>> WeightOp::read_as_byte() {
  Expected<Tensor> tensor = read();
  if (!tensor)
    return propagate(tensor);
  auto bytes = tensor->rawBytes();
  const auto *begin = reinterpret_cast<const uint8_t *>(bytes.data());
  return std::vector<uint8_t>(begin, begin + bytes.size());
}

ArrayRef<int64_t> top::weightRest(WeightOp weight) {
  auto rest = weight->getAttrOfType<DenseI64ArrayAttr>(kWeightRest);
  return rest ? rest.asArrayRef() : ArrayRef<int64_t>();
}

void top::setWeightRest(WeightOp weight, ArrayRef<int64_t> rest) {
  weight->setAttr(kWeightRest, DenseI64ArrayAttr::get(weight.getContext(), rest));
}

Expected<Tensor> top::readExact(WeightOp weight) {
  Expected<Tensor> tensor = weight.read();
  if (!tensor)
    return tensor;
  Tensor exact = convert(*tensor, DataType::F64);
  const ArrayRef<int64_t> rest = weightRest(weight);
  if (rest.empty())
    return exact;
  if (!exact.isWritable())
    exact = exact.clone();
  const ArrayAttr scales = weight.getWeightScaleAttr();
  const std::span<double> numbers = exact.mutableData<double>();
  for (auto [index, number] : llvm::enumerate(numbers))
    number += double(rest[index]) *
              cast<FloatAttr>(scales[index * scales.size() / numbers.size()]).getValueAsDouble();
  return exact;
}

WeightOp WeightOp::create(OpBuilder &builder, ModuleOp module, StringRef name, Tensor tensor) {
  MLIRContext *context = builder.getContext();
  auto store = context->getLoadedDialect<TopDialect>()->weights(module);
  std::string unique = name.str();
  RankedTensorType type = tensorType(context, tensor.type(), tensor.shape());
  if (store) {
    unique = (*store)->freeName(name);
    (*store)->set(unique, std::move(tensor));
  }
  return builder.create<WeightOp>(NameLoc::get(builder.getStringAttr(unique)), type, ArrayAttr());
}

static Expected<WeightOp> cloneAs(WeightOp op, OpBuilder &builder, DataType to, StringRef suffix) {
  Expected<Tensor> tensor = op.read();
  if (!tensor)
    return propagate(tensor);
  Expected<std::shared_ptr<WeightStore>> store = storeOf(op);
  if (!store)
    return propagate(store);
  std::string name = op.name() + suffix.str();
  if (!(*store)->contains(name))
    (*store)->set(name, convert(*tensor, to));
  releaseMapped(tensor->rawBytes());
  return builder.create<WeightOp>(NameLoc::get(builder.getStringAttr(name)),
                                  tensorType(builder.getContext(), to, tensor->shape()),
                                  op.getWeightScaleAttr());
}

Expected<WeightOp> WeightOp::clone_f16(OpBuilder &builder) {
  return cloneAs(*this, builder, DataType::F16, "_f16");
}

Expected<WeightOp> WeightOp::clone_bf16(OpBuilder &builder) {
  return cloneAs(*this, builder, DataType::BF16, "_bf16");
}
