//===- DeployDiagnosis.cpp - Why a lowered network is not like the reference ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/DeployDiagnosis.h"
#include "tpuc/Conversion/TopToTpu/QuantizeTable.h"
#include "tpuc/Driver/Repair.h"
#include "tpuc/Support/Progress.h"

#include <nlohmann/json.hpp>

using namespace tpuc;

namespace {

/// How often layers are lowered in another precision to see whether that mends the network.
constexpr int kMaxCandidates = 32;
/// Of how many layers, those that add most error, the effect on the outputs is measured.
constexpr size_t kMaxEffects = 48;
/// How many of them are named.
constexpr size_t kNumWorst = 3;

/// Whether the network in float has the tensors that count as the reference has them.
Expected<bool> isOwnReference(const DiagnosisRequest &request) {
  ThreadPool threads(request.validation.numThreads);
  for (const ComparisonReport::Entry &entry : request.report.entries()) {
    if (!entry.counts || !request.floats.contains(entry.name))
      continue;
    Expected<Tensor> made = request.floats.read(entry.name);
    if (!made)
      return propagate(made);
    Expected<Tensor> expected = request.reference.read(entry.name);
    if (!expected)
      return propagate(expected);
    if (!compareTensors(*made, *expected, &threads).passes(request.validation.tolerance))
      return false;
  }
  return true;
}

/// The error by which layers are ranked before those without one; null if none was measured.
const TensorComparison *effectOf(const LayerError *layer) {
  return layer->effect && !layer->effect->isEqual ? &*layer->effect : nullptr;
}

bool mattersMore(const LayerError *a, const LayerError *b) {
  const TensorComparison *ofA = effectOf(a);
  const TensorComparison *ofB = effectOf(b);
  if (ofA && ofB)
    return isLessAlike(*ofA, *ofB);
  return ofA || (!ofB && isLessAlike(a->alone, b->alone));
}

/// The layers that are not in f32 and do not give what the reference has.
std::vector<LayerError *> inexactLayers(std::vector<LayerError> &layers) {
  std::vector<LayerError *> inexact;
  for (LayerError &layer : layers)
    if (layer.type != DataType::F32 && !layer.alone.isEqual)
      inexact.push_back(&layer);
  std::ranges::stable_sort(inexact, mattersMore);
  return inexact;
}

/// All layers, and the effects of those that add most.
Expected<std::vector<LayerError>> measureErrors(const DiagnosisRequest &request) {
  const unsigned numThreads = request.validation.numThreads;
  Expected<NpzWriter> writer = NpzWriter::create(request.scratch + ".alone.npz");
  if (!writer)
    return propagate(writer);
  Expected<std::vector<LayerError>> layers =
      measureLayers(request.lowered, request.inputs, request.validation.referenceNames,
                    request.floats, *writer, numThreads);
  if (!layers)
    return layers;
  Expected<OutputFile> file = writer->finish();
  if (!file)
    return propagate(file);
  Expected<NpzReader> alone = NpzReader::open(file->temporaryPath());
  if (!alone)
    return propagate(alone);
  std::vector<LayerError *> inexact = inexactLayers(*layers);
  inexact.resize(std::min(inexact.size(), kMaxEffects));
  if (Expected<void> measured =
          measureEffects(request.top, request.inputs, inexact, *alone, request.floats, numThreads);
      !measured)
    return propagate(measured);
  return layers;
}

void nameOrigin(const DiagnosisRequest &request, std::span<const LayerError> layers,
                DeployDiagnosis &diagnosis) {
  const LayerError *origin = findOrigin(layers, request.validation.tolerance);
  if (!origin)
    return;
  diagnosis.origin = *origin;
  for (size_t index : origin->inputs) {
    const TensorComparison &input = layers[index].whole;
    if (!diagnosis.originInput || isLessAlike(input, *diagnosis.originInput))
      diagnosis.originInput = input;
  }
}

/// The floats that hold more than `scheme`, those first that cost least.
std::vector<QuantScheme> preciserSchemes(const TargetInfo &target, const QuantScheme &scheme) {
  std::vector<QuantScheme> found;
  for (const QuantScheme &candidate : {schemes::kF16, schemes::kBF16, schemes::kF32})
    if (hasScheme(target, candidate) && candidate != scheme &&
        (scheme.isQuantized() || candidate == schemes::kF32))
      found.push_back(candidate);
  return found;
}

/// Whether the outputs of `network` pass; one that could not be lowered does not.
Expected<bool> passes(const DiagnosisRequest &request, const Expected<Network> &network) {
  if (!network)
    return false;
  ValidationOptions comparison = request.validation;
  comparison.referenceNames = referenceNames(*network->module, request.top);
  comparison.countingOnly = true;
  ComparisonReport report(comparison.tolerance);
  if (Expected<void> compared =
          validate(*network->module, request.inputs, request.reference, comparison, report);
      !compared)
    return propagate(compared);
  return report.passes();
}

Expected<void> findRepairLayers(const DiagnosisRequest &request,
                                std::span<const std::string> ranked, DeployDiagnosis &diagnosis) {
  Progress progress("Looking for layers that mend it", 0);
  for (const QuantScheme &scheme : preciserSchemes(request.target, request.scheme)) {
    const RepairCandidate candidate = [&](std::span<const std::string> layers) {
      progress.advance();
      // A scheme that a layer cannot be lowered in mends nothing.
      return passes(request, request.lowerWith(layers, scheme));
    };
    Expected<std::vector<std::string>> found = findRepair(ranked, candidate, kMaxCandidates);
    if (!found)
      return propagate(found);
    diagnosis.repair = std::move(*found);
    diagnosis.repairMode = scheme;
    if (!diagnosis.repair.empty())
      return {};
  }
  return {};
}

/// Layers that are exact by themselves, inputs and outputs change with the whole network only.
Expected<void> findWholeNetwork(const DiagnosisRequest &request, DeployDiagnosis &diagnosis) {
  for (const QuantScheme &scheme : preciserSchemes(request.target, request.scheme)) {
    Expected<bool> passed = passes(request, request.lowerAll(scheme));
    if (!passed)
      return propagate(passed);
    if (!*passed)
      continue;
    diagnosis.wholeNetwork = scheme;
    return {};
  }
  return {};
}

nlohmann::ordered_json toJson(const TensorComparison &comparison) {
  return {{"cosine", comparison.cosine}, {"euclid", comparison.euclid}};
}

nlohmann::ordered_json toJson(const LayerError &layer) {
  nlohmann::ordered_json json = {{"name", layer.name},
                                 {"op", layer.op},
                                 {"type", dataTypeName(layer.type)},
                                 {"whole", toJson(layer.whole)},
                                 {"alone", toJson(layer.alone)}};
  if (layer.effect)
    json["effect"] = toJson(*layer.effect);
  return json;
}

} // namespace

Expected<DeployDiagnosis> tpuc::diagnose(const DiagnosisRequest &request) {
  DeployDiagnosis diagnosis;
  Expected<bool> isOwn = isOwnReference(request);
  if (!isOwn)
    return propagate(isOwn);
  diagnosis.isForeignReference = !*isOwn;
  if (diagnosis.isForeignReference)
    return diagnosis;
  Expected<std::vector<LayerError>> layers = measureErrors(request);
  if (!layers)
    return propagate(layers);
  nameOrigin(request, *layers, diagnosis);
  std::vector<std::string> names;
  for (const LayerError *layer : inexactLayers(*layers)) {
    if (names.size() < kNumWorst && effectOf(layer))
      diagnosis.worstEffects.push_back(*layer);
    names.push_back(layer->name);
  }
  diagnosis.numCandidates = std::ssize(names);
  if (Expected<void> found = findRepairLayers(request, names, diagnosis); !found)
    return propagate(found);
  if (diagnosis.repair.empty())
    if (Expected<void> found = findWholeNetwork(request, diagnosis); !found)
      return propagate(found);
  std::ranges::sort(diagnosis.repair, {}, [&](const std::string &name) {
    return std::ranges::find(*layers, name, &LayerError::name) - layers->begin();
  });
  return diagnosis;
}

std::vector<std::string> DeployDiagnosis::repairLines() const {
  std::vector<std::string> lines;
  lines.reserve(repair.size());
  for (const std::string &layer : repair)
    lines.push_back(quantizeTableLine(layer, repairMode));
  return lines;
}

nlohmann::ordered_json DeployDiagnosis::toJson() const {
  nlohmann::ordered_json json = {{"foreign_reference", isForeignReference},
                                 {"origin", origin ? ::toJson(*origin) : nlohmann::ordered_json()},
                                 {"worst_effects", nlohmann::ordered_json::array()},
                                 {"candidates", numCandidates},
                                 {"quantize_table", repairLines()}};
  if (wholeNetwork)
    json["whole_network"] = schemeName(*wholeNetwork);
  if (originInput)
    json["origin"]["input"] = ::toJson(*originInput);
  for (const LayerError &layer : worstEffects)
    json["worst_effects"].push_back(::toJson(layer));
  return json;
}
