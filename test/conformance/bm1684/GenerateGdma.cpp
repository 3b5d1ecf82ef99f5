//===- GenerateGdma.cpp - Random transfers --------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/conformance/bm1684/Generate.h"

#include <fmt/format.h>

namespace tpuc::bm1684::conformance::detail {

namespace {

struct Fields {
  std::array<Field, 4> size, stride;
  Field low, high;
};
constexpr Fields kSrc = {
    {Field::SrcNsize, Field::SrcCsize, Field::SrcHsize, Field::SrcWsize},
    {Field::SrcNstride, Field::SrcCstride, Field::SrcHstride, Field::SrcWstride},
    Field::SrcAddrL32,
    Field::SrcAddrH8};
constexpr Fields kDst = {
    {Field::DstNsize, Field::DstCsize, Field::DstHsize, Field::DstWsize},
    {Field::DstNstride, Field::DstCstride, Field::DstHstride, Field::DstWstride},
    Field::DstAddrL32,
    Field::DstAddrH8};

/// A side of a transfer: an address in its memory, its extents and strides.
void setSide(Command &command, Random &random, const Fields &fields, bool isLocal, bool isSource,
             unsigned bytes, const Extents &shape) {
  const int64_t lane = isLocal ? random.range(0, 63) : 0;
  const uint64_t at = isLocal ? kLocalBase + u(lane) * kLaneBytes + (isSource ? 0 : kLaneBytes / 2)
                              : kGlobalBase + (isSource ? 0x1000 : 0x200000);
  const uint64_t address = at + u(random.range(0, 8)) * bytes;
  command.set(fields.low, address & 0xffffffff).set(fields.high, address >> 32);
  const int64_t element = random.chance(5) ? random.range(2, 4) : 1;
  const int64_t row = shape[3] * element + (random.chance(3) ? random.range(0, 5) : 0);
  int64_t plane = shape[2] * row + (random.chance(3) ? random.range(0, 5) : 0);
  if (isLocal && random.chance(2))
    plane = alignUp(plane, kEuBytes / bytes);
  const int64_t planes = isLocal ? ceilDiv(lane + shape[1], kLanes) : shape[1];
  const Extents stride = {planes * plane, plane, row, element};
  for (size_t i = 0; i < 4; ++i)
    command.set(fields.size[i], u(shape[i])).set(fields.stride[i], u(stride[i]));
}

constexpr uint64_t kFormats[] = {0, 1, 3};

Command transfer(Random &random, unsigned opcode, bool isMatrix, unsigned direction,
                 uint64_t format) {
  Command command = Command::make(*mc::findOp(kCommandTable, Engine::Gdma, opcode, isMatrix));
  command.set(Field::CmdId, 1).set(Field::Direction, direction).set(Field::StrideEnable, 1);
  command.set(Field::SrcFormat, format).set(Field::DstFormat, format);
  command.set(Field::ConstantValue, static_cast<uint32_t>(random.next()));
  return command;
}

bool isLocalSource(unsigned direction) { return direction == 1 || direction == 3; }
bool isLocalResult(unsigned direction) { return direction == 0 || direction == 3; }

Extents randomShape(Random &random) {
  return {random.range(1, 3), random.range(1, 90), random.range(1, 7), random.range(1, 20)};
}

/// The same elements in the same order, in another shape.
Extents reshaped(Random &random, Extents shape) {
  if (random.chance(3))
    return {shape[0], shape[1], 1, shape[2] * shape[3]};
  if (random.chance(2))
    return {shape[0], shape[1] * shape[2], 1, shape[3]};
  return shape;
}

Case tensorCase(Random &random, unsigned opcode, unsigned direction) {
  const uint64_t format = random.pick(kFormats);
  const unsigned bytes = formatBytes(format);
  Command command = transfer(random, opcode, false, direction, format);
  Extents shape = randomShape(random);
  if (opcode == gdma::kCwTranspose)
    shape = {1, shape[1], 1, shape[3]};
  Extents to = shape;
  if (opcode == gdma::kCopy)
    to = reshaped(random, shape);
  if (opcode == gdma::kTranspose)
    to = {shape[1], shape[0], shape[2], shape[3]};
  if (opcode == gdma::kCwTranspose)
    to = {shape[0], shape[3], shape[2], shape[1]};
  setSide(command, random, kDst, isLocalResult(direction), false, bytes, to);
  if (opcode != gdma::kFill)
    setSide(command, random, kSrc, isLocalSource(direction), true, bytes, shape);
  if (opcode == gdma::kCopy && direction != 2 && shape == to && random.chance(5))
    command.set(Field::StrideEnable, 0);
  if (opcode == gdma::kCwTranspose)
    command.set(Field::SrcWstride, 1).set(Field::DstWstride, 1);
  return {command, {fill(random, Role::Opd0, Kind::Bits), fill(random, Role::Res0, Kind::Bits)}};
}

Case matrixCase(Random &random, unsigned opcode, unsigned direction) {
  const uint64_t format = random.pick(kFormats);
  const unsigned bytes = formatBytes(format);
  Command command = transfer(random, opcode, true, direction, format);
  const bool toLocal = direction == 0, isTransposed = opcode == gdma::kTranspose;
  const int64_t rows = random.range(1, 20), width = random.range(1, 30),
                pieces = random.range(1, 80);
  const int64_t columns = (pieces - 1) * width + random.range(1, width);
  const int64_t high = isTransposed ? columns : rows, wide = isTransposed ? rows : columns;
  const Fields &lanes = toLocal ? kDst : kSrc, &outside = toLocal ? kSrc : kDst;
  setSide(command, random, lanes, true, !toLocal, bytes, {rows, pieces, 1, width});
  command.set(lanes.stride[3], 1);
  setSide(command, random, outside, false, toLocal, bytes, {1, 1, high, wide});
  command.set(outside.stride[2], u(wide + random.range(0, 4))).set(outside.stride[3], 1);
  return {command, {fill(random, Role::Opd0, Kind::Bits), fill(random, Role::Res0, Kind::Bits)}};
}

} // namespace

void addGdmaRecipes(std::vector<Recipe> &recipes) {
  const auto add = [&](std::string_view name, unsigned opcode, unsigned direction) {
    recipes.push_back({fmt::format("dma.{} {}", name, direction),
                       [=](Random &random) { return tensorCase(random, opcode, direction); }});
  };
  for (unsigned direction = 0; direction < 4; ++direction) {
    add("copy", gdma::kCopy, direction);
    add("nc_transpose", gdma::kTranspose, direction);
    if (direction >= 2)
      add("fill", gdma::kFill, direction);
  }
  add("cw_transpose", gdma::kCwTranspose, 3);
  for (const unsigned direction : {0u, 1u}) {
    recipes.push_back({fmt::format("dma.matrix {}", direction),
                       [=](Random &random) { return matrixCase(random, gdma::kCopy, direction); }});
    recipes.push_back({fmt::format("dma.matrix_transpose {}", direction), [=](Random &random) {
                         return matrixCase(random, gdma::kTranspose, direction);
                       }});
  }
}

} // namespace tpuc::bm1684::conformance::detail
