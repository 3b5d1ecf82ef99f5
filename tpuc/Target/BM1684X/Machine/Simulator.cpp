//===- Simulator.cpp - The functional simulator ---------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/Simulator.h"

namespace tpuc::bm1684x {

namespace {

Expected<Step> prepareStep(const Decoded &decoded) {
  const CommandOp &operation = decoded.command.operation();
  if (operation.engine == Engine::Gdma)
    return prepareGdma(decoded);
  switch (operation.opcode) {
  case tiu::kConv:
    return prepareConv(decoded);
  case tiu::kPorD:
    return preparePorD(decoded);
  case tiu::kMatMul:
    return operation.sub >= 4 ? prepareMatMul2(decoded) : prepareMatMul(decoded);
  case tiu::kArith:
    return operation.sub == 24 || operation.sub == 25 ? prepareSegment(decoded)
                                                      : prepareArith(decoded);
  case tiu::kRequant:
    return prepareRequant(decoded);
  case tiu::kTranspose:
    return prepareTranspose(decoded);
  case tiu::kScatterGather:
    if (operation.sub > 16)
      break;
    return prepareScatterGather(decoded);
  case tiu::kSfu:
    return prepareSfu(decoded);
  case tiu::kLinear:
    return prepareLinear(decoded);
  case tiu::kCompare:
    return prepareCompare(decoded);
  case tiu::kVector:
    return prepareVector(decoded);
  case tiu::kSys:
    // The end; others would stop or change the engine.
    if (operation.sub == tiu::kSysEnd || operation.sub == 30)
      return Step([](Exec &) -> std::optional<Error> { return std::nullopt; });
    break;
  default:
    break;
  }
  return decoded.unsupported("the operation");
}

} // namespace

Expected<PreparedCommand> prepare(const Command &command, const std::string &where) {
  Expected<OperandList> operands = operandsOf(command, where);
  if (!operands)
    return propagate(operands);
  if (std::optional<Error> error = checkOperands(*operands, where))
    return tl::unexpected<Error>(std::move(*error));
  Expected<Step> step = prepareStep({command, *operands, where});
  if (!step)
    return propagate(step);
  return PreparedCommand{command, std::move(*operands), std::move(*step)};
}

} // namespace tpuc::bm1684x
