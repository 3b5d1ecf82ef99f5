//===- QuantTypes.h - The types of the quant dialect -------------------*- C++ -* -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_QUANT_QUANTTYPES_H
#define TPUC_DIALECT_QUANT_QUANTTYPES_H

#include "tpuc/Dialect/Quant/QuantDialect.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/Hashing.h"

namespace mlir {
class AttrTypeReplacer;
} // namespace mlir

namespace tpuc::quant {

/// How the stored value lies in memory: its signedness, its width in bits (1 to 32) and the bounds
/// it stays in.
struct StorageSpec {
  bool isSigned = true;
  unsigned width = 8;
  int64_t min = -128;
  int64_t max = 127;

  /// The storage that uses the whole range of an integer of `width` bits, 1 to 32.
  static StorageSpec full(bool isSigned, unsigned width);

  /// Whether `min` and `max` are those of the integer type itself.
  bool isFull() const { return *this == full(isSigned, width); }
  /// The signless integer type in memory.
  mlir::IntegerType getType(mlir::MLIRContext *context) const {
    return mlir::IntegerType::get(context, width);
  }

  bool operator==(const StorageSpec &other) const = default;
};

/// expressed = (stored - zeroPoint) * scale.
struct AffineParams {
  double scale = 1.0;
  int64_t zeroPoint = 0;

  bool operator==(const AffineParams &other) const = default;
};

/// A closed range of floats.
struct FloatRange {
  double min = 0.0;
  double max = 0.0;

  /// Equal bits: -0.0 prints as itself and is another range than 0.0.
  bool operator==(const FloatRange &other) const;
};

// LLVM's hashing finds these by their name.
// NOLINTBEGIN(readability-identifier-naming)
llvm::hash_code hash_value(const StorageSpec &spec);
llvm::hash_code hash_value(const AffineParams &params);
llvm::hash_code hash_value(const FloatRange &range);
// NOLINTEND(readability-identifier-naming)

} // namespace tpuc::quant

#define GET_TYPEDEF_CLASSES
#include "tpuc/Dialect/Quant/QuantTypes.h.inc"

namespace tpuc::quant {

/// A `!quant.uniform` type, per layer or per axis: what both have in common.
class UniformType : public mlir::Type {
public:
  using Type::Type;
  static bool classof(mlir::Type type) {
    return llvm::isa<UniformQuantizedType, UniformQuantizedPerAxisType>(type);
  }

  StorageSpec getStorage() const;
  mlir::FloatType getExpressedType() const;
  /// The signless integer type of the stored value.
  mlir::IntegerType getStorageType() const { return getStorage().getType(getContext()); }
};

/// Makes `replacer` replace every `!quant.uniform` that it meets, at any depth (element types,
/// function types, tuples), by its signless storage integer. `!quant.any` and `!quant.calibrated`
/// stay.
void addUniformTypeStripping(mlir::AttrTypeReplacer &replacer);

/// `type` with these replacements.
mlir::Type stripUniformTypes(mlir::Type type);

} // namespace tpuc::quant

#endif // TPUC_DIALECT_QUANT_QUANTTYPES_H
