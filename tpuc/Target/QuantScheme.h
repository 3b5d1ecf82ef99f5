//===- QuantScheme.h - Number formats: what a network computes in -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A number format is described by its types. What it means (ranges, steps, the room of sums) is
// computed from them and written nowhere else.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_QUANTSCHEME_H
#define TPUC_TARGET_QUANTSCHEME_H

#include "tpuc/Support/DataType.h"
#include "tpuc/Support/Error.h"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tpuc {

struct TargetInfo;

/// Which weights share a scale: all of a filter, or those of one output channel.
enum class Granularity : uint8_t { PerTensor, PerChannel };

/// The types that a network is stored and computed in.
struct QuantScheme {
  /// Constant filters of convolutions and products.
  DataType weight = DataType::F32;
  /// Tensors between ops: floats or signed integers. Without zero points, those that are never
  /// negative take the unsigned integers of the same width, where the chip has them.
  DataType activation = DataType::F32;
  /// Sums of products, and what is added to them.
  DataType accumulator = DataType::F32;
  /// Of the scales of integer weights.
  Granularity granularity = Granularity::PerTensor;
  /// Whether integer activations have zero points (asymmetric) or 0 stands for 0 (symmetric).
  bool zeroPoint = false;

  /// Whether activations are integers, so that ranges of tensors have to be known.
  bool isQuantized() const { return isInteger(activation); }

  constexpr bool operator==(const QuantScheme &) const = default;
};

/// The schemes that have a name.
namespace schemes {
inline constexpr QuantScheme kF32;
inline constexpr QuantScheme kF16 = {DataType::F16, DataType::F16};
inline constexpr QuantScheme kBF16 = {DataType::BF16, DataType::BF16};
inline constexpr QuantScheme kInt8 = {DataType::I8, DataType::I8, DataType::I32,
                                      Granularity::PerChannel, false};
inline constexpr QuantScheme kInt8Asymmetric = {DataType::I8, DataType::I8, DataType::I32,
                                                Granularity::PerChannel, true};
/// Sums of products of 16 bits need more than 32.
inline constexpr QuantScheme kInt16 = {DataType::I16, DataType::I16, DataType::I64,
                                       Granularity::PerTensor, false};
inline constexpr QuantScheme kInt16Asymmetric = {DataType::I16, DataType::I16, DataType::I64,
                                                 Granularity::PerTensor, true};
} // namespace schemes

/// How users ask for a scheme.
struct NamedScheme {
  /// As `--quantize` and quantize tables spell it; `--asymmetric` chooses among those of one name.
  std::string_view name;
  /// What files of the scheme have in their names.
  std::string_view mode;
  QuantScheme scheme;
};

/// All of them; those of one name stand together, the symmetric one first.
inline constexpr std::array kNamedSchemes = {
    NamedScheme{"F32", "f32", schemes::kF32},
    NamedScheme{"F16", "f16", schemes::kF16},
    NamedScheme{"BF16", "bf16", schemes::kBF16},
    NamedScheme{"INT8", "int8_sym", schemes::kInt8},
    NamedScheme{"INT8", "int8_asym", schemes::kInt8Asymmetric},
    NamedScheme{"INT16", "int16_sym", schemes::kInt16},
    NamedScheme{"INT16", "int16_asym", schemes::kInt16Asymmetric},
};

/// A set of named schemes. A literal type, so that a table of constants can hold it.
class SchemeSet {
public:
  constexpr SchemeSet() = default;
  constexpr SchemeSet(std::initializer_list<QuantScheme> all) {
    for (const QuantScheme &scheme : all)
      insert(scheme);
  }

  /// Schemes without a name are in no set.
  constexpr bool contains(const QuantScheme &scheme) const { return (bits & mask(scheme)) != 0; }
  constexpr bool empty() const { return bits == 0; }
  constexpr void insert(const QuantScheme &scheme) { bits |= mask(scheme); }
  constexpr void erase(const QuantScheme &scheme) { bits &= ~mask(scheme); }
  constexpr bool operator==(const SchemeSet &) const = default;

private:
  static_assert(kNamedSchemes.size() <= 32);
  static constexpr uint32_t mask(const QuantScheme &scheme) {
    uint32_t bit = 1;
    for (const NamedScheme &row : kNamedSchemes) {
      if (row.scheme == scheme)
        return bit;
      bit <<= 1;
    }
    return 0;
  }

  uint32_t bits = 0;
};

/// The names of all schemes, each once: F32, F16, BF16, INT8, INT16.
std::vector<std::string_view> schemeNames();
/// The same for messages: `F32, F16, BF16, INT8 or INT16`.
std::string schemeChoices();

/// INT8 and the like, with or without zero points. A scheme that has no name is called by the bits
/// of its types: W4A8.
std::string schemeName(const QuantScheme &scheme);
/// `f32`, `f16`, `bf16`, `int8_sym`, `int8_asym`, `int16_sym`; `w4a8_sym` for a scheme that has no
/// name.
std::string modeName(const QuantScheme &scheme);
/// The scheme of that name, whatever the case of the letters; `zeroPoint` is that of the result.
std::optional<QuantScheme> parseScheme(std::string_view name, bool zeroPoint = false);

/// The scheme that stores everything in the floats `type`: F32, F16 or BF16.
QuantScheme floatScheme(DataType type);

/// Whether the chip computes in `scheme`. A zero point that floats cannot have does not matter.
bool hasScheme(const TargetInfo &target, const QuantScheme &scheme);
/// Refuses a scheme that the chip has not, with the list of those that it has:
/// `--chip X: F16 does not exist; expected BF16 or INT8`,
/// `--chip X: asymmetric INT8 does not exist; expected symmetric INT8`.
Expected<void> checkScheme(const TargetInfo &target, const QuantScheme &scheme);

//===--- What types mean ----------------------------------------------------===//

/// The integers of the same width with or without sign; `type` is an integer of at most 64 bits.
DataType signedType(DataType type);
DataType unsignedType(DataType type);

/// How many magnitudes, 0 among them, signed integers of `type` tell apart: 128 for I8.
int64_t numLevels(DataType type);

/// The distance of the least and the greatest integer of `type`, at most 32 bits: 255 for I8.
int64_t numSteps(DataType type);

/// What sums of products may reach: half of what `accumulator`, an integer of at most 64 bits,
/// holds, which leaves room for what rounding and a bias add. 2^30 for I32.
double maxSum(DataType accumulator);

/// How finely a type tells numbers apart, in bits: those of an integer, those of a float's
/// significand with the leading one. F32 24, F16 11, BF16 8, I8 8.
unsigned significantBits(DataType type);

} // namespace tpuc

#endif // TPUC_TARGET_QUANTSCHEME_H
