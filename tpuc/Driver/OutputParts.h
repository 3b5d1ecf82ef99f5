//===- OutputParts.h - The parts of outputs that are concatenated -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DRIVER_OUTPUTPARTS_H
#define TPUC_DRIVER_OUTPUTPARTS_H

#include "tpuc/Support/Tensor.h"

#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <string>
#include <vector>

namespace tpuc {

/// One operand of the concatenation that makes an output: a stretch along an axis.
struct OutputPart {
  /// The operand's name.
  std::string name;
  int64_t axis = 0;
  int64_t begin = 0;
  int64_t end = 0;
};

/// Parts of outputs, by the names of these.
using OutputParts = std::map<std::string, std::vector<OutputPart>>;

/// The parts of those outputs of `main` that a concatenation of known extents makes. Concatenations
/// along the same axis within each other count as one.
OutputParts outputParts(mlir::ModuleOp module);

/// What says that `target` has lost the signal that `reference` has in one of `parts`, or nothing:
/// the part is the same number throughout, or its correlation with the reference's is below a half.
/// A whole tensor may be alike all the same, where another part has the larger numbers. Parts in
/// which the reference hardly changes are no signal. Both tensors have the shape of the output.
std::string lostPart(const Tensor &target, const Tensor &reference,
                     const std::vector<OutputPart> &parts);
/// The same of a whole output.
std::string lostSignal(const Tensor &target, const Tensor &reference, const std::string &name);
/// The same of the output `name`; nothing where it has no parts.
std::string lostPart(const Tensor &target, const Tensor &reference, const OutputParts &parts,
                     const std::string &name);

} // namespace tpuc

#endif // TPUC_DRIVER_OUTPUTPARTS_H
