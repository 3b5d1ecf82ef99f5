//===- BothMachines.h - A model on our machine and the vendor's - -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_CONFORMANCE_BM168X_BOTHMACHINES_H
#define TEST_CONFORMANCE_BM168X_BOTHMACHINES_H

#include "runtime/Session.h"
#include "tpuc/Support/Npz.h"
#include "tpuc/Target/BM168x/Fields.h"
#include "tpuc/Target/Common/Command.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <random>

namespace tpuc::bm168x::conformance {

/// The bytes of a stream of a command group; none where it has no such stream.
std::span<const uint8_t> streamBytes(const model::CommandGroup &group, std::string_view engine);

/// Writes each input of the stage into its place of the activations. Inputs come from `npz`, or are
/// random values between -1 and 1 where it is null. Errors: names and shapes that do not fit.
Expected<void> writeInputs(const model::Stage &stage, const NpzReader *npz,
                           std::span<uint8_t> activations);

/// Calls a function of the vendor's library, which computes with denormals flushed; the calling
/// thread keeps its own mode.
void withFlushedDenormals(const std::function<void()> &call);

/// The first stage of the first net of a .bmodel file on our machine, and on the vendor's where
/// that was loaded. `Chip` has the types Program, Memory and Vendor, parseStream, the names of both
/// streams (kTiuStream, kDmaStream), kGlobalBase, and the memory beside the lanes: kOtherName,
/// other(Memory &), other(Vendor &).
template <typename Chip> class BothMachines {
public:
  using Vendor = typename Chip::Vendor;

  /// A memory of both machines. `vendor` is null without a vendor's machine.
  struct Bytes {
    const char *what;
    std::span<uint8_t> ours;
    uint8_t *vendor;
  };

  /// `npz`: as in writeInputs. Errors: what the file or one of its commands is refused for.
  static Expected<std::unique_ptr<BothMachines>> create(const std::string &path,
                                                        const NpzReader *npz) {
    auto loaded = runtime::LoadedModel::load(path);
    if (!loaded)
      return propagate(loaded);
    auto both = std::make_unique<BothMachines>();
    both->model = std::move(*loaded);
    const model::Stage &stage = both->stage();
    both->activations.resize(stage.activationBytes);
    if (auto ok = writeInputs(stage, npz, both->activations); !ok)
      return propagate(ok);
    for (const model::SubNet &subNet : stage.subNets)
      for (const model::CommandGroup &group : subNet.groups)
        if (auto ok = both->addProgram(group); !ok)
          return propagate(ok);
    for (const model::Section &section : stage.constants)
      if (auto ok = both->memory.mapGlobalReadOnly(section.address, octets(section)); !ok)
        return propagate(ok);
    if (auto ok = both->memory.mapGlobal(stage.activationAddress, both->activations); !ok)
      return propagate(ok);
    return both;
  }

  /// The vendor's machine with the same contents of all memories. `library`: the chip's Vendor.h.
  Expected<void> loadVendor(const std::string &library) {
    const uint64_t end = stage().activationAddress + stage().activationBytes - Chip::kGlobalBase;
    Expected<Vendor> loaded = makeError(library, "was not loaded");
    withFlushedDenormals(
        [&] { loaded = Vendor::load(library, static_cast<int64_t>(end + (1U << 20U))); });
    if (!loaded)
      return propagate(loaded);
    vendor = *loaded;
    for (const model::Section &section : stage().constants)
      std::ranges::copy(octets(section), vendor->global() + (section.address - Chip::kGlobalBase));
    for (const Bytes &bytes : memories())
      std::ranges::copy(bytes.ours, bytes.vendor);
    return {};
  }

  bool hasVendor() const { return vendor.has_value(); }
  /// One command on the vendor's machine.
  void executeOnVendor(const mc::Command &command) {
    withFlushedDenormals([&] { vendor->execute(command); });
  }

  /// What commands can have written.
  std::array<Bytes, 3> memories() {
    uint8_t *there =
        vendor ? vendor->global() + (stage().activationAddress - Chip::kGlobalBase) : nullptr;
    return {{{"local memory", memory.local(), vendor ? vendor->local() : nullptr},
             {Chip::kOtherName, Chip::other(memory), vendor ? Chip::other(*vendor) : nullptr},
             {"activations", activations, there}}};
  }

  /// Runs all commands on our machine. `hook` is called before and after each, with whether it is
  /// done. Errors: those of the commands.
  template <typename Hook> Expected<void> run(ThreadPool &pool, const Hook &hook) {
    for (const typename Chip::Program &program : programs)
      if (auto ok = program.run(memory, pool, hook); !ok)
        return propagate(ok);
    return {};
  }

  size_t activationBytes() const { return activations.size(); }

private:
  const model::Stage &stage() const { return model->stage({0, 0}); }

  static std::span<const uint8_t> octets(const model::Section &section) {
    return {reinterpret_cast<const uint8_t *>(section.data.data()), section.data.size()};
  }

  Expected<void> addProgram(const model::CommandGroup &group) {
    const auto tiu =
        Chip::parseStream(Engine::Tiu, streamBytes(group, Chip::kTiuStream), "TIU stream");
    if (!tiu)
      return tl::unexpected(tiu.error());
    const auto dma =
        Chip::parseStream(Engine::Gdma, streamBytes(group, Chip::kDmaStream), "DMA stream");
    if (!dma)
      return tl::unexpected(dma.error());
    auto program = Chip::Program::create(*tiu, *dma, "program");
    if (!program)
      return propagate(program);
    programs.push_back(std::move(*program));
    return {};
  }

  std::shared_ptr<const runtime::LoadedModel> model;
  /// One per command group.
  std::vector<typename Chip::Program> programs;
  std::vector<uint8_t> activations;
  typename Chip::Memory memory;
  std::optional<Vendor> vendor;
};

} // namespace tpuc::bm168x::conformance

#endif // TEST_CONFORMANCE_BM168X_BOTHMACHINES_H
