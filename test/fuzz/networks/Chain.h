//===- Chain.h - A network through all tools --------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_FUZZ_NETWORKS_CHAIN_H
#define TEST_FUZZ_NETWORKS_CHAIN_H

#include "test/fuzz/common/Guard.h"
#include "tpuc/Target/Target.h"

namespace tpuc::fuzz {

/// Has model_transform, the interpreter, run_calibration and model_deploy work on
/// `folder`/net.onnx: of F32, F16 or else BF16, and INT8 those that the chip `target` has, each
/// file run on its simulator. Random inputs come from `seed`. Stops where a step refuses what the
/// next ones need. Networks with inputs of many megabytes are deployed, but not run. Notes, before
/// and behind each step:
///   begin STEP
///   passed STEP
///   refused STEP: MESSAGE        the tool says what is wrong
///   differs STEP: MESSAGE        the tool finds its own results too far from the reference
/// A message without a place in front of it is noted as `mute STEP: MESSAGE`. Behind each step
/// `peak BYTES` says what memory the process has had so far. Where a step writes a module,
/// `states BYTES` is what all its tensors take, or those of a larger one before it; outputs that a
/// step compares count as often as it has to have them.
void runChain(const std::string &folder, const TargetInfo &target, uint64_t seed,
              const Notes &notes);

} // namespace tpuc::fuzz

#endif // TEST_FUZZ_NETWORKS_CHAIN_H
