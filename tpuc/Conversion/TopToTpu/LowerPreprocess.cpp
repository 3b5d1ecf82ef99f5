//===- LowerPreprocess.cpp - Pictures of bytes as inputs, on a chip ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/LowerPreprocess.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/PictureFrames.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/PreprocessOps.h"
#include "tpuc/Dialect/Tpu/ResizeOps.h"
#include "tpuc/Interpreter/Kernels/StoredCast.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/Float.h"
#include "tpuc/Support/PictureFormat.h"
#include "tpuc/Support/ThreadPool.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace tpuc;

namespace {

/// The numbers of channels from 0 on, in f32; all are `otherwise` where none are given.
double numberOf(ArrayRef<double> numbers, int64_t channel, double otherwise) {
  return numbers.empty() ? otherwise : static_cast<float>(numbers[static_cast<size_t>(channel)]);
}

int64_t numChannelsOf(top::PreprocessOp op) {
  return cast<RankedTensorType>(op.getOutput().getType())
      .getDimSize(op.getChannelFormat() == "nchw" ? 1 : 3);
}

/// For each channel what every byte becomes: the number in f32, stored as `type` says.
Tensor tablesOf(top::PreprocessOp op, quant::UniformQuantizedType type) {
  const std::vector<double> mean = toDoubles(op.getMean());
  const std::vector<double> scale = toDoubles(op.getScale());
  Tensor numbers(DataType::F32, Shape{numChannelsOf(op), 256});
  const auto elements = numbers.mutableData<float>();
  for (int64_t channel = 0; channel < numChannelsOf(op); ++channel)
    for (int64_t byte = 0; byte < 256; ++byte)
      elements[static_cast<size_t>(channel * 256 + byte)] =
          (static_cast<float>(byte) - static_cast<float>(numberOf(mean, channel, 0))) *
          static_cast<float>(numberOf(scale, channel, 1));
  Tensor stored(*storageDataType(type), numbers.shape());
  ThreadPool threads(1);
  kernels::quantizeStored(numbers, tpu::paramsOf(type), tpu::rangeOf(type), stored, threads);
  return stored;
}

/// Whether each row holds the bytes in their order.
bool isIdentity(const Tensor &tables) {
  const auto bytes = tables.rawBytes();
  for (size_t at = 0; at < bytes.size(); ++at)
    if (static_cast<uint8_t>(bytes[at]) != at % 256)
      return false;
  return true;
}

/// result[m] = bias[m] + sum over c of matrix[m][c] * channel c
struct ChannelMix {
  std::vector<std::vector<double>> matrix;
  std::vector<double> bias;
};

class PictureLowering {
public:
  PictureLowering(top::PreprocessOp op, Lowering &lowering);
  Expected<void> run();

private:
  Value make(StringRef opName, StringRef what, RankedTensorType type, ValueRange operands,
             const NamedAttrList &attributes = {});
  Value moved(StringRef opName, StringRef what, ArrayRef<int64_t> dims, ValueRange operands,
              const NamedAttrList &attributes);
  Value permuted(Value value, ArrayRef<int64_t> order, StringRef what);
  Value sliced(Value value, ArrayRef<int64_t> axes, ArrayRef<int64_t> begins,
               ArrayRef<int64_t> sizes, StringRef what);
  Value joined(ValueRange values, StringRef what);
  Value reshaped(Value value, ArrayRef<int64_t> dims, StringRef what);
  Value planeOfFrame(const PicturePlane &plane, StringRef what);
  Value picturesOfFrame();
  Value planesOfYuv();
  Value planes();
  Value mixed(Value value, const ChannelMix &mix, StringRef what, RankedTensorType type,
              bool isApart = false);

  Type wideFloats() const;
  static Tensor weightsOf(const ChannelMix &mix, bool isApart, bool isTwice);
  static bool isExactInBf16(const ChannelMix &mix);
  ChannelMix yuvToColours();
  double meanOf(int64_t channel) const;
  double scaleOf(int64_t channel) const;
  bool isInOrder() const;
  bool isPlain() const;

  Value coloursOf(Value yuv);
  Type floatsOfReaders();
  Value onFloats(Value bytes);
  Value onIntegers(Value bytes);
  Value ordered(Value value);

  static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

  top::PreprocessOp op;
  Lowering &lowering;
  OpBuilder &builder;
  std::string name;
  PictureFormat format;
  /// Where the picture lies in a frame buffer.
  std::optional<PictureFrame> frame;
  PictureExtents extents;
  /// The bytes of the picture.
  Value input;
  bool isNchw;
  std::vector<double> mean, scale;
  /// By channels of the network: the channel of the format.
  SmallVector<int64_t> sources;
};

PictureLowering::PictureLowering(top::PreprocessOp op, Lowering &lowering)
    : op(op), lowering(lowering), builder(lowering.builder), name(layerName(op)),
      format(*parsePictureFormat(std::string_view(op.getCustomizationFormat()))),
      frame(top::frameOf(op)),
      extents(*pictureExtents(format, typeOf(op.getInput()).getShape(), frame)),
      input(lowering.as(op.getInput(), typeOf(op.getInput()).getElementType())),
      isNchw(op.getChannelFormat() == "nchw"), mean(toDoubles(op.getMean())),
      scale(toDoubles(op.getScale())) {
  for (int64_t channel = 0; channel < numChannelsOf(op); ++channel)
    sources.push_back(*channelIn(format, std::string_view(op.getPixelFormat()), channel));
}

double PictureLowering::meanOf(int64_t channel) const { return numberOf(mean, channel, 0); }

double PictureLowering::scaleOf(int64_t channel) const { return numberOf(scale, channel, 1); }

/// Whether the channels of the bytes are those of the network.
bool PictureLowering::isInOrder() const {
  if (isYuv(format))
    return true; // The colours are made in the network's order.
  for (auto [channel, source] : llvm::enumerate(sources))
    if (source != static_cast<int64_t>(channel))
      return false;
  return static_cast<int64_t>(sources.size()) == numChannels(format);
}

/// Whether nothing is normalized.
bool PictureLowering::isPlain() const {
  return llvm::all_of(mean, [](double number) { return number == 0; }) &&
         llvm::all_of(scale, [](double number) { return number == 1; });
}

//===--- Ops --------------------------------------------------------------===//

Value PictureLowering::make(StringRef opName, StringRef what, RankedTensorType type,
                            ValueRange operands, const NamedAttrList &attributes) {
  OperationState state(NameLoc::get(builder.getStringAttr(name + "_" + what.str())), opName,
                       operands, Type(type), attributes.getAttrs());
  return builder.create(state)->getResult(0);
}

/// The elements of the first operand in other places.
Value PictureLowering::moved(StringRef opName, StringRef what, ArrayRef<int64_t> dims,
                             ValueRange operands, const NamedAttrList &attributes) {
  return make(opName, what, typeOf(operands.front()).clone(dims), operands, attributes);
}

Value PictureLowering::permuted(Value value, ArrayRef<int64_t> order, StringRef what) {
  SmallVector<int64_t> dims;
  for (int64_t source : order)
    dims.push_back(typeOf(value).getDimSize(static_cast<unsigned>(source)));
  NamedAttrList attributes;
  attributes.set("order", builder.getI64ArrayAttr(order));
  return moved(tpu::PermuteOp::getOperationName(), what, dims, value, attributes);
}

Value PictureLowering::sliced(Value value, ArrayRef<int64_t> axes, ArrayRef<int64_t> begins,
                              ArrayRef<int64_t> sizes, StringRef what) {
  SmallVector<int64_t> dims(typeOf(value).getShape());
  SmallVector<int64_t> ends;
  for (auto [axis, begin, size] : llvm::zip_equal(axes, begins, sizes)) {
    dims[static_cast<size_t>(axis)] = size;
    ends.push_back(begin + size);
  }
  if (ArrayRef<int64_t>(dims) == typeOf(value).getShape())
    return value;
  NamedAttrList attributes;
  attributes.set("offset", builder.getI64ArrayAttr(begins));
  attributes.set("ends", builder.getI64ArrayAttr(ends));
  attributes.set("steps", builder.getI64ArrayAttr(SmallVector<int64_t>(axes.size(), 1)));
  attributes.set("axes", builder.getI64ArrayAttr(axes));
  const Value no = lowering.none();
  return moved(tpu::SliceOp::getOperationName(), what, dims, {value, no, no, no, no}, attributes);
}

Value PictureLowering::joined(ValueRange values, StringRef what) {
  SmallVector<int64_t> dims(typeOf(values.front()).getShape());
  dims[1] = 0;
  for (Value value : values)
    dims[1] += typeOf(value).getDimSize(1);
  NamedAttrList attributes;
  attributes.set("axis", builder.getI64IntegerAttr(1));
  return moved(tpu::ConcatOp::getOperationName(), what, dims, values, attributes);
}

Value PictureLowering::reshaped(Value value, ArrayRef<int64_t> dims, StringRef what) {
  if (typeOf(value).getShape() == dims)
    return value;
  NamedAttrList shape;
  shape.set("shape", builder.getI64ArrayAttr(dims));
  return moved(tpu::ReshapeOp::getOperationName(), what, dims, {value, lowering.none()}, shape);
}

/// The rows of a plane of the frame, [N, 1, rows, bytes of a row], without gaps.
Value PictureLowering::planeOfFrame(const PicturePlane &plane, StringRef what) {
  const Value bytes =
      sliced(input, {3}, {plane.offset}, {plane.rows * plane.stride}, (what + "_bytes").str());
  const Value rows =
      reshaped(bytes, {extents.batch, 1, plane.rows, plane.stride}, (what + "_rows").str());
  return sliced(rows, {3}, {0}, {plane.rowBytes}, what);
}

/// The bytes of a frame of other formats than YUV as those of a picture without gaps.
Value PictureLowering::picturesOfFrame() {
  const PictureBytes bytes(format, extents.height, extents.width, frame->alignment);
  const PicturePlane &plane = bytes.planes()[0];
  const ArrayRef<int64_t> dims = typeOf(input).getShape();
  const Value planes =
      sliced(input, {3}, {0}, {dims[2] == 1 ? plane.rows * plane.stride : dims[3]}, "plane_bytes");
  const Value rows =
      reshaped(planes, {extents.batch, dims[1], plane.rows, plane.stride}, "plane_rows");
  const Value whole = sliced(rows, {3}, {0}, {plane.rowBytes}, "frame");
  return isPacked(format)
             ? reshaped(whole, {extents.batch, extents.height, extents.width, numChannels(format)},
                        "pixels_of_rows")
             : whole;
}

/// [N, 3, H, W] of Y and what stands behind it, in the order of the bytes.
Value PictureLowering::planesOfYuv() {
  const auto [batch, height, width] = extents;
  const bool isPlanar = format == PictureFormat::Yuv420Planar;
  Value luma, chroma;
  if (frame) {
    const PictureBytes bytes(format, height, width, frame->alignment);
    luma = planeOfFrame(bytes.planes()[0], "luma");
    chroma = planeOfFrame(bytes.planes()[1], isPlanar ? "chroma_1" : "chroma");
    if (isPlanar)
      chroma = joined({chroma, planeOfFrame(bytes.planes()[2], "chroma_2")}, "chroma");
  } else {
    luma = sliced(input, {2}, {0}, {height}, "luma");
    chroma = sliced(input, {2}, {height}, {height / 2}, "chroma");
  }
  const SmallVector<int64_t> dims = isPlanar
                                        ? SmallVector<int64_t>{batch, 2, height / 2, width / 2}
                                        : SmallVector<int64_t>{batch, height / 2, width / 2, 2};
  chroma = reshaped(chroma, dims, "pairs");
  if (!isPlanar)
    chroma = permuted(chroma, {0, 3, 1, 2}, "chroma_planes");
  NamedAttrList twice;
  twice.set("scale_h", builder.getI64IntegerAttr(2));
  twice.set("scale_w", builder.getI64IntegerAttr(2));
  chroma = moved(tpu::UpsampleOp::getOperationName(), "chroma_repeated", {batch, 2, height, width},
                 chroma, twice);
  return joined({luma, chroma}, "yuv");
}

/// The bytes as [N, C, height, width] of the network's extents.
Value PictureLowering::planes() {
  Value value = input;
  if (isYuv(format))
    value = planesOfYuv();
  else if (frame)
    value = picturesOfFrame();
  if (isPacked(format))
    value = permuted(value, {0, 3, 1, 2}, "planar");
  const ArrayRef<int64_t> dims = typeOf(op.getOutput()).getShape();
  const int64_t height = dims[isNchw ? 2 : 1];
  const int64_t width = dims[isNchw ? 3 : 2];
  return sliced(value, {2, 3}, {extents.height / 2 - height / 2, extents.width / 2 - width / 2},
                {height, width}, "cropped");
}

/// The floats in which sums of channels are computed: F32, or BF16 where the chip has no wider
/// ones.
Type PictureLowering::wideFloats() const {
  return floatType(builder,
                   hasScheme(lowering.target, schemes::kF32) ? DataType::F32 : DataType::BF16);
}

bool PictureLowering::isExactInBf16(const ChannelMix &mix) {
  return llvm::all_of(mix.matrix, [](const std::vector<double> &row) {
    return llvm::all_of(row, [](double number) {
      return bf16ToF32(f32ToBF16(static_cast<float>(number))) == number;
    });
  });
}

/// The weights of `mix` for each result. With `isTwice` each channel is there twice: of a weight w,
/// the nearest number of 8 bits, then that of what is left of w.
Tensor PictureLowering::weightsOf(const ChannelMix &mix, bool isApart, bool isTwice) {
  std::vector<float> weights;
  for (auto [index, row] : llvm::enumerate(mix.matrix)) {
    std::vector<float> rest;
    for (auto [column, number] : llvm::enumerate(row)) {
      if (isApart && index != column)
        continue;
      const auto whole = static_cast<float>(number);
      weights.push_back(isTwice ? bf16ToF32(f32ToBF16(whole)) : whole);
      rest.push_back(static_cast<float>(number - weights.back()));
    }
    if (isTwice)
      llvm::append_range(weights, rest);
  }
  const auto rows = static_cast<int64_t>(mix.matrix.size());
  Tensor filter(DataType::F32, Shape{rows, std::ssize(weights) / rows, 1, 1});
  llvm::copy(weights, filter.mutableData<float>().begin());
  return filter;
}

/// A convolution of single pixels in floats: `isApart`, of one channel for each result, those of
/// the matrix's diagonal.
Value PictureLowering::mixed(Value value, const ChannelMix &mix, StringRef what,
                             RankedTensorType type, bool isApart) {
  const auto rows = static_cast<int64_t>(mix.matrix.size());
  const bool isBf16 = type.getElementType().isBF16();
  const bool isTwice = isBf16 && !isExactInBf16(mix);
  isApart &= !isTwice;
  if (isTwice)
    value = joined({value, value}, (what + "_twice").str());
  Tensor filter = weightsOf(mix, isApart, isTwice);
  if (isBf16)
    filter = convert(filter, DataType::BF16);
  Tensor bias(DataType::F32, Shape{rows});
  llvm::transform(mix.bias, bias.mutableData<float>().begin(),
                  [](double number) { return static_cast<float>(number); });
  NamedAttrList attributes;
  attributes.set("kernel_shape", builder.getI64ArrayAttr({1, 1}));
  attributes.set("strides", builder.getI64ArrayAttr({1, 1}));
  attributes.set("pads", builder.getI64ArrayAttr({0, 0, 0, 0}));
  attributes.set("group", builder.getI64IntegerAttr(isApart ? rows : 1));
  const std::string suffix = "_" + what.str();
  const Value filterValue = lowering.weight(op, suffix + "_filter", std::move(filter));
  const Value biasValue = lowering.weight(op, suffix + "_bias", std::move(bias));
  return make(tpu::ConvOp::getOperationName(), what, type, {value, filterValue, biasValue},
              attributes);
}

//===--- Numbers ----------------------------------------------------------===//

/// The channels of the network, from 0 to 255, of the planes of YUV in the order of the bytes.
ChannelMix PictureLowering::yuvToColours() {
  const YuvToRgb yuv = yuvToRgb(op.getVideoRange());
  const std::array<double, 3> ofU = {0, yuv.greenU, yuv.blueU};
  const std::array<double, 3> ofV = {yuv.redV, yuv.greenV, 0};
  constexpr double kMiddle = 128;
  const size_t u = format == PictureFormat::YuvNv21 ? 2 : 1;
  ChannelMix mix;
  for (int64_t source : sources) {
    const auto colour = static_cast<size_t>(source);
    std::vector<double> row = {yuv.luma, 0, 0};
    row[u] = ofU[colour];
    row[3 - u] = ofV[colour];
    mix.matrix.push_back(row);
    mix.bias.push_back(-yuv.luma * yuv.yOffset - kMiddle * (ofU[colour] + ofV[colour]));
  }
  return mix;
}

//===--- On floats --------------------------------------------------------===//

/// Bytes of the network's channels of those of YUV: sums that are exact in f32, rounded. In BF16,
/// sums below 128 are rounded to a half or a quarter first.
Value PictureLowering::coloursOf(Value yuv) {
  RankedTensorType type = typeOf(yuv);
  SmallVector<int64_t> dims(type.getShape());
  dims[1] = static_cast<int64_t>(sources.size());
  RankedTensorType floats = type.clone(wideFloats());
  const Value wide = make(tpu::CastOp::getOperationName(), "yuv_floats", floats, yuv);
  const Value sums = mixed(wide, yuvToColours(), "sums", floats.clone(dims));
  return make(tpu::CastOp::getOperationName(), "colours", type.clone(dims), sums);
}

/// The floats in which all readers take bytes, which each of them holds exactly.
Type PictureLowering::floatsOfReaders() {
  std::optional<DataType> all;
  for (Operation *user : op->getUsers()) {
    const DataType each = user->hasTrait<OpTrait::IsTerminator>()
                              ? DataType::F32
                              : lowering.plan.of(user).scheme.activation;
    if (!isFloat(each) || (all && *all != each))
      return wideFloats();
    all = each;
  }
  return floatType(builder, all.value_or(DataType::F32));
}

Value PictureLowering::onFloats(Value bytes) {
  if (isPlain()) {
    const Value value = ordered(bytes);
    return make(tpu::CastOp::getOperationName(), "floats", typeOf(value).clone(floatsOfReaders()),
                value);
  }
  SmallVector<int64_t> dims(typeOf(bytes).getShape());
  RankedTensorType type = typeOf(bytes).clone(wideFloats());
  const Value value = make(tpu::CastOp::getOperationName(), "numbers", type, bytes);
  ChannelMix mix;
  for (auto [index, source] : llvm::enumerate(sources)) {
    const auto channel = static_cast<int64_t>(index);
    std::vector<double> row(static_cast<size_t>(dims[1]), 0);
    row[static_cast<size_t>(isInOrder() ? channel : source)] = scaleOf(channel);
    mix.matrix.push_back(std::move(row));
    mix.bias.push_back(-meanOf(channel) * scaleOf(channel));
  }
  dims[1] = static_cast<int64_t>(sources.size());
  // Rows of a layer before one in 16 bits are packed with it; in F32 single channels are faster.
  const bool isWide = llvm::all_of(op->getUsers(), [&](Operation *user) {
    return user->hasTrait<OpTrait::IsTerminator>() ||
           lowering.plan.of(user).scheme.activation == DataType::F32;
  });
  return mixed(value, mix, "scaled", type.clone(dims), isWide && isInOrder());
}

//===--- On integers ------------------------------------------------------===//

/// The bytes of the channels in the network's order.
Value PictureLowering::ordered(Value value) {
  if (isInOrder())
    return value;
  const auto isNext = [](int64_t left, int64_t right) { return right != left + 1; };
  if (std::ranges::adjacent_find(sources, isNext) == sources.end())
    return sliced(value, {1}, {sources[0]}, {static_cast<int64_t>(sources.size())}, "channels");
  SmallVector<Value> channels;
  for (auto [index, source] : llvm::enumerate(sources))
    channels.push_back(
        sliced(value, {1}, {source}, {1}, (llvm::Twine("channel") + llvm::Twine(index)).str()));
  return channels.size() == 1 ? channels[0] : joined(channels, "swapped");
}

Value PictureLowering::onIntegers(Value bytes) {
  const Value value = ordered(bytes);
  const quant::UniformQuantizedType type = lowering.plan.quantized(op.getOutput());
  Tensor entries = tablesOf(op, type);
  if (type == typeOf(value).getElementType() && isIdentity(entries))
    return value;
  // The bits of the results; their sign is the result's business.
  Tensor table = convert(entries, DataType::I8, {.integerOverflow = IntegerOverflow::Wrap});
  const Value rows = lowering.weight(op, "_table", std::move(table));
  return make(tpu::ScaleLutOp::getOperationName(), "scaled", typeOf(value).clone(type),
              {value, rows});
}

Expected<void> PictureLowering::run() {
  Value value = planes();
  if (isYuv(format))
    value = coloursOf(value);
  if (isPlain() && holdsPictureBytes(op.getOutput()))
    value = ordered(value);
  else
    value = lowering.plan.isInteger(op) ? onIntegers(value) : onFloats(value);
  if (!isNchw)
    value = permuted(value, {0, 2, 3, 1}, "pixels");
  Operation *made = value.getDefiningOp();
  // What is given as it lies keeps the input's name.
  if (!isa<top::InputOp>(made))
    made->setLoc(op.getLoc());
  lowering.replace(op, made);
  return {};
}

} // namespace

bool tpuc::isPictureInput(top::InputOp input) {
  return llvm::any_of(input->getUsers(),
                      [](Operation *user) { return isa<top::PreprocessOp>(user); });
}

bool tpuc::holdsPictureBytes(Value value) {
  const auto type = dyn_cast<quant::UniformQuantizedType>(getElementTypeOrSelf(value.getType()));
  return type && type.getStorage() == quant::StorageSpec::full(/*isSigned=*/false, 8) &&
         type.getScale() == 1 && type.getZeroPoint() == 0;
}

bool tpuc::keepsBytes(top::PreprocessOp op, quant::UniformQuantizedType type) {
  return isIdentity(tablesOf(op, type));
}

Expected<void> tpuc::lowerPreprocess(top::PreprocessOp op, Lowering &lowering) {
  return PictureLowering(op, lowering).run();
}
