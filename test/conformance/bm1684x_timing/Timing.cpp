//===- Timing.cpp - Prints the times of commands --------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   bm1684x-timing streams TIU.bin GDMA.bin [--format csv|trace|summary]
//   bm1684x-timing random [--count N] [--seed S]
//
// `random` prints N commands of every operation and form whose time is known, one line each:
// engine, bytes, kind, cycles and all fields, for other implementations of the formulas to be
// compared with.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Model/TimingText.h"
#include "tpuc/Target/BM1684X/Machine/TimingReport.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <iterator>
#include <random>

namespace {

using namespace tpuc;
using namespace tpuc::bm1684x;

std::vector<uint8_t> read(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

int printStreams(const std::string &tiu, const std::string &gdma, const std::string &format) {
  Expected<TimingReports> reports = simulateTimings(read(tiu), read(gdma), tiu);
  if (!reports) {
    fmt::print(stderr, "error: {}\n", reports.error().message());
    return 1;
  }
  const model::TimingResult result = timingResult(*reports);
  fmt::print("{}", format == "csv"     ? model::timingCsv(result)
                   : format == "trace" ? model::timingTrace(result)
                                       : model::timingSummary(result));
  return 0;
}

class RandomCommands {
public:
  explicit RandomCommands(uint64_t seed) : random(seed) {}

  Command make(const CommandOp &operation, mc::FormId form) {
    Command command = Command::make(operation, form);
    for (const FieldSpec &spec : command.info().fields)
      set(command, spec.field, value(static_cast<Field>(spec.field)));
    if (operation.engine == Engine::Gdma)
      finishTransfer(command);
    else if (oneIn(4)) // In place, or in the same bank.
      set(command, Field::Opd0Addr, command.get(Field::Res0Addr) + (oneIn(2) ? 0 : 64));
    else if (oneIn(4))
      set(command, Field::Opd1Addr, command.get(Field::Res0Addr));
    return command;
  }

private:
  /// Small numbers are as likely as large ones.
  uint64_t upTo(uint64_t most) {
    std::uniform_real_distribution<double> exponent(0, std::log2(static_cast<double>(most) + 1));
    return static_cast<uint64_t>(std::exp2(exponent(random)));
  }
  bool oneIn(unsigned n) { return random() % n == 0; }
  static void set(Command &command, mc::FieldId field, uint64_t value) {
    if (command.has(field))
      command.trySet(field, value);
  }

  uint64_t value(Field field) {
    switch (field) {
    case Field::CmdShort:
    case Field::CmdId:
    case Field::CmdIdDep:
    case Field::CmdIdEn:
    case Field::Opcode:
    case Field::SubOpcode:
    case Field::FillConstantEn:
      return ~uint64_t{0}; // Fits nowhere: stays as it is.
    case Field::Res0Prec:
    case Field::Opd0Prec:
    case Field::Opd1Prec:
    case Field::SrcPrec:
      return random() % 6;
    case Field::Res0Str:
    case Field::Opd0Str:
    case Field::Opd1Str:
      return oneIn(2) ? 0 : 3;
    case Field::OpdNum:
      return 1 + random() % 3;
    case Field::Res0N:
    case Field::SrcNsize:
    case Field::DstNsize:
      return upTo(4);
    case Field::Opd1H:
    case Field::ResOpXStr:
    case Field::ResOpYStr:
      return upTo(5);
    case Field::Opd1N:
      return upTo(12);
    case Field::Res0WStr:
    case Field::Opd0WStr:
    case Field::Opd1WStr:
    case Field::SrcWstride:
    case Field::DstWstride:
      return oneIn(5) ? upTo(40) : 1;
    case Field::Res0HStr:
    case Field::Opd0HStr:
    case Field::Opd1HStr:
      return oneIn(8) ? 0 : upTo(400);
    case Field::Res0Addr:
    case Field::Opd0Addr:
    case Field::Opd1Addr:
      return random() % (kLocalBytes / 64) * 64;
    case Field::Round:
      return random() % 4;
    case Field::ResAdd:
    case Field::LeftTran:
    case Field::Opd0Const:
    case Field::Opd1Const:
    case Field::Opd2Const:
    case Field::StrideEnable:
      return random() % 2;
    case Field::SrcCstride:
    case Field::DstCstride:
    case Field::SrcNstride:
    case Field::DstNstride:
      return oneIn(10) ? 0 : upTo(20000);
    default:
      return upTo(300);
    }
  }

  void finishTransfer(Command &command) {
    auto address = [&](Field low, Field high) {
      uint64_t to = oneIn(2) ? kLocalBase + random() % (kLocalBytes / 64) * 64
                             : kGlobalBase + random() % (1 << 24) * 64;
      set(command, low, to & 0xFFFF'FFFF);
      set(command, high, to >> 32);
    };
    address(Field::SrcAddrL32, Field::SrcAddrH8);
    address(Field::DstAddrL32, Field::DstAddrH8);
    uint64_t width = command.get(Field::SrcWsize);
    for (Field stride : {Field::SrcHstride, Field::DstHstride})
      set(command, stride, oneIn(3) ? upTo(2000) : oneIn(12) ? 0 : width);
    if (command.operation().opcode == gdma::kTensor && command.operation().sub < 2)
      set(command, Field::FillConstantEn, oneIn(8) ? 1 : 0);
  }

  std::mt19937_64 random;
};

void printRandom(unsigned count, uint64_t seed) {
  RandomCommands commands(seed);
  for (const CommandOp &operation : allCommandOps())
    for (std::optional<mc::FormId> form : {std::optional(operation.form), operation.otherForm})
      for (unsigned i = 0; form && i < count; ++i) {
        Command command = commands.make(operation, *form);
        Expected<CommandCost> cost =
            commandCost(command, timingParameters(TimingModel::Vendor), "");
        if (!cost || cost->kind == "SYS")
          break;
        std::string fields;
        for (const FieldSpec &spec : command.info().fields)
          fmt::format_to(std::back_inserter(fields), " {}={}", fieldName(spec.field),
                         command.get(spec.field));
        fmt::print("{} {:02x} {} {}{}\n", operation.engine == Engine::Tiu ? "TIU" : "GDMA",
                   fmt::join(command.encoded(), ""), cost->kind, cost->cycles, fields);
      }
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app{"Prints the times of commands"};
  app.require_subcommand(1);
  CLI::App *streams = app.add_subcommand("streams", "The time line of two command streams");
  std::string tiu;
  std::string gdma;
  std::string format = "csv";
  streams->add_option("tiu", tiu, "File of TIU commands")->required()->check(CLI::ExistingFile);
  streams->add_option("gdma", gdma, "File of GDMA commands")->required()->check(CLI::ExistingFile);
  streams->add_option("--format", format, "csv, trace or summary")
      ->check(CLI::IsMember({"csv", "trace", "summary"}));
  CLI::App *random = app.add_subcommand("random", "Random commands, one line each");
  unsigned count = 100;
  uint64_t seed = 1;
  random->add_option("--count", count, "Commands of each operation and form");
  random->add_option("--seed", seed, "Start of the random numbers");
  CLI11_PARSE(app, argc, argv);
  if (*streams)
    return printStreams(tiu, gdma, format);
  printRandom(count, seed);
  return 0;
}
