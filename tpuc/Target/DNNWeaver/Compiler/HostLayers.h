//===- HostLayers.h - Layers that the host computes -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_DNNWEAVER_COMPILER_HOSTLAYERS_H
#define TPUC_TARGET_DNNWEAVER_COMPILER_HOSTLAYERS_H

#include "tpuc/Model/CpuProgram/CpuProgram.h"
#include "tpuc/Target/DNNWeaver/Compiler/Layers.h"

namespace tpuc::dnnweaver {

/// The program of one layer: integers of dense tensors become real numbers, the op computes in
/// float, and its result becomes integers, ties to even.
class HostProgramMaker {
public:
  /// `type` is that of stored maps.
  HostProgramMaker(const Node &node, DataType type, ConstantSpace &constants)
      : node(node), type(type), constants(constants) {}

  /// The next of the node's inputs, and where its integers lie.
  void addInput(const FeatureMap &map, const Scale &scale, uint64_t address);
  /// The program whose result goes to `address`.
  cpu::Program make(const FeatureMap &map, const Scale &scale, uint64_t address);

private:
  struct Input {
    std::string name;
    Scale scale;
    uint64_t address;
  };
  int32_t addValue(std::string name, DataType valueType, std::vector<int64_t> dims, cpu::Home home,
                   uint64_t address);
  int32_t addConstant(const std::string &name, const Tensor &tensor);
  /// Both operands that tell what integers mean.
  std::vector<int32_t> addScale(const std::string &name, const Scale &scale);
  void addOp(std::string op, std::vector<int32_t> operands, int32_t result,
             std::vector<std::pair<std::string, ops::Attribute>> attributes);
  int32_t addOperand(const HostLayer::Operand &operand);

  const Node &node;
  DataType type;
  ConstantSpace &constants;
  std::vector<Input> inputs;
  cpu::Program program;
};

} // namespace tpuc::dnnweaver

#endif // TPUC_TARGET_DNNWEAVER_COMPILER_HOSTLAYERS_H
