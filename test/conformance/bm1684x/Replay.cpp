//===- Replay.cpp - A whole model on both machines, command by command ----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: bm1684x-replay libcmodel_bm1684x.so MODEL.bmodel [INPUT.npz]
//
// Runs the first stage of the first net of a .bmodel file on our machine and, one command behind,
// on the vendor's functional model. After each command all of local memory and of the activations
// are compared. A command whose bytes differ is shown, and the vendor's bytes are taken over, so
// that every command is judged by itself. Status 1 when any command differed.
//
//===----------------------------------------------------------------------===//

#include "runtime/Elements.h"
#include "runtime/Session.h"
#include "test/conformance/bm1684x/Vendor.h"
#include "tpuc/Support/Npz.h"
#include "tpuc/Support/ThreadPool.h"
#include "tpuc/Target/BM1684X/Machine/Simulator.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <map>
#include <random>
#include <xmmintrin.h>

using namespace tpuc;
using namespace tpuc::bm1684x;

namespace {

/// Both machines with the same contents.
class Replay {
public:
  Replay(conformance::Vendor vendor, const bmodel::Stage &stage, std::span<uint8_t> context)
      : vendor(vendor), stage(stage), context(context) {}

  Expected<void> prepare();
  Expected<void> run(const bmodel::CommandGroup &group);
  bool printSummary() const;

private:
  uint8_t *vendorContext() { return vendor.global() + (stage.contextAddress - kGlobalBase); }
  void step(const PreparedCommand &prepared);
  bool compare(std::span<uint8_t> ours, uint8_t *theirs, const char *what);

  conformance::Vendor vendor;
  const bmodel::Stage &stage;
  std::span<uint8_t> context;
  Memory memory;
  ThreadPool pool;
  struct Count {
    unsigned commands = 0, differing = 0;
  };
  std::map<std::string, Count> counts;
};

Expected<void> Replay::prepare() {
  if (stage.coefficients) {
    const auto *data = reinterpret_cast<const uint8_t *>(stage.coefficients->data.data());
    const std::span bytes(data, stage.coefficients->data.size());
    if (auto ok = memory.mapGlobalReadOnly(stage.coefficients->address, bytes); !ok)
      return ok;
    std::ranges::copy(bytes, vendor.global() + (stage.coefficients->address - kGlobalBase));
  }
  if (auto ok = memory.mapGlobal(stage.contextAddress, context); !ok)
    return ok;
  std::ranges::copy(context, vendorContext());
  std::ranges::copy(memory.local(), vendor.local());
  std::ranges::copy(memory.staticMemory(), vendor.staticMemory());
  return {};
}

bool Replay::compare(std::span<uint8_t> ours, uint8_t *theirs, const char *what) {
  if (std::memcmp(ours.data(), theirs, ours.size()) == 0)
    return true;
  size_t count = 0;
  size_t first = ours.size();
  for (size_t i = 0; i < ours.size(); ++i)
    if (ours[i] != theirs[i]) {
      first = std::min(first, i);
      ++count;
    }
  const size_t word = first / 4 * 4;
  fmt::print("  {}: {} bytes differ, first at 0x{:X}: 0x{:08X}, vendor 0x{:08X}\n", what, count,
             first, *reinterpret_cast<const uint32_t *>(&ours[word]),
             *reinterpret_cast<const uint32_t *>(&theirs[word]));
  std::copy_n(theirs, ours.size(), ours.data());
  return false;
}

void Replay::step(const PreparedCommand &prepared) {
  const unsigned csr = _mm_getcsr();
  // The vendor's model computes with denormals flushed, ours must not depend on it.
  constexpr unsigned kFlush = 0x8040;
  _mm_setcsr(csr | kFlush);
  vendor.execute(prepared.command);
  _mm_setcsr(csr);
  Count &count = counts[std::string(prepared.command.operation().name)];
  ++count.commands;
  const bool sameLocal = compare(memory.local(), vendor.local(), "local memory");
  const bool sameContext = compare(context, vendorContext(), "activations");
  if (sameLocal && sameContext)
    return;
  ++count.differing;
  fmt::print("    {}\n", disassemble(prepared.command));
}

Expected<void> Replay::run(const bmodel::CommandGroup &group) {
  const auto parse = [](Engine engine, bmodel::Bytes bytes) {
    return parseStream(engine, {reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()},
                       engine == Engine::Tiu ? "TIU stream" : "DMA stream");
  };
  const auto tiu = parse(Engine::Tiu, group.tiu);
  if (!tiu)
    return tl::unexpected(tiu.error());
  const auto dma = parse(Engine::Gdma, group.dma);
  if (!dma)
    return tl::unexpected(dma.error());
  const auto program = Program::create(*tiu, *dma, "program");
  if (!program)
    return tl::unexpected(program.error());
  return program->run(memory, pool, [&](const PreparedCommand &prepared, bool isDone) {
    if (isDone)
      step(prepared);
  });
}

bool Replay::printSummary() const {
  bool isSame = true;
  for (const auto &[name, count] : counts) {
    fmt::print("{:<24} {:>7} commands {:>7} differ\n", name, count.commands, count.differing);
    isSame = isSame && count.differing == 0;
  }
  return isSame;
}

/// An input as the net stores it: from the npz file, or random values.
Expected<Tensor> makeInput(const bmodel::TensorInfo &info, const NpzReader *npz,
                           std::mt19937 &random) {
  const DataType type = bmodel::dataTypeOfCode(info.type).value_or(DataType::F32);
  const auto shape = runtime::checkedShape(info.shapes.front(), type, info.name);
  if (!shape)
    return tl::unexpected(shape.error());
  Tensor tensor(DataType::F32, *shape);
  if (npz) {
    auto read = npz->read(info.name);
    if (!read)
      return read;
    tensor = std::move(*read);
  } else {
    std::uniform_real_distribution<float> values(-1, 1);
    for (float &value : tensor.mutableData<float>())
      value = values(random);
  }
  return runtime::toStored(tensor, info, info.shapes.front(), info.name);
}

Expected<bool> replay(std::span<char *> arguments) {
  if (arguments.size() < 3 || arguments.size() > 4)
    return makeError("usage", "bm1684x-replay LIBRARY MODEL.bmodel [INPUT.npz]");
  auto loaded = runtime::LoadedModel::load(arguments[2]);
  if (!loaded)
    return propagate(loaded);
  std::optional<NpzReader> npz;
  if (arguments.size() == 4) {
    auto opened = NpzReader::open(arguments[3]);
    if (!opened)
      return propagate(opened);
    npz.emplace(std::move(*opened));
  }
  const bmodel::Stage &stage = (*loaded)->stage({0, 0});
  std::vector<uint8_t> context(stage.contextSize);
  std::mt19937 random(1);
  for (const bmodel::TensorInfo &info : stage.inputs) {
    const auto input = makeInput(info, npz ? &*npz : nullptr, random);
    if (!input)
      return tl::unexpected(input.error());
    const auto bytes = input->rawBytes();
    std::memcpy(context.data() + (info.address - stage.contextAddress), bytes.data(), bytes.size());
  }
  const uint64_t end = stage.contextAddress + stage.contextSize - kGlobalBase;
  const unsigned csr = _mm_getcsr();
  auto vendor = conformance::Vendor::load(arguments[1], static_cast<int64_t>(end + (1U << 20U)));
  _mm_setcsr(csr);
  if (!vendor)
    return propagate(vendor);
  Replay both(*vendor, stage, context);
  if (auto ok = both.prepare(); !ok)
    return propagate(ok);
  for (const bmodel::SubNet &subNet : stage.subNets)
    for (const bmodel::CommandGroup &group : subNet.groups)
      if (auto ok = both.run(group); !ok)
        return propagate(ok);
  return both.printSummary();
}

} // namespace

int main(int argc, char **argv) {
  const auto isSame = replay({argv, static_cast<size_t>(argc)});
  if (!isSame) {
    fmt::print(stderr, "bm1684x-replay: error: {}\n", isSame.error().message());
    return 1;
  }
  return *isSame ? 0 : 1;
}
