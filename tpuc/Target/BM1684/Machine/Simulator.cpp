//===- Simulator.cpp - The functional simulator ---------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Machine/Simulator.h"

namespace tpuc::bm1684 {

namespace {

Expected<Step> prepareStep(const Decoded &decoded) {
  switch (decoded.command.operation().opcode) {
  case tiu::kConv:
    return decoded.flag(Field::Winograd) ? prepareWinograd(decoded) : prepareConv(decoded);
  case tiu::kPorD:
    return preparePorD(decoded);
  case tiu::kMatMul:
    return prepareMatMul(decoded);
  case tiu::kArith:
    return prepareArith(decoded);
  case tiu::kLut:
    return prepareLut(decoded);
  case tiu::kCompare:
    return prepareCompare(decoded);
  default:
    return prepareFloats(decoded);
  }
}

} // namespace

Expected<PreparedCommand> prepare(const Command &command, const std::string &where) {
  Expected<OperandList> operands = operandsOf(command, where);
  if (!operands)
    return propagate(operands);
  if (std::optional<Error> error = bm168x::checkOperands(kLocalMemory, *operands, where))
    return tl::unexpected<Error>(std::move(*error));
  Expected<Step> step = [&]() -> Expected<Step> {
    if (command.engine() == mc::EngineId(Engine::Gdma))
      return prepareGdma(command, *operands, where);
    Expected<TensorList> tensors = tensorsOf(command, where);
    if (!tensors)
      return propagate(tensors);
    return prepareStep({command, *tensors, where});
  }();
  if (!step)
    return propagate(step);
  return PreparedCommand{command, std::move(*operands), std::move(*step)};
}

} // namespace tpuc::bm1684
