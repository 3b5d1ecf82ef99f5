//===- Views.cpp - Tensors in lanes of local memory -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM168x/Views.h"

#include <algorithm>
#include <fmt/format.h>

namespace tpuc::bm168x {

Extents transferStrides(const LocalMemory &memory, uint64_t address, const Extents &shape,
                        unsigned bytes) {
  if (memory.contains(address))
    return layoutStrides(memory, Layout::Aligned, shape, bytes, address - memory.base);
  return {shape[1] * shape[2] * shape[3], shape[2] * shape[3], shape[3], 1};
}

Transfer transferOf(const mc::Command &command) {
  const auto group = [&](Field n, Field c, Field h, Field w) {
    return extentsOf(command, n, c, h, w);
  };
  return {command.as<Prec>(Field::SrcPrec),
          command.address(Field::SrcAddrL32, Field::SrcAddrH8),
          command.address(Field::DstAddrL32, Field::DstAddrH8),
          group(Field::SrcNsize, Field::SrcCsize, Field::SrcHsize, Field::SrcWsize),
          group(Field::DstNsize, Field::DstCsize, Field::DstHsize, Field::DstWsize),
          group(Field::SrcNstride, Field::SrcCstride, Field::SrcHstride, Field::SrcWstride),
          group(Field::DstNstride, Field::DstCstride, Field::DstHstride, Field::DstWstride)};
}

std::optional<LaneBytes> laneBytesOf(const LocalMemory &lanes, const View &view) {
  auto length = static_cast<uint32_t>(touchedBytes(lanes, view).last);
  if (view.isLocal) {
    auto first = static_cast<uint32_t>(view.address % lanes.laneBytes);
    return LaneBytes{first, std::min(first + length, lanes.laneBytes)};
  }
  // A linear block of local memory may run from one lane into the next.
  if (!lanes.contains(view.address))
    return std::nullopt;
  auto first = static_cast<uint32_t>(view.address % lanes.laneBytes);
  if (first + length <= lanes.laneBytes)
    return LaneBytes{first, first + length};
  return LaneBytes{0, lanes.laneBytes};
}

std::string_view roleName(Role role) {
  constexpr std::string_view kNames[] = {"res0", "res1", "opd0", "opd1", "opd2", "opd3"};
  return kNames[static_cast<size_t>(role)];
}

void OperandList::add(Role role, const View &view) {
  // Hardly a command has more.
  constexpr size_t kMost = 4;
  if (operands.empty())
    operands.reserve(kMost);
  operands.push_back({role, view});
}

void OperandList::addResult(Role role, const View &view, bool isRead) {
  operands.push_back({role, view, true, isRead});
}

const View *OperandList::find(Role role) const {
  auto found = std::ranges::find(operands, role, &Operand::role);
  return found == operands.end() ? nullptr : &found->view;
}

Extents extentsOf(const mc::Command &command, Field n, Field c, Field h, Field w) {
  auto value = [&](Field field) { return static_cast<int64_t>(command.get(field)); };
  return {value(n), value(c), value(h), value(w)};
}

namespace {

std::optional<Error> checkLanes(const LocalMemory &memory, const Operand &operand,
                                const std::string &where) {
  const View &view = operand.view;
  const auto inLane = static_cast<int64_t>(view.address % memory.laneBytes);
  if (view.address >= memory.bytes())
    return Error{where, fmt::format("{} at {:#x}", roleName(operand.role), view.address),
                 fmt::format("an offset in local memory, below {:#x}", memory.bytes())};
  const int64_t last = inLane + touchedBytes(memory, view).last;
  if (last > memory.laneBytes)
    return Error{where,
                 fmt::format("{} [{}] at {:#x} reaches byte {:#x} of its lanes",
                             roleName(operand.role), fmt::join(view.shape, ","), view.address,
                             last),
                 fmt::format("at most {:#x}", memory.laneBytes)};
  return std::nullopt;
}

} // namespace

std::vector<mc::Access> localAccesses(const LocalMemory &memory, const OperandList &operands) {
  std::vector<mc::Access> accesses;
  for (const Operand &operand : operands.all())
    if (const std::optional<LaneBytes> bytes = laneBytesOf(memory, operand.view))
      accesses.push_back(
          {.first = bytes->first, .last = bytes->last, .isWrite = operand.isWritten});
  return accesses;
}

std::optional<Error> checkOperands(const LocalMemory &memory, const OperandList &operands,
                                   const std::string &where) {
  for (const Operand &operand : operands.all()) {
    const View &view = operand.view;
    if (view.address % view.bytes() != 0)
      return Error{where, fmt::format("{} at {:#x}", roleName(operand.role), view.address),
                   fmt::format("a multiple of {} bytes", view.bytes())};
    // Strides of 0 let a few bytes stand for any number of elements.
    constexpr int64_t kMostElements = int64_t{1} << 31;
    int64_t count = 1;
    for (int64_t extent : view.shape)
      if (__builtin_mul_overflow(count, extent, &count) || count > kMostElements)
        return Error{where,
                     fmt::format("{} [{}]", roleName(operand.role), fmt::join(view.shape, ",")),
                     fmt::format("{} elements at most", kMostElements)};
    if (view.isLocal)
      if (std::optional<Error> error = checkLanes(memory, operand, where))
        return error;
  }
  return std::nullopt;
}

} // namespace tpuc::bm168x
