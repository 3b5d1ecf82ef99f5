//===- Series.h - Transcendental functions in F32 ---------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_SERIES_H
#define TPUC_TARGET_BM1684X_KERNELS_SERIES_H

#include "tpuc/Target/BM1684X/Kernels/Builder.h"
#include "tpuc/Target/BM1684X/Kernels/ScratchAllocator.h"

#include <limits>
#include <vector>

namespace tpuc::bm1684x {

/// The parts of a tensor as [1, lanes, 1, length] Aligned, of at most `mostElements` (a multiple of
/// 64) in a lane, for commands that do the same to every element: fewer and longer than the
/// tensor's own rows, and in its own lanes and bytes only. `tensor` is Aligned. The same call for
/// tensors of one shape and start lane, whatever their types of 16 and 32 bits, gives parts that
/// belong together.
std::vector<LocalTensor> flatParts(const LocalTensor &tensor, int64_t mostElements);

/// The longest part that a command can take: fields of extents hold 65535.
inline constexpr int64_t kMostFlatPart = 65536 - 64;

/// The longest part of a tensor.
int64_t longestFlatPart(const LocalTensor &tensor);

/// Functions of F32 tensors as sequences of commands, over registers: tensors of one shape,
/// Aligned, that overlap nothing else. Results name their register; all registers may change.
/// Coefficients are of polynomials fitted for the smallest error.
class Series {
public:
  /// The coefficients that are used, in every lane.
  enum Table : unsigned { kExp = 1, kLog = 2, kErf = 4, kSin = 8, kLogistic = 16 };
  static constexpr size_t kNumTables = 5;
  static uint32_t tableBytes(unsigned tables);
  static constexpr size_t kNumRegisters = 3;

  /// Writes the tables' coefficients to `address`, a multiple of 64. For results that are rounded
  /// to 16 bits (`result`) exp, sigmoid and sin have fewer, and are wrong by 9e-6 at most.
  Series(Builder &builder, unsigned tables, uint32_t address, DataType result);

  /// The registers for the following calls.
  void use(const std::array<LocalTensor, kNumRegisters> &tensors) { registers = tensors; }
  const LocalTensor &reg(size_t index) const { return registers[index]; }

  /// exp(x) to `to`, which may be register 1 or none, 2e-7 of it wrong at most around 0 (more by
  /// |x| / 2^23 elsewhere). `x` is no register but 1 or 2. Below -87 the result is that of -87,
  /// above `most` that of `most`. With `kUnlimited`, x is at most 88.7 as it is, and no register 1.
  static constexpr double kUnlimited = std::numeric_limits<double>::infinity();
  void exp(const LocalTensor &to, const LocalTensor &x, double most = 88.7);
  /// exp(-|x|) to register 1. `x` is no register but 1 or 2.
  void decay(const LocalTensor &x);
  /// log(x) to register 0 for x > 0. `x` is no register but 2.
  void log(const LocalTensor &x);
  /// 1 / (1 + exp(-(a x + b))) to `to`, which may be register 1, `x` or none. `x` is no register.
  void sigmoid(const LocalTensor &to, const LocalTensor &x, double a, double b);
  /// x / (1 + exp(-y)) to `to`, which may be register 1, `x` or none, where y has the sign of x, or
  /// with `isTurned` the other one. `x` is no register, `y` none but 2.
  void gated(const LocalTensor &to, const LocalTensor &x, const LocalTensor &y,
             bool isTurned = false);
  /// erf(a x) to register 1, wrong by 2e-6 at most. `x` is no register but 2.
  void erf(const LocalTensor &x, double a);
  /// sin(x + phase) to `to`, which may be register 1, `x` or none, wrong by 1e-6 at most where |x|
  /// is below 10^4. `x` is no register.
  void sin(const LocalTensor &to, const LocalTensor &x, double phase);

private:
  void power(const LocalTensor &to);
  void polynomial(const LocalTensor &to, const LocalTensor &x, Table table);

  Builder &builder;
  bool isShort;
  std::array<LocalTensor, kNumRegisters> registers;
  std::array<uint32_t, kNumTables> addresses{};
};

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_SERIES_H
