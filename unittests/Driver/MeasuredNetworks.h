//===- MeasuredNetworks.h - What networks would take -------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_DRIVER_MEASUREDNETWORKS_H
#define UNITTESTS_DRIVER_MEASUREDNETWORKS_H

#include "tpuc/Driver/FasterLayers.h"

namespace tpuc {

/// A network of so many cycles by the vendor's and by the conservative parameters.
inline MeasuredNetwork taking(int64_t cycles, int64_t conservative = 200, int64_t hostLayers = 0) {
  MeasuredNetwork network;
  network.file.cycles = cycles;
  network.file.conservativeCycles = conservative;
  network.hostLayers = hostLayers;
  return network;
}

} // namespace tpuc

#endif // UNITTESTS_DRIVER_MEASUREDNETWORKS_H
