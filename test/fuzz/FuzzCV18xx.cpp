//===- FuzzCV18xx.cpp - Any bits as commands of the CV18xx chips ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first byte of each record chooses the chip, the operation and whether values are compressed
// ones; pairs of a field's place and a value follow. A command gives the same bits from bytes and
// from text; what passes the checks runs within the memories and has a time.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Machine/Simulator.h"
#include "tpuc/Target/CV18xx/Machine/Timing.h"
#include "tpuc/Target/CV18xx/Machine/Vlc.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace tpuc;
using namespace tpuc::cv18xx;

namespace {

/// Cycles above which a command takes more than milliseconds under the sanitizers.
constexpr int64_t kMostCycles = 20'000;
constexpr uint64_t kGlobalBytes = 1 << 16;

void requireFor(bool condition, const char *what, const Command &command) {
  if (condition)
    return;
  std::fprintf(stderr, "violated: %s: %s\n", what, mc::disassemble(command).c_str());
  std::abort();
}

/// Reads numbers from the input; zeros behind its end.
class Input {
public:
  explicit Input(std::span<const uint8_t> bytes) : bytes(bytes) {}
  uint64_t next(unsigned count) {
    uint64_t value = 0;
    for (unsigned i = 0; i < count && at < bytes.size(); ++i)
      value |= uint64_t{bytes[at++]} << 8 * i;
    return value;
  }
  bool isAtEnd() const { return at >= bytes.size(); }
  std::span<const uint8_t> rest() const { return bytes.subspan(at); }

private:
  std::span<const uint8_t> bytes;
  size_t at = 0;
};

/// Small shapes first, so that most commands are nearly legal.
Command makeCommand(const Chip &chip, Input &input) {
  const mc::CommandTable &table = commandTable(chip);
  Command command = Command::make(table.ops[input.next(1) % table.ops.size()]);
  command.trySet(Field::Operands, 2);
  for (const Field field :
       {Field::Res0N, Field::Res0C, Field::Res0H, Field::Res0W, Field::Opd0N, Field::Opd0C,
        Field::Opd0H, Field::Opd0W, Field::Opd1N, Field::Opd1C, Field::Opd1H, Field::Opd1W,
        Field::SrcN, Field::SrcC, Field::SrcH, Field::SrcW, Field::DstC, Field::DstH, Field::DstW})
    command.trySet(field, 1);
  const auto fields = command.info().fields;
  for (uint64_t changes = input.next(1) % 16; changes > 0; --changes) {
    const mc::FieldSpec &spec = fields[input.next(1) % fields.size()];
    const mc::EngineInfo &engine = command.engineInfo();
    const uint64_t value = input.next(spec.width > 8 ? 2 : 1);
    if (spec.field != engine.opcode.field && spec.field != engine.sub->field)
      command.trySet(spec.field, value & spec.bits().mask());
  }
  return command;
}

bool isShort(const Chip &chip, const Command &command) {
  const TimingParameters parameters = timingSets(chip)[1];
  if (command.engine() == Engine::Tiu) {
    const TiuCommand tiu = readTiu(chip, command);
    return tiuCycles(chip, tiu, parameters) <= kMostCycles &&
           viewsOf(chip, tiu).res0.view.count() <= kGlobalBytes &&
           productsOf(chip, tiu).count <= kMostCycles * 100;
  }
  const DmaCommand dma = readDma(chip, command);
  const auto isSmall = [](const Extents &shape) {
    uint64_t count = 1;
    for (const uint32_t extent : shape)
      count *= std::min<uint64_t>(extent, kGlobalBytes);
    return count <= kGlobalBytes;
  };
  return dma.isGeneral || (isSmall(dma.src.shape) && isSmall(dma.dst.shape));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Input input({data, size});
  const Chip &chip = allChips()[input.next(1) % 4];
  std::vector<uint8_t> global(kGlobalBytes);
  std::copy_n(data, std::min(size, global.size()), global.begin());
  Memory memory(chip, global);
  std::copy_n(data, std::min<size_t>(size, kLaneBytes), memory.local().begin());
  for (int i = 0; i < 4 && !input.isAtEnd(); ++i) {
    const Command command = makeCommand(chip, input);
    const auto decoded =
        mc::decode(commandTable(chip), command.engine(), command.encoded(), "fuzz");
    requireFor(decoded && *decoded == command, "decoding keeps all bits", command);
    const auto again = mc::assemble(commandTable(chip), mc::disassemble(command), "text");
    requireFor(again && *again == command, "text gives the same bits", command);
    if (checkCommand(chip, command, "fuzz"))
      continue;
    for (const TimingParameters &parameters : timingSets(chip))
      if (isShort(chip, command))
        requireFor(nanosecondsOf(chip, command, parameters) >= 0, "a time", command);
    if (isShort(chip, command))
      (void)runCommand(memory, command, "fuzz");
  }
  if (const auto stream = decodeVlc(input.rest(), 1 + size % 300, "fuzz")) {
    const auto encoded = encodeVlc(stream->values, stream->parameters);
    const auto values = decodeVlc(encoded, stream->values.size(), "again");
    if (!values || values->parameters != stream->parameters)
      std::abort();
  }
  return 0;
}
