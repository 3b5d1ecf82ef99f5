//===- BothMachines.cpp - A model on our machine and the vendor's ---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/conformance/bm1684/BothMachines.h"
#include "runtime/Elements.h"
#include "tpuc/Target/BM1684/Machine/Streams.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <xmmintrin.h>

namespace tpuc::bm1684::conformance {

namespace {

std::span<const uint8_t> octets(model::Bytes bytes) {
  return {reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()};
}

/// An input as the net stores it.
Expected<tpuc::Tensor> makeInput(const model::TensorInfo &info, const NpzReader *npz,
                                 std::mt19937 &random) {
  const auto shape =
      runtime::checkedShape(info.shape, info.type.value_or(DataType::F32), info.name);
  if (!shape)
    return tl::unexpected(shape.error());
  tpuc::Tensor tensor(DataType::F32, *shape);
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
  return runtime::toStored(tensor, info, info.name);
}

Expected<Program> createProgram(const model::CommandGroup &group) {
  const auto code = [&](std::string_view engine) {
    const auto stream = std::ranges::find(group.streams, engine, &model::Stream::engine);
    return stream == group.streams.end() ? model::Bytes() : stream->code;
  };
  const auto tiu = parseStream(Engine::Tiu, octets(code(kTiuStream)), "TIU stream");
  if (!tiu)
    return tl::unexpected(tiu.error());
  const auto dma = parseStream(Engine::Gdma, octets(code(kDmaStream)), "DMA stream");
  if (!dma)
    return tl::unexpected(dma.error());
  return Program::create(*tiu, *dma, "program");
}

} // namespace

Expected<std::unique_ptr<OurMachine>> prepareModel(const std::string &path, const NpzReader *npz) {
  auto loaded = runtime::LoadedModel::load(path);
  if (!loaded)
    return propagate(loaded);
  auto ours = std::make_unique<OurMachine>();
  ours->model = std::move(*loaded);
  const model::Stage &stage = ours->stage();
  ours->context.resize(stage.activationBytes);
  std::mt19937 random(1);
  for (const model::TensorInfo &info : stage.inputs) {
    const auto input = makeInput(info, npz, random);
    if (!input)
      return tl::unexpected(input.error());
    const auto bytes = input->rawBytes();
    std::memcpy(ours->context.data() + (info.address - stage.activationAddress), bytes.data(),
                bytes.size());
  }
  for (const model::SubNet &subNet : stage.subNets)
    for (const model::CommandGroup &group : subNet.groups) {
      auto program = createProgram(group);
      if (!program)
        return propagate(program);
      ours->programs.push_back(std::move(*program));
    }
  for (const model::Section &section : stage.constants)
    if (auto ok = ours->memory.mapGlobalReadOnly(section.address, octets(section.data)); !ok)
      return propagate(ok);
  if (auto ok = ours->memory.mapGlobal(stage.activationAddress, ours->context); !ok)
    return propagate(ok);
  return ours;
}

Expected<Vendor> loadVendor(const std::string &library, OurMachine &ours) {
  const model::Stage &stage = ours.stage();
  const uint64_t end = stage.activationAddress + stage.activationBytes - kGlobalBase;
  const unsigned csr = _mm_getcsr();
  auto vendor = Vendor::load(library, static_cast<int64_t>(end + (1U << 20U)));
  _mm_setcsr(csr);
  if (!vendor)
    return vendor;
  for (const model::Section &section : stage.constants)
    std::ranges::copy(octets(section.data), vendor->global() + (section.address - kGlobalBase));
  std::ranges::copy(ours.context, vendorContext(*vendor, ours));
  std::ranges::copy(ours.memory.local(), vendor->local());
  std::ranges::copy(ours.memory.l2(), vendor->l2());
  return vendor;
}

uint8_t *vendorContext(Vendor &vendor, const OurMachine &ours) {
  return vendor.global() + (ours.stage().activationAddress - kGlobalBase);
}

void execute(Vendor &vendor, const Command &command) {
  const unsigned csr = _mm_getcsr();
  constexpr unsigned kFlush = 0x8040;
  _mm_setcsr(csr | kFlush);
  vendor.execute(command);
  _mm_setcsr(csr);
}

} // namespace tpuc::bm1684::conformance
