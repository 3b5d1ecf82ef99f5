//===- CpuProgram.h - What a CPU sub-network computes -----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layers that a chip has no kernel for, as a list of the ops of Interpreter/Ops over numbered
// values. The code generator makes it, model files hold it, the runtime runs it.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_MODEL_CPUPROGRAM_CPUPROGRAM_H
#define TPUC_MODEL_CPUPROGRAM_CPUPROGRAM_H

#include "tpuc/Interpreter/Ops/Attribute.h"
#include "tpuc/Support/Error.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tpuc::cpu {

/// Where a value is.
enum class Home : uint8_t {
  Host,   ///< Between ops of the program only.
  Device, ///< In the memory of the activations, at a device address.
  Weight, ///< In the coefficients, at a device address.
  Result, ///< Given to the caller, as the output of the network of the number `Value::address`.
};

/// A tensor that ops read or make.
struct Value {
  std::string name;
  DataType type = DataType::F32;
  /// -1 for extents that only the data show: of values on the host, and of results.
  std::vector<int64_t> dims;
  Home home = Home::Host;
  uint64_t address = 0;
};

struct Op {
  /// As `ops::findEvaluator` knows it.
  std::string name;
  /// The layer that it computes, or a part of.
  std::string layer;
  std::vector<std::pair<std::string, ops::Attribute>> attributes;
  /// Indices into `Program::values`; -1 for operands that are left out and results that nobody
  /// wants.
  std::vector<int32_t> operands, results;
};

/// Each value is made by one op at most; those that none makes are there before. What an op makes
/// on the device is written when it has run.
struct Program {
  std::vector<Value> values;
  std::vector<Op> ops;
};

/// The names of the layers, each once, in the order in which they are computed.
std::vector<std::string> layersOf(const Program &program);

/// The program as model files hold it. The same input gives the same bytes.
std::vector<std::byte> encodeProgram(const Program &program);

/// The reverse. Errors name `where`: bytes that are no program, or that name values that do not
/// exist, are read before they are made, or are made twice.
Expected<Program> parseProgram(std::span<const std::byte> bytes, const std::string &where);

} // namespace tpuc::cpu

#endif // TPUC_MODEL_CPUPROGRAM_CPUPROGRAM_H
