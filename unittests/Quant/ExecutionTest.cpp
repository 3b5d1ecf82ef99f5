//===- ExecutionTest.cpp - Lowered casts, run, against the evaluator ----------- -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Quant/Evaluator.h"
#include "unittests/Quant/JitModule.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

using llvm::APFloat;

namespace tpuc::test {
namespace {

/// How the value that is cast lies in its tensor. All functions take tensor<?xT>, of a multiple of
/// kBlock elements where there are channels, and bring it into this form.
enum class Form { Scalar, Static, Dynamic, Unranked, AxisStatic, AxisDynamic, AxisUnranked };

constexpr Form kForms[] = {Form::Scalar,     Form::Static,      Form::Dynamic,     Form::Unranked,
                           Form::AxisStatic, Form::AxisDynamic, Form::AxisUnranked};
/// The shape of ranked forms is [n / 6, 3, 2], dimension 1 the channel.
constexpr size_t kChannels = 3;
constexpr size_t kInner = 2;
constexpr size_t kBlock = kChannels * kInner;

bool isPerAxis(Form form) { return form >= Form::AxisStatic; }

struct FloatKind {
  const char *name;
  const llvm::fltSemantics *semantics;
  size_t bytes;
};

struct Storage {
  bool isSigned;
  unsigned width;
  int64_t min;
  int64_t max;
};

int64_t fullMin(bool isSigned, unsigned width) {
  return isSigned ? -(int64_t(1) << (width - 1)) : 0;
}
int64_t fullMax(bool isSigned, unsigned width) {
  return (int64_t(1) << (width - (isSigned ? 1 : 0))) - 1;
}

struct Channel {
  double scale;
  int64_t zeroPoint;
};

size_t storageBytes(unsigned width) { return width <= 8 ? 1 : width <= 16 ? 2 : 4; }

//===-- Text of the functions -------------------------------------------------===//

std::string typeText(const Storage &storage, const FloatKind &kind, Form form,
                     const std::vector<Channel> &channels) {
  auto pair = [](const Channel &channel) {
    return llvm::formatv("{0}:{1}", llvm::formatv("{0:e17}", channel.scale).str(),
                         channel.zeroPoint)
        .str();
  };
  std::string text =
      llvm::formatv("!quant.uniform<{0}{1}<{2}:{3}>:{4}", storage.isSigned ? "i" : "u",
                    storage.width, storage.min, storage.max, kind.name);
  if (!isPerAxis(form))
    return text + ", " + pair(channels[0]) + ">";
  text += ":1, {" + pair(channels[0]);
  for (size_t i = 1; i < channels.size(); ++i)
    text += ", " + pair(channels[i]);
  return text + "}>";
}

/// A function from tensor<?xFROM> to tensor<?xTO> around a cast from the type `from` to `to` (as
/// elements) of a value in the given form, `numElements` in all. `cast` is given the value's name
/// and container and writes the cast's result to %result.
std::string functionText(llvm::StringRef name, Form form, size_t numElements, llvm::StringRef from,
                         llvm::StringRef to,
                         llvm::function_ref<std::string(std::string, std::string)> cast) {
  const size_t outer = numElements / kBlock;
  std::string body;
  auto line = [&](auto &&...args) { body += "  " + llvm::formatv(args...).str() + "\n"; };
  if (form == Form::Scalar) {
    return llvm::formatv(R"(func.func @{0}(%x: tensor<?x{1}>) -> tensor<?x{2}> {{
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x{1}>
  %r = tensor.generate %n {{
  ^bb0(%i: index):
    %input = tensor.extract %x[%i] : tensor<?x{1}>
{3}    tensor.yield %result : {2}
  } : tensor<?x{2}>
  return %r : tensor<?x{2}>
}
)",
                         name, from, to, cast("%input", "{0}"))
        .str();
  }
  const std::string ranked = llvm::formatv("{0}x{1}x{2}x", outer, kChannels, kInner);
  line("%shape = arith.constant dense<[{0}, {1}, {2}]> : tensor<3xindex>", outer, kChannels,
       kInner);
  line("%flat = arith.constant dense<[{0}]> : tensor<1xindex>", numElements);
  line("%s = tensor.reshape %x(%shape) : (tensor<?x{0}>, tensor<3xindex>) -> tensor<{1}{0}>", from,
       ranked);
  std::string container = "tensor<" + ranked + "{0}>";
  std::string input = "%s";
  if (form == Form::Dynamic || form == Form::AxisDynamic)
    container = llvm::formatv("tensor<?x{0}x?x", kChannels).str() + "{0}>";
  if (form == Form::Unranked || form == Form::AxisUnranked)
    container = "tensor<*x{0}>";
  if (form == Form::Dynamic)
    container = "tensor<?x?x?x{0}>";
  const std::string fromTensor = llvm::formatv(container.c_str(), from);
  const std::string toTensor = llvm::formatv(container.c_str(), to);
  if (form != Form::Static && form != Form::AxisStatic) {
    line("%d = tensor.cast %s : tensor<{0}{1}> to {2}", ranked, from, fromTensor);
    input = "%d";
  }
  body += cast(input, container);
  line("%r = tensor.reshape %result(%flat) : ({0}, tensor<1xindex>) -> tensor<?x{1}>", toTensor,
       to);
  return llvm::formatv("func.func @{0}(%x: tensor<?x{1}>) -> tensor<?x{2}> {{\n{3}  return %r : "
                       "tensor<?x{2}>\n}\n",
                       name, from, to, body)
      .str();
}

std::string quantizeText(llvm::StringRef name, Form form, size_t numElements, const FloatKind &kind,
                         const std::string &type, unsigned width) {
  const std::string integer = "i" + std::to_string(width);
  return functionText(name, form, numElements, kind.name, integer,
                      [&](std::string input, std::string container) {
                        auto in = [&](llvm::StringRef element) {
                          return llvm::formatv(container.c_str(), element).str();
                        };
                        return llvm::formatv("  %q = quant.qcast {0} : {1} to {2}\n"
                                             "  %result = quant.scast %q : {2} to {3}\n",
                                             input, in(kind.name), in(type), in(integer))
                            .str();
                      });
}

std::string dequantizeText(llvm::StringRef name, Form form, size_t numElements,
                           const FloatKind &kind, const std::string &type, unsigned width) {
  const std::string integer = "i" + std::to_string(width);
  return functionText(name, form, numElements, integer, kind.name,
                      [&](std::string input, std::string container) {
                        auto in = [&](llvm::StringRef element) {
                          return llvm::formatv(container.c_str(), element).str();
                        };
                        return llvm::formatv("  %q = quant.scast {0} : {1} to {2}\n"
                                             "  %result = quant.dcast %q : {2} to {3}\n",
                                             input, in(integer), in(type), in(kind.name))
                            .str();
                      });
}

//===-- Values ----------------------------------------------------------------===//

APFloat toKind(double value, const FloatKind &kind) {
  APFloat result(value);
  bool losesInfo = false;
  result.convert(*kind.semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  return result;
}

/// Inputs around everything where a result changes: the storage bounds, the bounds of the storage
/// type, halves (ties), zero, and beyond; then random ones, and those that no integer comes near.
std::vector<APFloat> floatInputs(const Storage &storage, const FloatKind &kind,
                                 const std::vector<Channel> &channels) {
  std::vector<APFloat> values;
  for (const Channel &channel : channels) {
    for (int64_t border :
         {storage.min, storage.max, fullMin(storage.isSigned, storage.width),
          fullMax(storage.isSigned, storage.width), channel.zeroPoint, int64_t(0)}) {
      for (double offset : {-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5}) {
        const double stored = static_cast<double>(border) + offset;
        APFloat value = toKind((stored - channel.zeroPoint) * channel.scale, kind);
        values.push_back(value);
        APFloat up = value;
        up.next(/*nextDown=*/false);
        values.push_back(up);
        value.next(/*nextDown=*/true);
        values.push_back(value);
      }
    }
  }
  std::mt19937_64 random(storage.width * 7919 + kind.bytes);
  std::uniform_real_distribution<double> uniform(static_cast<double>(storage.min) - 3.0,
                                                 static_cast<double>(storage.max) + 3.0);
  for (int i = 0; i < 64; ++i)
    values.push_back(toKind((uniform(random) - channels[0].zeroPoint) * channels[0].scale, kind));
  const llvm::fltSemantics &semantics = *kind.semantics;
  for (bool negative : {false, true}) {
    values.push_back(APFloat::getZero(semantics, negative));
    values.push_back(APFloat::getInf(semantics, negative));
    values.push_back(APFloat::getNaN(semantics, negative));
    values.push_back(APFloat::getLargest(semantics, negative));
    values.push_back(APFloat::getSmallest(semantics, negative));
    values.push_back(APFloat::getSmallestNormalized(semantics, negative));
  }
  // Each value meets each channel: the list is repeated, shifted by a row of kInner elements.
  const std::vector<APFloat> once = values;
  for (size_t shift = 1; shift < kChannels; ++shift) {
    values.insert(values.end(), kInner, toKind(0.0, kind));
    while (values.size() % kBlock != shift * kInner)
      values.push_back(toKind(0.0, kind));
    values.insert(values.end(), once.begin(), once.end());
  }
  while (values.size() % kBlock != 0)
    values.push_back(toKind(0.0, kind));
  return values;
}

std::vector<int64_t> storedInputs(const Storage &storage, const std::vector<Channel> &channels) {
  const int64_t low = fullMin(storage.isSigned, storage.width);
  const int64_t high = fullMax(storage.isSigned, storage.width);
  std::vector<int64_t> once;
  if (storage.width <= 8) {
    for (int64_t value = low; value <= high; ++value)
      once.push_back(value);
  } else {
    std::vector<int64_t> borders{low, high, storage.min, storage.max, 0};
    for (const Channel &channel : channels)
      borders.push_back(channel.zeroPoint);
    for (int64_t border : borders)
      for (int64_t offset = -3; offset <= 3; ++offset)
        once.push_back(std::clamp(border + offset, low, high));
    std::mt19937_64 random(storage.width);
    std::uniform_int_distribution<int64_t> uniform(low, high);
    for (int i = 0; i < 200; ++i)
      once.push_back(uniform(random));
  }
  std::vector<int64_t> values;
  for (int64_t value : once)
    values.insert(values.end(), kBlock, value);
  return values;
}

std::vector<uint8_t> toBytes(const std::vector<APFloat> &values, size_t bytes) {
  std::vector<uint8_t> result;
  for (const APFloat &value : values) {
    const uint64_t bits = value.bitcastToAPInt().getZExtValue();
    const auto *data = reinterpret_cast<const uint8_t *>(&bits);
    result.insert(result.end(), data, data + bytes);
  }
  return result;
}

std::vector<uint8_t> toBytes(const std::vector<int64_t> &values, unsigned width) {
  std::vector<uint8_t> result;
  for (int64_t value : values) {
    const uint64_t bits = static_cast<uint64_t>(value) & ((uint64_t(1) << width) - 1);
    const auto *data = reinterpret_cast<const uint8_t *>(&bits);
    result.insert(result.end(), data, data + storageBytes(width));
  }
  return result;
}

/// Element `index`, of `width` bits, extended as `isSigned` says.
int64_t integerAt(const std::vector<uint8_t> &bytes, size_t index, bool isSigned, unsigned width) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + index * storageBytes(width), storageBytes(width));
  bits &= (uint64_t(1) << width) - 1;
  if (isSigned && (bits >> (width - 1)) != 0)
    return static_cast<int64_t>(bits) - (int64_t(1) << width);
  return static_cast<int64_t>(bits);
}

uint64_t bitsAt(const std::vector<uint8_t> &bytes, size_t index, size_t size) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + index * size, size);
  return bits;
}

std::string toText(const APFloat &value) {
  llvm::SmallString<32> text;
  value.toString(text);
  return text.str().str();
}

//===-- The grid --------------------------------------------------------------===//

struct GridPoint {
  FloatKind kind;
  bool isSigned;
};

void PrintTo(const GridPoint &point, std::ostream *stream) {
  *stream << point.kind.name << (point.isSigned ? " signed" : " unsigned");
}

/// One quantized type in one form, with the names of its functions.
struct Case {
  Form form;
  Storage storage;
  std::vector<Channel> channels;
  std::vector<APFloat> floats;
  std::vector<int64_t> stored;
  std::string suffix;

  QuantParams params(const FloatKind &kind, size_t index) const {
    const Channel &channel = isPerAxis(form) ? channels[index / kInner % kChannels] : channels[0];
    return {storage.isSigned, storage.width, storage.min,      storage.max,
            kind.semantics,   channel.scale, channel.zeroPoint};
  }
};

class Execution : public testing::TestWithParam<GridPoint> {
protected:
  /// Tensors of static shape with a type of every width, and the other containers, which compute
  /// with the same numbers, of a few; bounds, scales and zero points alternate.
  std::vector<Case> makeCases() const {
    const auto [kind, isSigned] = GetParam();
    std::vector<Case> cases;
    for (unsigned width : {1U, 2U, 4U, 7U, 8U, 10U, 16U, 24U, 31U, 32U}) {
      const int64_t low = fullMin(isSigned, width);
      const int64_t high = fullMax(isSigned, width);
      const Storage full{isSigned, width, low, high};
      const Storage narrow{isSigned, width, low + (high - low) / 8, high - (high - low) / 5};
      const Storage upper{isSigned, width, low, high - (high > low + 1 ? 1 : 0)};
      for (Form form : kForms) {
        const bool isStatic = form == Form::Static || form == Form::AxisStatic;
        if (!isStatic && width != 4 && width != 8 && width != 31)
          continue;
        for (int variant = 0; variant < 2; ++variant) {
          Case instance;
          instance.form = form;
          instance.storage = variant == 0 ? full : (width % 2 ? narrow : upper);
          const int64_t middle = low + (high - low) / 2 + (width > 2 ? 1 : 0);
          instance.channels = variant == 0
                                  ? std::vector<Channel>{{0.5, 0}, {0.1, 0}, {3.0, middle}}
                                  : std::vector<Channel>{{0.37, middle}, {2.0, high}, {0.7, low}};
          instance.floats = floatInputs(instance.storage, kind, instance.channels);
          instance.stored = storedInputs(instance.storage, instance.channels);
          instance.suffix = std::to_string(cases.size());
          cases.push_back(std::move(instance));
        }
      }
    }
    return cases;
  }

  std::string typeOf(const Case &instance) const {
    return typeText(instance.storage, GetParam().kind, instance.form, instance.channels);
  }

  /// The functions that quantize, q and the suffix of each case.
  std::string quantizeTexts(llvm::ArrayRef<Case> cases) const {
    std::string text;
    for (const Case &instance : cases)
      text += quantizeText("q" + instance.suffix, instance.form, instance.floats.size(),
                           GetParam().kind, typeOf(instance), instance.storage.width);
    return text;
  }

  /// Those that dequantize, d and the suffix.
  std::string dequantizeTexts(llvm::ArrayRef<Case> cases) const {
    std::string text;
    for (const Case &instance : cases)
      text += dequantizeText("d" + instance.suffix, instance.form, instance.stored.size(),
                             GetParam().kind, typeOf(instance), instance.storage.width);
    return text;
  }
};

TEST_P(Execution, MatchesThePseudoCode) {
  const FloatKind kind = GetParam().kind;
  const std::vector<Case> cases = makeCases();
  const auto jit = JitModule::compile(quantizeTexts(cases) + dequantizeTexts(cases),
                                      /*saturate=*/false);
  ASSERT_TRUE(jit);
  size_t numCompared = 0;
  size_t numUndefined = 0;
  for (const Case &instance : cases) {
    const auto quantized = jit->call("q" + instance.suffix, toBytes(instance.floats, kind.bytes),
                                     instance.floats.size(), storageBytes(instance.storage.width));
    ASSERT_FALSE(quantized.empty());
    for (size_t i = 0; i < instance.floats.size(); ++i) {
      const auto expected = quantize(instance.floats[i], instance.params(kind, i));
      if (!expected) {
        ++numUndefined;
        continue;
      }
      ++numCompared;
      ASSERT_EQ(integerAt(quantized, i, instance.storage.isSigned, instance.storage.width),
                *expected)
          << "qcast of " << toText(instance.floats[i]) << " to " << typeOf(instance) << ", element "
          << i;
    }
    const auto dequantized =
        jit->call("d" + instance.suffix, toBytes(instance.stored, instance.storage.width),
                  instance.stored.size(), kind.bytes);
    ASSERT_FALSE(dequantized.empty());
    for (size_t i = 0; i < instance.stored.size(); ++i) {
      const APFloat expected = dequantize(instance.stored[i], instance.params(kind, i));
      const uint64_t bits = bitsAt(dequantized, i, kind.bytes);
      const APFloat actual(*kind.semantics, llvm::APInt(kind.bytes * 8, bits));
      ++numCompared;
      // inf - inf occurs in f16; a NaN has no particular bits.
      if (expected.isNaN() && actual.isNaN())
        continue;
      ASSERT_EQ(bits, expected.bitcastToAPInt().getZExtValue())
          << "dcast of " << instance.stored[i] << " from " << typeOf(instance) << ", element " << i
          << ": " << toText(actual) << " instead of " << toText(expected);
    }
  }
  RecordProperty("compared", static_cast<int64_t>(numCompared));
  RecordProperty("undefined", static_cast<int64_t>(numUndefined));
  // The grid is not empty, and reaches beyond what is defined.
  EXPECT_GT(numCompared, 50000U);
  EXPECT_GT(numUndefined, 500U);
}

TEST_P(Execution, SaturatesEverywhere) {
  const FloatKind kind = GetParam().kind;
  const std::vector<Case> cases = makeCases();
  const auto jit = JitModule::compile(quantizeTexts(cases), /*saturate=*/true);
  ASSERT_TRUE(jit);
  size_t numCompared = 0;
  for (const Case &instance : cases) {
    const auto quantized = jit->call("q" + instance.suffix, toBytes(instance.floats, kind.bytes),
                                     instance.floats.size(), storageBytes(instance.storage.width));
    ASSERT_FALSE(quantized.empty());
    for (size_t i = 0; i < instance.floats.size(); ++i, ++numCompared)
      ASSERT_EQ(integerAt(quantized, i, instance.storage.isSigned, instance.storage.width),
                quantizeSaturating(instance.floats[i], instance.params(kind, i)))
          << "qcast of " << toText(instance.floats[i]) << " to " << typeOf(instance) << ", element "
          << i;
  }
  RecordProperty("compared", static_cast<int64_t>(numCompared));
  EXPECT_GT(numCompared, 50000U);
}

const FloatKind kF16{"f16", &APFloat::IEEEhalf(), 2};
const FloatKind kBF16{"bf16", &APFloat::BFloat(), 2};
const FloatKind kF32{"f32", &APFloat::IEEEsingle(), 4};
const FloatKind kF64{"f64", &APFloat::IEEEdouble(), 8};

INSTANTIATE_TEST_SUITE_P(Grid, Execution,
                         testing::Values(GridPoint{kF16, true}, GridPoint{kF16, false},
                                         GridPoint{kBF16, true}, GridPoint{kBF16, false},
                                         GridPoint{kF32, true}, GridPoint{kF32, false},
                                         GridPoint{kF64, true}, GridPoint{kF64, false}),
                         [](const testing::TestParamInfo<GridPoint> &info) {
                           return std::string(info.param.kind.name) +
                                  (info.param.isSigned ? "_signed" : "_unsigned");
                         });

} // namespace
} // namespace tpuc::test
