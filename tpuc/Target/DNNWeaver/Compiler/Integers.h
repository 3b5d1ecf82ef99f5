//===- Integers.h - Scales and integers of a network -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_DNNWEAVER_COMPILER_INTEGERS_H
#define TPUC_TARGET_DNNWEAVER_COMPILER_INTEGERS_H

#include "tpuc/Support/Error.h"
#include "tpuc/Target/DNNWeaver/Compiler/Network.h"

#include <optional>

namespace tpuc::dnnweaver {

/// r = scale * (q - zeroPoint).
struct Scale {
  double scale = 1;
  int32_t zeroPoint = 0;
};

/// 8 or 16 bits, with or without zero points.
struct IntegerKind {
  unsigned bits = 8;
  bool zeroPoints = false;

  int32_t least() const { return -(1 << (bits - 1)); }
  int32_t most() const { return (1 << (bits - 1)) - 1; }
};

/// What the maps of a network are stored with. Maps that a concatenation, slice, copy, pool or
/// up-sampling joins share one scale, from the union of their ranges; so do the results of a
/// branch. Symmetric: max(|least|, |most|) / most integer. With zero points: (most - least) / (2^b
/// - 1), ranges containing 0. `symmetric` maps have no zero point in any case.
std::vector<Scale> mapScales(const Network &network, const IntegerKind &kind,
                             const Branches &branches, const std::set<unsigned> &symmetric);

/// The integers of a convolution and its ALU:
///   sum = bias + Sum of weights * q1
///   p   = max(sum * multiplier, sum * negative), without an activation the first alone
///   p   = max(sum * multiplier * ratio, sum * multiplier) of 8 bits with a slope of 1 / ratio
///   q3  = saturate(round(p / 2^shift) + zeroPoint) of 8 bits, ties away from zero
///   q3  = saturate(round((p + zeroPoint * 2^shift) / 2^shift)) of 16 bits
/// and of an activation with a limit at most `limit`.
struct IntegerLayer {
  /// [kernels][channels][rows][columns]
  std::vector<int16_t> weights;
  std::vector<int32_t> bias;
  double weightScale = 1;
  int16_t multiplier = 1;
  std::optional<int16_t> negative;
  /// One operation less than two multipliers take, where it is as exact.
  std::optional<int16_t> ratio;
  unsigned shift = 0;
  int32_t zeroPoint = 0;
  /// The shift gives 16 bits, to which a zero point of 8 bits can be added behind it.
  bool zeroPointIsLast = false;
  std::optional<int16_t> limit;
  /// Of the public machine, whose shifts round down: sum >> firstShift, times the multiplier, >>
  /// shift, and max(x, (x * negative) >> 15).
  unsigned firstShift = 0;
};

/// What `integersOf` could not do as asked.
struct IntegerProblem {
  enum class Kind : uint8_t { None, ZeroPoint, Sum };
  Kind kind = Kind::None;
  /// The largest number in magnitude that a bias or sum would have.
  double largest = 0;
};

/// The integers of convolution `node`, whose result goes through an activation where `slope` is
/// given. `weightScale` is that of its branch, at least. A bias of more than 32 bits (of int8, also
/// a sum) makes the weights' scale larger; where zero points cause it, this is told in `problem`
/// and nothing is made.
IntegerLayer integersOf(const Node &node, std::optional<double> slope, const Scale &input,
                        const Scale &output, const IntegerKind &kind, double weightScale,
                        IntegerProblem &problem);

/// The integer of the largest number that an activation gives.
int16_t limitOf(double limit, const Scale &output, const IntegerKind &kind);

/// The least scale that weights of a node can have.
double weightScaleOf(const Node &node, const IntegerKind &kind);

/// The same for the public machine: int16 without zero points.
IntegerLayer publicIntegersOf(const Node &node, std::optional<double> slope, const Scale &input,
                              const Scale &output, double weightScale);

} // namespace tpuc::dnnweaver

#endif // TPUC_TARGET_DNNWEAVER_COMPILER_INTEGERS_H
