//===- QuantTypes.cpp - The types of the quant dialect: syntax and rules ---------- -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Quant/QuantTypes.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"

#include <cmath>

using namespace mlir;
using namespace tpuc::quant;

namespace {

constexpr unsigned kMaxStorageWidth = 32;

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

} // namespace

//===-- Parameters ------------------------------------------------------------===//

StorageSpec StorageSpec::full(bool isSigned, unsigned width) {
  if (isSigned)
    return {true, width, -(int64_t(1) << (width - 1)), (int64_t(1) << (width - 1)) - 1};
  return {false, width, 0, (int64_t(1) << width) - 1};
}

bool FloatRange::operator==(const FloatRange &other) const {
  return llvm::bit_cast<uint64_t>(min) == llvm::bit_cast<uint64_t>(other.min) &&
         llvm::bit_cast<uint64_t>(max) == llvm::bit_cast<uint64_t>(other.max);
}

llvm::hash_code tpuc::quant::hash_value(const StorageSpec &spec) {
  return llvm::hash_combine(spec.isSigned, spec.width, spec.min, spec.max);
}

llvm::hash_code tpuc::quant::hash_value(const AffineParams &params) {
  return llvm::hash_combine(llvm::bit_cast<uint64_t>(params.scale), params.zeroPoint);
}

llvm::hash_code tpuc::quant::hash_value(const FloatRange &range) {
  return llvm::hash_combine(llvm::bit_cast<uint64_t>(range.min),
                            llvm::bit_cast<uint64_t>(range.max));
}

//===-- Verification ----------------------------------------------------------===//

static LogicalResult verifyStorage(EmitError emitError, const StorageSpec &storage) {
  const char prefix = storage.isSigned ? 'i' : 'u';
  if (storage.width < 1 || storage.width > kMaxStorageWidth)
    return emitError() << "storage type " << prefix << storage.width << " has " << storage.width
                       << " bits; expected 1 to " << kMaxStorageWidth;
  const StorageSpec full = StorageSpec::full(storage.isSigned, storage.width);
  if (storage.min < full.min || storage.max > full.max || storage.min >= storage.max)
    return emitError() << "storage bounds " << storage.min << ":" << storage.max
                       << " of storage type " << prefix << storage.width
                       << " do not fit; expected min < max within " << full.min << ":" << full.max;
  return success();
}

static LogicalResult verifyExpressed(EmitError emitError, FloatType expressed) {
  if (expressed.isF16() || expressed.isBF16() || expressed.isF32() || expressed.isF64())
    return success();
  return emitError() << "expressed type " << expressed << "; expected f16, bf16, f32 or f64";
}

static LogicalResult verifyParams(EmitError emitError, const StorageSpec &storage,
                                  FloatType expressed, const AffineParams &params) {
  if (!std::isfinite(params.scale) || params.scale <= 0.0)
    return emitError() << "scale " << params.scale << "; expected a positive, finite number";
  const llvm::fltSemantics &semantics = expressed.getFloatSemantics();
  const double least = llvm::APFloat::getSmallest(semantics).convertToDouble();
  const double most = llvm::APFloat::getLargest(semantics).convertToDouble();
  if (params.scale < least || params.scale > most)
    return emitError() << "scale " << params.scale << " is out of the range of the expressed type "
                       << expressed << "; expected " << least << " to " << most;
  const StorageSpec full = StorageSpec::full(storage.isSigned, storage.width);
  if (params.zeroPoint < full.min || params.zeroPoint > full.max)
    return emitError() << "zero point " << params.zeroPoint
                       << " is out of the range of the storage type; expected " << full.min
                       << " to " << full.max;
  return success();
}

LogicalResult AnyQuantizedType::verify(EmitError emitError, StorageSpec storage,
                                       FloatType expressedType) {
  if (failed(verifyStorage(emitError, storage)))
    return failure();
  return expressedType ? verifyExpressed(emitError, expressedType) : success();
}

LogicalResult UniformQuantizedType::verify(EmitError emitError, StorageSpec storage,
                                           FloatType expressedType, AffineParams params) {
  if (failed(verifyStorage(emitError, storage)) ||
      failed(verifyExpressed(emitError, expressedType)))
    return failure();
  return verifyParams(emitError, storage, expressedType, params);
}

LogicalResult UniformQuantizedPerAxisType::verify(EmitError emitError, StorageSpec storage,
                                                  FloatType expressedType, int32_t axis,
                                                  ArrayRef<AffineParams> channels) {
  if (failed(verifyStorage(emitError, storage)) ||
      failed(verifyExpressed(emitError, expressedType)))
    return failure();
  if (axis < 0)
    return emitError() << "channel axis " << axis << "; expected 0 or more";
  if (channels.empty())
    return emitError() << "no scales; expected one for each index along the channel axis";
  for (const AffineParams &params : channels)
    if (failed(verifyParams(emitError, storage, expressedType, params)))
      return failure();
  return success();
}

LogicalResult CalibratedQuantizedType::verify(EmitError emitError, FloatType expressedType,
                                              FloatRange range) {
  if (failed(verifyExpressed(emitError, expressedType)))
    return failure();
  if (!std::isfinite(range.min) || !std::isfinite(range.max) || range.min > range.max)
    return emitError() << "range " << range.min << ":" << range.max
                       << "; expected finite bounds, min <= max";
  return success();
}

//===-- Parsing ---------------------------------------------------------------===//

/// storage (`<` min `:` max `>`)?
static FailureOr<StorageSpec> parseStorage(DialectAsmParser &parser) {
  const SMLoc loc = parser.getCurrentLocation();
  bool isSigned = true;
  unsigned width = 0;
  Type type;
  const OptionalParseResult parsed = parser.parseOptionalType(type);
  if (parsed.has_value()) {
    if (failed(*parsed))
      return failure();
    const auto integer = dyn_cast<IntegerType>(type);
    if (!integer || !integer.isSignless())
      return parser.emitError(loc) << "storage type " << type << "; expected iN or uN";
    width = integer.getWidth();
  } else {
    StringRef keyword;
    if (failed(parser.parseOptionalKeyword(&keyword)) || !keyword.consume_front("u") ||
        keyword.getAsInteger(10, width))
      return parser.emitError(loc) << "expected a storage type, iN or uN";
    isSigned = false;
  }
  if (width < 1 || width > kMaxStorageWidth) {
    (void)verifyStorage([&] { return parser.emitError(loc); }, {isSigned, width, 0, 0});
    return failure();
  }
  StorageSpec storage = StorageSpec::full(isSigned, width);
  if (succeeded(parser.parseOptionalLess()) &&
      (parser.parseInteger(storage.min) || parser.parseColon() ||
       parser.parseInteger(storage.max) || parser.parseGreater()))
    return failure();
  return storage;
}

/// scale (`:` zeroPoint)?
static ParseResult parseParams(DialectAsmParser &parser, AffineParams &params) {
  if (parser.parseFloat(params.scale))
    return failure();
  params.zeroPoint = 0;
  if (succeeded(parser.parseOptionalColon()))
    return parser.parseInteger(params.zeroPoint);
  return success();
}

static Type parseAny(DialectAsmParser &parser, SMLoc loc) {
  FloatType expressed;
  if (parser.parseLess())
    return {};
  const FailureOr<StorageSpec> storage = parseStorage(parser);
  if (failed(storage))
    return {};
  if (succeeded(parser.parseOptionalColon()) && parser.parseType(expressed))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<AnyQuantizedType>(loc, parser.getContext(), *storage, expressed);
}

static Type parseUniform(DialectAsmParser &parser, SMLoc loc) {
  FloatType expressed;
  if (parser.parseLess())
    return {};
  const FailureOr<StorageSpec> storage = parseStorage(parser);
  if (failed(storage) || parser.parseColon() || parser.parseType(expressed))
    return {};
  if (failed(parser.parseOptionalColon())) {
    AffineParams params;
    if (parser.parseComma() || parseParams(parser, params) || parser.parseGreater())
      return {};
    return parser.getChecked<UniformQuantizedType>(loc, parser.getContext(), *storage, expressed,
                                                   params);
  }
  int32_t axis = 0;
  llvm::SmallVector<AffineParams> channels;
  if (parser.parseInteger(axis) || parser.parseComma() ||
      parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Braces,
          [&] { return parseParams(parser, channels.emplace_back()); }) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<UniformQuantizedPerAxisType>(
      loc, parser.getContext(), *storage, expressed, axis, ArrayRef<AffineParams>(channels));
}

static Type parseCalibrated(DialectAsmParser &parser, SMLoc loc) {
  FloatType expressed;
  FloatRange range;
  if (parser.parseLess() || parser.parseType(expressed) || parser.parseLess() ||
      parser.parseFloat(range.min) || parser.parseColon() || parser.parseFloat(range.max) ||
      parser.parseGreater() || parser.parseGreater())
    return {};
  return parser.getChecked<CalibratedQuantizedType>(loc, parser.getContext(), expressed, range);
}

Type QuantDialect::parseType(DialectAsmParser &parser) const {
  const SMLoc loc = parser.getCurrentLocation();
  StringRef mnemonic;
  if (parser.parseKeyword(&mnemonic))
    return {};
  if (mnemonic == "any")
    return parseAny(parser, loc);
  if (mnemonic == "uniform")
    return parseUniform(parser, loc);
  if (mnemonic == "calibrated")
    return parseCalibrated(parser, loc);
  parser.emitError(loc) << "unknown type !quant." << mnemonic
                        << "; expected any, uniform or calibrated";
  return {};
}

//===-- Printing --------------------------------------------------------------===//

static void printStorage(DialectAsmPrinter &printer, const StorageSpec &storage) {
  printer << (storage.isSigned ? "i" : "u") << storage.width;
  if (!storage.isFull())
    printer << "<" << storage.min << ":" << storage.max << ">";
}

static void printParams(DialectAsmPrinter &printer, const AffineParams &params) {
  printer.printFloat(llvm::APFloat(params.scale));
  if (params.zeroPoint != 0)
    printer << ":" << params.zeroPoint;
}

void QuantDialect::printType(Type type, DialectAsmPrinter &printer) const {
  llvm::TypeSwitch<Type>(type)
      .Case([&](AnyQuantizedType any) {
        printer << "any<";
        printStorage(printer, any.getStorage());
        if (any.getExpressedType())
          printer << ":" << any.getExpressedType();
      })
      .Case([&](UniformQuantizedType uniform) {
        printer << "uniform<";
        printStorage(printer, uniform.getStorage());
        printer << ":" << uniform.getExpressedType() << ", ";
        printParams(printer, uniform.getParams());
      })
      .Case([&](UniformQuantizedPerAxisType uniform) {
        printer << "uniform<";
        printStorage(printer, uniform.getStorage());
        printer << ":" << uniform.getExpressedType() << ":" << uniform.getAxis() << ", {";
        llvm::interleaveComma(uniform.getChannels(), printer.getStream(),
                              [&](const AffineParams &params) { printParams(printer, params); });
        printer << "}";
      })
      .Case([&](CalibratedQuantizedType calibrated) {
        printer << "calibrated<" << calibrated.getExpressedType() << "<";
        printer.printFloat(llvm::APFloat(calibrated.getMin()));
        printer << ":";
        printer.printFloat(llvm::APFloat(calibrated.getMax()));
        printer << ">";
      });
  printer << ">";
}

//===-- Common questions ------------------------------------------------------===//

StorageSpec UniformType::getStorage() const {
  if (auto perLayer = llvm::dyn_cast<UniformQuantizedType>(*this))
    return perLayer.getStorage();
  return llvm::cast<UniformQuantizedPerAxisType>(*this).getStorage();
}

FloatType UniformType::getExpressedType() const {
  if (auto perLayer = llvm::dyn_cast<UniformQuantizedType>(*this))
    return perLayer.getExpressedType();
  return llvm::cast<UniformQuantizedPerAxisType>(*this).getExpressedType();
}

void tpuc::quant::addUniformTypeStripping(AttrTypeReplacer &replacer) {
  replacer.addReplacement(
      [](UniformType uniform) -> std::optional<Type> { return uniform.getStorageType(); });
}

Type tpuc::quant::stripUniformTypes(Type type) {
  AttrTypeReplacer replacer;
  addUniformTypeStripping(replacer);
  return replacer.replace(type);
}
