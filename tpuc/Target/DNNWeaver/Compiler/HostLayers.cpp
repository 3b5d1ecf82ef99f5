//===- HostLayers.cpp - Layers that the host computes ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Compiler/HostLayers.h"

#include <algorithm>

namespace tpuc::dnnweaver {

void HostProgramMaker::addInput(const FeatureMap &map, const Scale &scale, uint64_t address) {
  inputs.push_back({map.name, scale, address});
}

int32_t HostProgramMaker::addValue(std::string name, DataType valueType, std::vector<int64_t> dims,
                                   cpu::Home home, uint64_t address) {
  program.values.push_back({.name = std::move(name),
                            .type = valueType,
                            .dims = std::move(dims),
                            .home = home,
                            .address = address});
  return static_cast<int32_t>(program.values.size() - 1);
}

int32_t HostProgramMaker::addConstant(const std::string &name, const Tensor &tensor) {
  const std::span<const std::byte> bytes = tensor.rawBytes();
  const uint64_t offset = constants.take(name, bytes.size());
  std::ranges::copy(bytes, constants.bytes.begin() + static_cast<ptrdiff_t>(offset));
  const auto dims = tensor.shape().dims();
  return addValue(name, tensor.type(), {dims.begin(), dims.end()}, cpu::Home::Weight,
                  constants.address + offset);
}

std::vector<int32_t> HostProgramMaker::addScale(const std::string &name, const Scale &scale) {
  Tensor real(DataType::F32, Shape{});
  real.mutableData<float>()[0] = static_cast<float>(scale.scale);
  Tensor zero(type, Shape{});
  if (type == DataType::I8)
    zero.mutableData<int8_t>()[0] = static_cast<int8_t>(scale.zeroPoint);
  else
    zero.mutableData<int16_t>()[0] = static_cast<int16_t>(scale.zeroPoint);
  return {addConstant(name + "/scale", real), addConstant(name + "/zero_point", zero)};
}

void HostProgramMaker::addOp(std::string op, std::vector<int32_t> operands, int32_t result,
                             std::vector<std::pair<std::string, ops::Attribute>> attributes) {
  program.ops.push_back({.name = std::move(op),
                         .layer = node.name,
                         .attributes = std::move(attributes),
                         .operands = std::move(operands),
                         .results = {result}});
}

namespace {

const std::pair<std::string, ops::Attribute> kAxis = {"axis", int64_t{0}};
const std::pair<std::string, ops::Attribute> kBlockSize = {"block_size", int64_t{0}};

} // namespace

int32_t HostProgramMaker::addOperand(const HostLayer::Operand &operand) {
  if (operand.constant)
    return addConstant(node.name + "/constant", *operand.constant);
  if (!operand.input)
    return -1;
  const Input &input = inputs[*operand.input];
  const int32_t stored = addValue(input.name, type, operand.dims, cpu::Home::Device, input.address);
  std::vector<int32_t> operands = addScale(node.name + "/" + input.name, input.scale);
  operands.insert(operands.begin(), stored);
  const int32_t real =
      addValue(input.name + "/float", DataType::F32, operand.dims, cpu::Home::Host, 0);
  addOp("DequantizeLinear", std::move(operands), real, {kAxis, kBlockSize});
  return real;
}

cpu::Program HostProgramMaker::make(const FeatureMap &map, const Scale &scale, uint64_t address) {
  std::vector<int64_t> dims(map.shape.begin(), map.shape.end());
  if (dims.empty())
    dims = {1, map.channels, map.height, map.width};
  std::vector<int32_t> operands;
  for (const HostLayer::Operand &operand : node.host->operands)
    operands.push_back(addOperand(operand));
  const int32_t real = addValue(map.name + "/float", DataType::F32, dims, cpu::Home::Host, 0);
  addOp(node.host->op, std::move(operands), real, node.host->attributes);
  const int32_t stored = addValue(map.name, type, dims, cpu::Home::Device, address);
  std::vector<int32_t> quantized = addScale(map.name, scale);
  quantized.insert(quantized.begin(), real);
  addOp("QuantizeLinear", std::move(quantized), stored, {kAxis, kBlockSize, {"saturate", true}});
  return std::move(program);
}

} // namespace tpuc::dnnweaver
