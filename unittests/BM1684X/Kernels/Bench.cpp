//===- Bench.cpp - A machine on which kernels are tried--------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/BM1684X/Kernels/Bench.h"

#include "tpuc/Support/Convert.h"
#include "tpuc/Target/BM1684X/Machine/Simulator.h"

#include <cstring>
#include <random>

namespace tpuc::bm1684x {

Tensor randomNumbers(DataType type, const Shape &shape, unsigned seed, double low, double high) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> values(low, high);
  Tensor tensor(DataType::F64, shape);
  for (double &value : tensor.mutableData<double>())
    value = values(generator);
  return convert(tensor, type);
}

Extents extents(const Tensor &tensor) {
  const Shape &shape = tensor.shape();
  return {shape[0], shape[1], shape[2], shape[3]};
}

std::span<const uint8_t> bytesOf(const Tensor &tensor) {
  return {reinterpret_cast<const uint8_t *>(tensor.rawBytes().data()), tensor.rawBytes().size()};
}

GlobalTensor Bench::space(DataType type, const Extents &shape) {
  GlobalTensor tensor = globalTensor(type, shape, kGlobalBase + globalUsed);
  int64_t elements = shape[0] * shape[1] * shape[2] * shape[3];
  globalUsed += static_cast<uint64_t>(alignUp(byteSize(type, elements), 4096));
  global.resize(globalUsed);
  return tensor;
}

GlobalTensor Bench::put(const Tensor &tensor) {
  GlobalTensor place = space(tensor.type(), extents(tensor));
  std::memcpy(global.data() + (place.address - kGlobalBase), tensor.rawBytes().data(),
              tensor.rawBytes().size());
  return place;
}

Tensor Bench::get(const GlobalTensor &tensor) const {
  Tensor result(tensor.type, Shape(std::span(tensor.shape)));
  std::memcpy(result.mutableBytes().data(), global.data() + (tensor.address - kGlobalBase),
              result.rawBytes().size());
  return result;
}

uint32_t Bench::bytes(uint32_t count) {
  uint32_t at = localUsed;
  localUsed += static_cast<uint32_t>(alignUp(count, kEuBytes));
  EXPECT_LE(localUsed, kLaneBytes);
  return at;
}

LocalTensor Bench::local(DataType type, const Extents &shape, Layout layout, uint32_t startLane) {
  uint32_t at = bytes(laneBytes(type, shape, layout, startLane));
  return localTensor(type, shape, at, layout, startLane);
}

Scratch Bench::scratch(const Expected<uint32_t> &needed) {
  if (!needed) {
    ADD_FAILURE() << needed.error().message();
    return {};
  }
  return {bytes(*needed), *needed};
}

LocalTensor Bench::load(const Tensor &tensor, Layout layout, uint32_t startLane) {
  LocalTensor place = local(tensor.type(), extents(tensor), layout, startLane);
  expectOk(emitLoad(builder, put(tensor), place));
  return place;
}

GlobalTensor Bench::store(const LocalTensor &tensor) {
  GlobalTensor place = space(tensor.type, tensor.shape);
  expectOk(emitStore(builder, tensor, place));
  return place;
}

void Bench::carryOut(bool tiuFirst, std::vector<uint8_t> &bytes) {
  memory.unmapAll();
  ASSERT_TRUE(memory.mapGlobal(kGlobalBase, bytes));
  Exec exec{memory, pool, kernelsFor(bestSimdLevel())};
  std::array<std::span<const Command>, 2> queues{done.tiu, done.gdma};
  std::array<size_t, 2> next{};
  while (next[0] < queues[0].size() || next[1] < queues[1].size()) {
    size_t engine = tiuFirst ? 0 : 1;
    auto isReady = [&](size_t which) {
      return next[which] < queues[which].size() &&
             queues[which][next[which]].dependency() <= next[1 - which];
    };
    if (!isReady(engine))
      engine = 1 - engine;
    ASSERT_TRUE(isReady(engine)) << "the engines wait for each other";
    const Command &command = queues[engine][next[engine]++];
    if (command.isEnd())
      continue;
    Expected<PreparedCommand> prepared = prepare(command, "command");
    ASSERT_TRUE(prepared) << prepared.error().message() << "\n" << disassemble(command);
    std::optional<Error> error = prepared->step(exec);
    ASSERT_FALSE(error) << error->message() << "\n" << disassemble(command);
  }
}

void Bench::run() {
  Expected<CommandStreams> finished = builder.finish();
  ASSERT_TRUE(finished) << finished.error().message();
  done = std::move(*finished);
  std::optional<Error> error = checkProgram(done.tiu, done.gdma, "program");
  ASSERT_FALSE(error) << error->message();
  error = checkHazards(done.tiu, done.gdma, "program");
  ASSERT_FALSE(error) << error->message();
  std::vector<uint8_t> other = global;
  carryOut(false, other);
  carryOut(true, global);
  EXPECT_TRUE(other == global) << "the result depends on which engine is first";
}

void expectOk(const Expected<void> &result) {
  if (!result)
    ADD_FAILURE() << result.error().message();
}

void expectSame(const Tensor &found, const Tensor &wanted) {
  ASSERT_EQ(found.byteSize(), wanted.byteSize());
  EXPECT_EQ(std::memcmp(found.rawBytes().data(), wanted.rawBytes().data(), found.rawBytes().size()),
            0);
}

void expectClose(const Tensor &found, const Tensor &wanted) {
  TensorComparison comparison = compareTensors(found, wanted);
  EXPECT_NE(comparison.relation, ShapeRelation::Mismatch);
  EXPECT_EQ(comparison.nonFiniteMismatches, 0);
  EXPECT_GE(comparison.cosine, leastCosine(found.type()));
  // The cosine does not see a factor.
  EXPECT_GE(comparison.euclid, 1 - 4 * std::sqrt(2 * (1 - leastCosine(found.type()))));
}

} // namespace tpuc::bm1684x
