//===- HeadProducts.cpp - Products of heads as products of rows ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/HeadProducts.h"
#include "tpuc/Codegen/Decompose/ChannelHeads.h"
#include "tpuc/Codegen/Decompose/HeadRows.h"
#include "tpuc/Codegen/Decompose/OpMaker.h"
#include "tpuc/Codegen/Decompose/PickedParts.h"
#include "tpuc/Codegen/Decompose/RewriteOps.h"
#include "tpuc/Codegen/Decompose/SampleRows.h"
#include "tpuc/Codegen/Group/WindowCost.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/OpTraits.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/IndexOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/NormOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Support/Convert.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

bool isLeftOut(Value value) { return isa<NoneType>(value.getType()); }

/// The dimensions of a tensor of four; none of others.
std::optional<std::array<int64_t, 4>> dims4(Value value) {
  const RankedTensorType type = staticType(value);
  if (!type || type.getRank() != 4)
    return std::nullopt;
  const ArrayRef<int64_t> dims = type.getShape();
  return std::array{dims[0], dims[1], dims[2], dims[3]};
}

/// A product of two computed tensors without a bias or an activation.
tpu::MatMulOp plainProduct(Value value) {
  auto product = value.getDefiningOp<tpu::MatMulOp>();
  if (!product || !isLeftOut(product.getBias()) || product.getDoRelu() ||
      !dims4(product.getInput()) || !dims4(product.getRight()) ||
      isConstantValue(product.getInput()) || isConstantValue(product.getRight()))
    return {};
  return product;
}

/// The sum of `value`'s operand along `axis` alone, which keeps the dimension.
tpu::ReduceOp sumAlong(Value value, int64_t axis) {
  auto reduce = value.getDefiningOp<tpu::ReduceOp>();
  if (!reduce || reduce.getMode() != "ReduceSum" || !reduce.getKeepdims() ||
      !dims4(reduce.getInput()) || !reduce.getAxes())
    return {};
  const SmallVector<int64_t> axes = top::toInts(*reduce.getAxes());
  return axes.size() == 1 && (axes[0] == axis || axes[0] == axis - 4) ? reduce : tpu::ReduceOp();
}

/// What turns one row [B, H, 1, D] to [B, H, D, 1]; null where nothing does.
Operation *turnedRow(Value columns) {
  Operation *op = columns.getDefiningOp();
  const auto to = dims4(columns);
  const auto from = op && op->getNumOperands() > 0 ? dims4(op->getOperand(0)) : std::nullopt;
  if (!to || !from || (*to)[3] != 1 ||
      *from != std::array{(*to)[0], (*to)[1], int64_t{1}, (*to)[2]})
    return nullptr;
  return hasOrder(op, {0, 1, 3, 2}) || op->hasTrait<traits::ViewLike>() ? op : nullptr;
}

/// A mask [1, H * D, H * E] that holds where rows and columns are of one head.
Tensor meetings(int64_t heads, int64_t height, int64_t width, DataType type) {
  Tensor mask(type, Shape({1, heads * height, heads * width}));
  const std::span<std::byte> bytes = mask.mutableBytes();
  for (int64_t row = 0; row < heads * height; ++row)
    for (int64_t column = 0; column < heads * width; ++column)
      bytes[static_cast<size_t>(row * heads * width + column)] =
          static_cast<std::byte>(row / height == column / width ? 1 : 0);
  return mask;
}

/// What heads are made of, as rows. Each tensor is made once, behind the op whose result it stands
/// for.
class RowsOfHeads {
public:
  explicit RowsOfHeads(const Backend &backend) : backend(backend) {}

  /// [B, T, H * D] of [B, H, T, D]; null where something is not done to rows.
  Value rows(Value heads);
  /// Whether products with zeros take less than what they replace and the moves of `joined`.
  bool isWorthwhile(ArrayRef<Value> joined) const;
  bool hasProducts() const { return !products.empty(); }
  /// What rows were made of: heads that others made of rows.
  bool isKnown(Value heads) const { return ofRows.contains(heads); }
  /// Erases what was made and nothing reads.
  void forget();
  bool areComputed() const;

private:
  Value made(Value like, StringRef name, StringRef what, RankedTensorType type, ValueRange operands,
             const NamedAttrList &attributes);
  Value rowsAnew(Value heads);
  Value rowsOfElements(Operation *op);
  Value rowsOfPart(Value heads);
  Value rowsOfProduct(tpu::MatMulOp product);
  /// [B, H * D, T] of [B, H, T, D].
  Value columns(Value heads);
  /// [B, H * D, H * E] of [B, H, D, E].
  Value blocks(Value matrices);
  /// [B, H * D, 1] of [B, H, 1, D], and the same elements as [B, 1, H * D].
  Value shared(Value row);
  Value sharedRow(Value row);
  /// [B, T, H * E] of [B, H, T, 1]: one number for each of E columns.
  Value repeated(Value numbers, int64_t width);
  Value withoutMeetings(Value matrix, int64_t heads, int64_t width);
  Value sumsOfHeads(Value rows, Value weights, Value like, int64_t width,
                    const NamedAttrList &attributes, Value bias = {});
  Value sumsOfElements(tpu::ReduceOp sum, int64_t width);

  const Backend &backend;
  llvm::DenseMap<Value, Value> ofRows, ofColumns;
  SmallVector<Operation *> all;
  /// Products with zeros, and what they stand for.
  SmallVector<std::pair<Operation *, Operation *>> products;
  SmallVector<Value> leaves;
};

Value RowsOfHeads::made(Value like, StringRef name, StringRef what, RankedTensorType type,
                        ValueRange operands, const NamedAttrList &attributes) {
  OpMaker maker(like.getDefiningOp(), backend);
  maker.builder.setInsertionPointAfter(like.getDefiningOp());
  // Several may stand behind one op, in their order.
  for (Operation *each : all)
    if (each->getBlock() == like.getDefiningOp()->getBlock() &&
        maker.builder.getInsertionPoint() != each->getBlock()->end() &&
        !each->isBeforeInBlock(&*maker.builder.getInsertionPoint()) &&
        llvm::is_contained(operands, each->getResult(0)))
      maker.builder.setInsertionPointAfter(each);
  Value value = maker.make(name, what, Type(type), operands, attributes);
  all.push_back(value.getDefiningOp());
  return value;
}

/// Whether numbers of the same column add up to 1. An axis below 0 counts from the last one on.
static bool isAlongRows(tpu::SoftmaxOp softmax) {
  const auto axis = static_cast<int64_t>(softmax.getAxis());
  return axis == 2 || axis == -2;
}

Value RowsOfHeads::rows(Value heads) {
  const auto known = ofRows.find(heads);
  if (known != ofRows.end())
    return known->second;
  Value found = dims4(heads) && heads.getDefiningOp() ? rowsAnew(heads) : Value();
  ofRows[heads] = found;
  return found;
}

Value RowsOfHeads::rowsAnew(Value heads) {
  const auto [samples, number, length, width] = *dims4(heads);
  if (number == 1)
    return {};
  Operation *op = heads.getDefiningOp();
  if (const std::optional<HeadRows> found = rowsOfHeads(heads); found && found->windows == 1) {
    HeadRows apart = *found;
    if (apart.form == HeadRows::SampleTurned)
      return {};
    if (apart.form == HeadRows::Planes) {
      apart.tensor = asSamples(apart.tensor, apart.samples);
      apart.form = HeadRows::Apart;
    }
    if (apart.form == HeadRows::Channels) {
      apart.tensor = rowsOfChannels(apart.tensor);
      apart.form = HeadRows::Apart;
    }
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    Value columns = columnsOf(builder, apart, heads);
    leaves.push_back(heads);
    if (columns != apart.tensor)
      for (Value each = columns; each != apart.tensor; each = each.getDefiningOp()->getOperand(0))
        all.push_back(each.getDefiningOp());
    return columns;
  }
  if (hasOrder(op, {0, 1, 3, 2})) {
    // The columns of heads are channels, whatever gives them.
    const Value source = op->getOperand(0);
    const RankedTensorType from = staticType(source);
    if (!from || !source.getDefiningOp() || isConstantValue(source))
      return {};
    Builder builder(op->getContext());
    const SmallVector<int64_t> flat = {samples, number * width, length};
    OpMaker maker(op, backend);
    const Value none = maker.none();
    all.push_back(none.getDefiningOp());
    NamedAttrList shape, order;
    shape.set("shape", builder.getI64ArrayAttr(flat));
    order.set("order", builder.getI64ArrayAttr({0, 2, 1}));
    const Value channels = made(heads, tpu::ReshapeOp::getOperationName(), "channels",
                                from.clone(flat), {source, none}, shape);
    leaves.push_back(heads);
    return made(heads, tpu::PermuteOp::getOperationName(), "rows",
                from.clone({samples, length, number * width}), channels, order);
  }
  if (auto softmax = dyn_cast<tpu::SoftmaxOp>(op)) {
    // Each other one is apart in each head.
    if (!isAlongRows(softmax))
      return {};
    Value turned = columns(heads);
    const NamedAttribute order(StringAttr::get(op->getContext(), "order"),
                               Builder(op->getContext()).getI64ArrayAttr({0, 2, 1}));
    return turned ? made(heads, tpu::PermuteOp::getOperationName(), "rows",
                         staticType(heads).clone({samples, length, number * width}), turned,
                         NamedAttrList(order))
                  : Value();
  }
  if (tpu::MatMulOp product = plainProduct(heads))
    return rowsOfProduct(product);
  if (isa<tpu::SliceOp, tpu::PadOp>(op))
    return rowsOfPart(heads);
  return op->hasTrait<traits::Pointwise>() && op->getNumResults() == 1 ? rowsOfElements(op)
                                                                       : Value();
}

/// Elements of rows; other operands are single numbers, one for each head and row, or tables.
Value RowsOfHeads::rowsOfElements(Operation *op) {
  const Value heads = op->getResult(0);
  const auto dims = *dims4(heads);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    const RankedTensorType type = staticType(operand);
    Value row;
    if (isLeftOut(operand) || (type && isConstantValue(operand) && type.getNumElements() == 1) ||
        (isa<tpu::LutOp>(op) && operand != op->getOperand(0)))
      row = operand;
    else if (type && type.getShape() == ArrayRef<int64_t>(dims))
      row = rows(operand);
    else if (type && type.getShape() == ArrayRef<int64_t>{dims[0], dims[1], dims[2], 1})
      row = repeated(operand, dims[3]);
    else if (type && type.getShape() == ArrayRef<int64_t>{dims[0], dims[1], 1, dims[3]})
      row = sharedRow(operand);
    if (!row)
      return {};
    operands.push_back(row);
  }
  return made(heads, op->getName().getStringRef(), "rows",
              staticType(heads).clone({dims[0], dims[2], dims[1] * dims[3]}), operands,
              NamedAttrList(op->getAttrs()));
}

/// Some of the rows, or rows between constant ones.
Value RowsOfHeads::rowsOfPart(Value heads) {
  Operation *op = heads.getDefiningOp();
  const auto to = *dims4(heads);
  const auto from = dims4(op->getOperand(0));
  constexpr int64_t kRows = 2;
  if (!from || (*from)[1] != to[1] || (*from)[3] != to[3] ||
      !llvm::all_of(op->getOperands().drop_front(), isLeftOut))
    return {};
  Builder builder(op->getContext());
  NamedAttrList attributes(op->getAttrs());
  if (isa<tpu::SliceOp>(op)) {
    const std::optional<Picked> picked = slicePart(heads, kRows);
    if (!picked)
      return {};
    for (auto [name, number] : {std::pair{"axes", int64_t{1}},
                                {"offset", picked->begin},
                                {"ends", picked->begin + to[kRows]},
                                {"steps", int64_t{1}}})
      attributes.set(name, builder.getI64ArrayAttr(number));
  } else {
    auto pad = cast<tpu::PadOp>(op);
    const SmallVector<int64_t> pads =
        pad.getPaddings() ? top::toInts(*pad.getPaddings()) : SmallVector<int64_t>();
    if (pads.size() != 8 || pads[1] != 0 || pads[3] != 0 || pads[5] != 0 || pads[7] != 0)
      return {};
    attributes.set("paddings", builder.getI64ArrayAttr({pads[0], pads[2], 0, pads[4], pads[6], 0}));
  }
  Value row = rows(op->getOperand(0));
  if (!row)
    return {};
  SmallVector<Value> operands(op->getOperands());
  operands[0] = row;
  return made(heads, op->getName().getStringRef(), "rows",
              staticType(heads).clone({to[0], to[2], to[1] * to[3]}), operands, attributes);
}

Value RowsOfHeads::rowsOfProduct(tpu::MatMulOp product) {
  if (product.getLeftTranspose() || product.getRightTranspose())
    return {};
  const Value heads = product.getOutput();
  const auto dims = *dims4(heads);
  Value left = rows(product.getInput());
  Value right = left ? blocks(product.getRight()) : Value();
  if (!right)
    return {};
  const Value row = made(heads, tpu::MatMulOp::getOperationName(), "rows",
                         staticType(heads).clone({dims[0], dims[2], dims[1] * dims[3]}),
                         {left, right, product.getBias()}, NamedAttrList(product->getAttrs()));
  products.emplace_back(row.getDefiningOp(), product);
  return row;
}

Value RowsOfHeads::columns(Value heads) {
  const auto known = ofColumns.find(heads);
  if (known != ofColumns.end())
    return known->second;
  const auto dims = dims4(heads);
  Operation *op = heads.getDefiningOp();
  if (!dims || !op)
    return {};
  const RankedTensorType type =
      staticType(heads).clone({(*dims)[0], (*dims)[1] * (*dims)[3], (*dims)[2]});
  Builder builder(op->getContext());
  Value found;
  auto softmax = dyn_cast<tpu::SoftmaxOp>(op);
  auto cast = dyn_cast<tpu::CastOp>(op);
  if (softmax && isAlongRows(softmax)) {
    if (Value input = columns(softmax.getInput())) {
      NamedAttrList attributes(op->getAttrs());
      attributes.set("axis", builder.getI64IntegerAttr(2));
      found = made(heads, op->getName().getStringRef(), "columns", type, input, attributes);
    }
  } else if (cast && cast->getNumOperands() == 1 && cast.getInput().getDefiningOp() &&
             isa<tpu::SoftmaxOp>(cast.getInput().getDefiningOp())) {
    if (Value input = columns(cast.getInput()))
      found = made(heads, op->getName().getStringRef(), "columns", type, input,
                   NamedAttrList(op->getAttrs()));
  } else if (Value row = rows(heads)) {
    NamedAttrList attributes;
    attributes.set("order", builder.getI64ArrayAttr({0, 2, 1}));
    found = made(heads, tpu::PermuteOp::getOperationName(), "columns", type, row, attributes);
  }
  ofColumns[heads] = found;
  return found;
}

/// `matrix` [B, H * D, H * E], or [B, H * D, 1] repeated, 0 between heads. Floats are chosen, as
/// what is not wanted may be infinite; integers are multiplied.
Value RowsOfHeads::withoutMeetings(Value matrix, int64_t heads, int64_t width) {
  const RankedTensorType from = staticType(matrix);
  const RankedTensorType type = from.clone({from.getDimSize(0), from.getDimSize(1), heads * width});
  const int64_t height = from.getDimSize(1) / heads;
  OpMaker maker(matrix.getDefiningOp(), backend);
  maker.builder.setInsertionPointAfter(matrix.getDefiningOp());
  const auto weight = [&](const Tensor &tensor, StringRef what) {
    Value value = maker.weight(tensor, what);
    all.push_back(value.getDefiningOp());
    return value;
  };
  if (OpMaker::isFloat(matrix)) {
    const Tensor zero =
        convert(Tensor::of<float>(Shape({1}), std::array{0.0F}), *storageDataType(from));
    const Value mask = weight(meetings(heads, height, width, DataType::Bool), "of_one_head");
    return made(matrix, tpu::WhereOp::getOperationName(), "blocks", type,
                {mask, matrix, weight(zero, "of_two_heads")}, {});
  }
  const quant::UniformQuantizedType stored = tpu::quantizedType(matrix);
  const std::optional<DataType> integer = storageDataType(from);
  if (!stored || stored.getZeroPoint() != 0 || (integer != DataType::I8 && integer != DataType::U8))
    return {};
  Value mask = weight(meetings(heads, height, width, *integer), "of_one_head");
  mask.setType(staticType(mask).clone(
      quant::UniformQuantizedType::get(stored.getStorage(), stored.getExpressedType(), {1.0, 0})));
  NamedAttrList attributes;
  Builder &builder = maker.builder;
  attributes.set("multiplier", builder.getI64IntegerAttr(1));
  attributes.set("rshift", builder.getI64IntegerAttr(0));
  attributes.set("round_mode", builder.getStringAttr(roundingModeName(RoundingMode::HalfUp)));
  return made(matrix, tpu::MulOp::getOperationName(), "blocks", type, {matrix, mask}, attributes);
}

Value RowsOfHeads::blocks(Value matrices) {
  tpu::MatMulOp product = plainProduct(matrices);
  const auto dims = dims4(matrices);
  if (!product || !dims || product.getRightTranspose())
    return {};
  // The left operand is turned, or a permute did that.
  Value keys = product.getInput();
  if (!product.getLeftTranspose()) {
    auto permute = keys.getDefiningOp<tpu::PermuteOp>();
    if (!permute || !hasOrder(permute, {0, 1, 3, 2}))
      return {};
    keys = permute.getInput();
  }
  Value left = columns(keys);
  Value right = left ? rows(product.getRight()) : Value();
  if (!right)
    return {};
  NamedAttrList attributes(product->getAttrs());
  attributes.set("left_transpose", BoolAttr::get(product.getContext(), false));
  const Value all = made(
      matrices, tpu::MatMulOp::getOperationName(), "matrix",
      staticType(matrices).clone({(*dims)[0], (*dims)[1] * (*dims)[2], (*dims)[1] * (*dims)[3]}),
      {left, right, product.getBias()}, attributes);
  products.emplace_back(all.getDefiningOp(), product);
  return withoutMeetings(all, (*dims)[1], (*dims)[3]);
}

Value RowsOfHeads::shared(Value row) {
  tpu::ReduceOp sum = sumAlong(row, 2);
  if (!sum)
    return {};
  const auto dims = *dims4(sum.getInput());
  Value input = columns(sum.getInput());
  if (!input)
    return {};
  NamedAttrList attributes(sum->getAttrs());
  attributes.set("axes", Builder(sum.getContext()).getI64ArrayAttr(2));
  SmallVector<Value> operands(sum->getOperands());
  operands[0] = input;
  return made(row, tpu::ReduceOp::getOperationName(), "columns",
              staticType(row).clone({dims[0], dims[1] * dims[3], 1}), operands, attributes);
}

Value RowsOfHeads::sharedRow(Value row) {
  Value column = shared(row);
  if (!column)
    return {};
  const RankedTensorType type = staticType(column);
  OpMaker maker(column.getDefiningOp(), backend);
  maker.builder.setInsertionPointAfter(column.getDefiningOp());
  const Value none = maker.none();
  all.push_back(none.getDefiningOp());
  const SmallVector<int64_t> dims = {type.getDimSize(0), 1, type.getDimSize(1)};
  NamedAttrList attributes;
  attributes.set("shape", maker.builder.getI64ArrayAttr(dims));
  return made(column, tpu::ReshapeOp::getOperationName(), "row", type.clone(dims), {column, none},
              attributes);
}

/// The attributes of a product that neither transposes nor limits.
static NamedAttrList plainAttributes(Builder &builder) {
  NamedAttrList attributes;
  for (StringRef name : {"do_relu", "left_transpose", "right_transpose"})
    attributes.set(name, builder.getBoolAttr(false));
  attributes.set("relu_limit", builder.getF64FloatAttr(-1));
  return attributes;
}

/// rows [B, T, H * D] times weights [B, H * D, 1], added up for each head, once for each of `width`
/// columns of the head.
Value RowsOfHeads::sumsOfHeads(Value rows, Value weights, Value like, int64_t width,
                               const NamedAttrList &attributes, Value bias) {
  const auto dims = *dims4(like);
  const Value matrix = withoutMeetings(weights, dims[1], width);
  if (!matrix)
    return {};
  OpMaker maker(like.getDefiningOp(), backend);
  // A number for each column.
  const std::optional<Tensor> number =
      bias && !isLeftOut(bias) ? OpMaker::constantOf(bias) : std::nullopt;
  Value addend;
  if (number) {
    const std::vector<float> numbers(static_cast<size_t>(dims[1] * width),
                                     convert(*number, DataType::F32).data<float>().front());
    addend = maker.weight(Tensor::of<float>(Shape({dims[1] * width}), numbers), "addends", bias);
  } else {
    addend = maker.none();
  }
  all.push_back(addend.getDefiningOp());
  const Value sums = made(like, tpu::MatMulOp::getOperationName(), "rows",
                          staticType(like).clone({dims[0], dims[2], dims[1] * width}),
                          {rows, matrix, addend}, attributes);
  products.emplace_back(sums.getDefiningOp(), like.getDefiningOp());
  return sums;
}

/// The sums of the elements of each head's rows: a product with ones, which rounds as they do.
Value RowsOfHeads::sumsOfElements(tpu::ReduceOp sum, int64_t width) {
  const auto dims = *dims4(sum.getInput());
  Value input = rows(sum.getInput());
  if (!input)
    return {};
  const Value like = sum.getOutput();
  OpMaker maker(sum, backend);
  maker.builder.setInsertionPointAfter(sum);
  const Tensor ones = meetings(dims[1], dims[3], width, DataType::I8)
                          .reshaped(Shape({dims[1] * dims[3], dims[1] * width}));
  const bool isFloat = OpMaker::isFloat(like);
  const Value weight =
      maker.weight(isFloat ? convert(ones, *storageDataType(input.getType())) : ones, "ones");
  const Value none = maker.none();
  for (Value each : {weight, none})
    all.push_back(each.getDefiningOp());
  NamedAttrList attributes = plainAttributes(maker.builder);
  if (!isFloat)
    for (StringRef name : {"multiplier", "rshift", "round_mode"})
      if (Attribute value = sum->getAttr(name))
        attributes.set(name, value);
  const Value sums = made(like, tpu::MatMulOp::getOperationName(), "rows",
                          staticType(like).clone({dims[0], dims[2], dims[1] * width}),
                          {input, weight, none}, attributes);
  products.emplace_back(sums.getDefiningOp(), sum);
  return sums;
}

Value RowsOfHeads::repeated(Value numbers, int64_t width) {
  const auto known = ofRows.find(numbers);
  if (known != ofRows.end())
    return known->second;
  const auto dims = dims4(numbers);
  Operation *op = numbers.getDefiningOp();
  if (!dims || !op)
    return {};
  Builder builder(op->getContext());
  const bool isFloat = OpMaker::isFloat(numbers);
  Value found;
  if (tpu::ReduceOp sum = sumAlong(numbers, 3)) {
    // Of a product of rows with one row for all.
    auto scaled = sum.getInput().getDefiningOp<tpu::MulOp>();
    if (isFloat && scaled && scaled.getInputs().size() == 2)
      for (unsigned index : {0, 1}) {
        const Value all = scaled.getInputs()[1 - index];
        if (!sumAlong(all, 2))
          continue;
        Value row = rows(scaled.getInputs()[index]);
        Value weights = row ? shared(all) : Value();
        if (weights)
          found = sumsOfHeads(row, weights, numbers, width, plainAttributes(builder));
      }
    if (!found)
      found = sumsOfElements(sum, width);
  } else if (auto product = dyn_cast<tpu::MatMulOp>(op)) {
    Value all = product.getRight();
    Operation *turned = turnedRow(all);
    const bool isNumber =
        isLeftOut(product.getBias()) || (isFloat && OpMaker::constantOf(product.getBias()) &&
                                         OpMaker::typeOf(product.getBias()).getNumElements() == 1);
    if (isNumber && !product.getDoRelu() && product.getRightTranspose() == !turned) {
      if (turned)
        all = turned->getOperand(0);
      Value row = product.getLeftTranspose() ? Value() : rows(product.getInput());
      Value weights = row ? shared(all) : Value();
      NamedAttrList attributes(product->getAttrs());
      attributes.set("right_transpose", builder.getBoolAttr(false));
      if (weights)
        found = sumsOfHeads(row, weights, numbers, width, attributes, product.getBias());
    }
  } else if (op->hasTrait<traits::Pointwise>() && op->getNumResults() == 1) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      const RankedTensorType type = staticType(operand);
      const bool isNumber = type && isConstantValue(operand) && type.getNumElements() == 1;
      const bool isTable = isa<tpu::LutOp>(op) && operand != op->getOperand(0);
      Value row = isLeftOut(operand) || isNumber || isTable ? operand : repeated(operand, width);
      if (!row)
        return {};
      operands.push_back(row);
    }
    found = made(numbers, op->getName().getStringRef(), "rows",
                 staticType(numbers).clone({(*dims)[0], (*dims)[2], (*dims)[1] * width}), operands,
                 NamedAttrList(op->getAttrs()));
  }
  ofRows[numbers] = found;
  return found;
}

bool RowsOfHeads::areComputed() const {
  return llvm::all_of(all, [&](Operation *op) {
    return isConstant(op) || !isLayer(op) || backend.placeOf(op).has_value();
  });
}

bool RowsOfHeads::isWorthwhile(ArrayRef<Value> joined) const {
  int64_t saved = 0;
  const auto count = [&](Value heads) {
    const auto dims = *dims4(heads);
    saved += backend.transferCycles(globalBytes(heads.getType()), dims[0] * dims[1] * dims[2]);
  };
  llvm::for_each(leaves, count);
  llvm::for_each(joined, count);
  int64_t more = 0;
  for (const auto &[made, before] : products) {
    const std::optional<int64_t> cost = layerCost(made, backend);
    if (!cost)
      return false;
    more += *cost - layerCost(before, backend).value_or(0);
  }
  // Turned rows are moved, unless the chip turns them in local memory.
  for (Operation *op : all)
    if (auto turned = dyn_cast<tpu::PermuteOp>(op))
      more += backend.transferCycles(globalBytes(turned.getOutput().getType()),
                                     staticType(turned.getOutput()).getDimSize(1));
  return more < saved;
}

void RowsOfHeads::forget() {
  // Those that read others come later.
  bool erased = true;
  while (erased) {
    erased = false;
    for (Operation *&op : all)
      if (op && op->use_empty()) {
        op->erase();
        op = nullptr;
        erased = true;
      }
    llvm::erase(all, nullptr);
  }
  all.clear();
}

/// The rows that heads [B, H, T, D] are put back into, or the channels of pictures; null where
/// something else reads them.
Operation *joinOf(tpu::PermuteOp permute) {
  const auto dims = dims4(permute.getInput());
  if (!dims || !permute.getOutput().hasOneUse())
    return nullptr;
  auto join = dyn_cast<tpu::ReshapeOp>(*permute.getOutput().user_begin());
  const RankedTensorType type = join ? staticType(join.getOutput()) : RankedTensorType();
  const auto [samples, number, length, width] = *dims;
  if (!type)
    return nullptr;
  const ArrayRef<int64_t> to = type.getShape();
  if (hasOrder(permute, {0, 2, 1, 3}))
    return to == ArrayRef<int64_t>{samples, length, number * width} ? join : nullptr;
  const bool isOfChannels = hasOrder(permute, {0, 1, 3, 2}) && to.size() >= 3 && to[0] == samples &&
                            to[1] == number * width;
  return isOfChannels ? join : nullptr;
}

/// Has the channels of pictures that `permute` gives of heads be those of `rows`.
void joinChannels(tpu::PermuteOp permute, Value rows, const Backend &backend) {
  Operation *join = joinOf(permute);
  OpMaker maker(join, backend);
  const Value turned = maker.permuted(rows, {0, 2, 1}, "of_rows");
  maker.replace(0, maker.reshaped(turned, OpMaker::dimsOf(join->getResult(0)), "shaped"));
  eraseUnused(join);
}

} // namespace

void codegen::multiplyRowsOfHeads(func::FuncOp main, const Backend &backend) {
  SmallVector<tpu::PermuteOp> toRows;
  SmallVector<tpu::PermuteOp> toChannels;
  for (auto permute : main.front().getOps<tpu::PermuteOp>())
    if (joinOf(permute))
      (hasOrder(permute, {0, 2, 1, 3}) ? toRows : toChannels).push_back(permute);
  for (tpu::PermuteOp permute : toRows) {
    RowsOfHeads made(backend);
    const Value rows = made.rows(permute.getInput());
    if (!rows || !made.hasProducts()) {
      made.forget();
      continue;
    }
    // Pictures of the same heads.
    SmallVector<std::pair<tpu::PermuteOp, Value>> pictures;
    for (tpu::PermuteOp other : toChannels) {
      if (!other || !other->isBeforeInBlock(permute))
        continue;
      auto slice = other.getInput().getDefiningOp<tpu::SliceOp>();
      if (!made.isKnown(slice ? slice.getInput() : other.getInput()))
        continue;
      if (const Value channels = made.rows(other.getInput()))
        pictures.emplace_back(other, channels);
    }
    SmallVector<Value> joined = {permute.getInput()};
    for (const auto &[other, channels] : pictures)
      joined.push_back(tpu::PermuteOp(other).getInput());
    if (!made.areComputed() || !made.isWorthwhile(joined)) {
      made.forget();
      continue;
    }
    for (auto &[other, channels] : pictures) {
      joinChannels(other, channels, backend);
      std::ranges::replace(toChannels, other, tpu::PermuteOp());
    }
    Operation *join = joinOf(permute);
    rows.getDefiningOp()->setLoc(join->getLoc());
    join->getResult(0).replaceAllUsesWith(rows);
    eraseUnused(join);
    // What was tried in vain.
    made.forget();
  }
  // Pictures of heads that nothing else reads.
  for (tpu::PermuteOp permute : toChannels) {
    if (!permute)
      continue;
    RowsOfHeads made(backend);
    const Value rows = made.rows(permute.getInput());
    if (rows && made.hasProducts() && made.areComputed() && made.isWorthwhile(permute.getInput()))
      joinChannels(permute, rows, backend);
    made.forget();
  }
}
