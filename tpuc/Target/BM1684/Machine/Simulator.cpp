//===- Simulator.cpp - The functional simulator ---------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Machine/Simulator.h"

#include "tpuc/Target/Common/Check.h"

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

Expected<Program> Program::create(std::span<const Command> tiu, std::span<const Command> gdma,
                                  const std::string &where) {
  Expected<std::vector<ScheduledCommand>> order = serialOrder(tiu, gdma, where);
  if (!order)
    return propagate(order);
  Program program;
  program.prepared.reserve(order->size());
  for (const ScheduledCommand scheduled : *order) {
    const bool isTiu = scheduled.engine == mc::EngineId(Engine::Tiu);
    const Command &command = (isTiu ? tiu : gdma)[scheduled.index];
    Expected<PreparedCommand> ready =
        prepare(command, mc::commandName(where, command, scheduled.index));
    if (!ready)
      return propagate(ready);
    program.prepared.push_back(std::move(*ready));
  }
  return program;
}

Expected<void> Program::run(Memory &memory, ThreadPool &pool, const Hook &hook,
                            SimdLevel level) const {
  Exec exec{memory, pool, kernelsFor(level)};
  for (const PreparedCommand &command : prepared) {
    if (hook)
      hook(command, false);
    if (std::optional<Error> error = command.step(exec))
      return tl::unexpected<Error>(std::move(*error));
    if (hook)
      hook(command, true);
  }
  return {};
}

} // namespace tpuc::bm1684
