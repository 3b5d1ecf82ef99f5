//===- CpuLayers.h - Our own layers in CPU sub-nets --------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_MODEL_BMODEL_CPULAYERS_H
#define TPUC_MODEL_BMODEL_CPULAYERS_H

#include "tpuc/Model/Bmodel/Bmodel.h"
#include "tpuc/Model/CpuProgram/CpuProgram.h"

namespace tpuc::bmodel {

/// The layer that stands for the program that `bytes` (`cpu::encodeProgram`) hold. They must stay
/// where they are. The only error is a libcrypto that cannot make the SHA-256; it names `where`.
Expected<CpuLayer> cpuProgramLayer(Bytes bytes, const std::string &where);

/// The programs of a CPU sub-net, in order. Errors name `where`: layers of the vendor's, and bytes
/// that are damaged.
Expected<std::vector<cpu::Program>> cpuPrograms(const SubNet &subNet, const std::string &where);

} // namespace tpuc::bmodel

#endif // TPUC_MODEL_BMODEL_CPULAYERS_H
