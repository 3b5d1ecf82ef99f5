//===- Frontend.cpp - What reads the models of one format -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Frontend.h"

using namespace tpuc;

SourceModel::~SourceModel() = default;
Frontend::~Frontend() = default;

std::vector<std::string> SourceModel::otherFiles() const { return {}; }
std::vector<std::string> SourceModel::notes() const { return {}; }

Expected<std::vector<OutputFile>> SourceModel::writeOptimized(const std::string &,
                                                              const ImportOptions &,
                                                              const ConstantLookup &) const {
  return std::vector<OutputFile>();
}

std::string_view SourceModel::referenceName() const { return "a reference runtime"; }

Expected<OutputFile> SourceModel::reference(const ReferenceRequest &request) const {
  return makeError(request.model, "its format has no reference runtime");
}

Expected<void> tpuc::checkWeights(const SourceFormat &format, const std::string &option,
                                  const std::string &weights) {
  if (weights.empty() || !format.weights.empty())
    return {};
  return makeError(option, "'" + weights + "' is of no use for " + std::string(format.description),
                   "none: the model holds its weights");
}

Expected<void> tpuc::checkHybrid(const SourceFormat &format, bool asked) {
  if (!asked || format.hasHybrid)
    return {};
  return makeError("--hybrid", "is of no use for " + std::string(format.description),
                   "a format with weights of integers beside floats");
}
