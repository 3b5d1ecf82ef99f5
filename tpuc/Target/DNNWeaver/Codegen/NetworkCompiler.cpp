//===- NetworkCompiler.cpp - Whole networks for the array -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/NetworkCompiler.h"
#include "tpuc/Support/DataType.h"
#include "tpuc/Target/DNNWeaver/Codegen/Import.h"
#include "tpuc/Target/DNNWeaver/Compiler/Compile.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::DNNWeaver {

std::unique_ptr<codegen::NetworkCompiler> createNetworkCompiler(const TargetInfo &target);

namespace {

using namespace dnnweaver;

/// The sets of parameters, by the names of the chips.
struct Machine {
  std::string_view chip, set;
};
constexpr Machine kMachines[] = {{"dnnweaver", "patent"}, {"dnnweaver_v2", "public"}};

Expected<Rewrites> rewritesWithout(std::span<const std::string> names) {
  Rewrites rewrites;
  for (const std::string &name : names) {
    const auto found = std::ranges::find(kRewriteNames, name);
    if (found == kRewriteNames.end())
      return makeError("--without", fmt::format("'{}'", name),
                       fmt::format("some of {}", fmt::join(kRewriteNames, ", ")));
    rewrites.leftOut.insert(static_cast<Rewrite>(found - kRewriteNames.begin()));
  }
  return rewrites;
}

class Compiler : public codegen::NetworkCompiler {
public:
  Compiler(const TargetInfo &target, const Machine &machine) : target(target), machine(machine) {}
  SchemeSet schemes() const override { return target.schemes; }
  Expected<codegen::NetworkResult> compile(const codegen::NetworkRequest &request) const override;

private:
  const TargetInfo &target;
  const Machine &machine;
};

Expected<codegen::NetworkResult> Compiler::compile(const codegen::NetworkRequest &request) const {
  Expected<Parameters> parameters = parametersNamed(machine.set, "");
  Expected<Rewrites> rewrites = rewritesWithout(request.without);
  if (!parameters || !rewrites)
    return parameters ? propagate(rewrites) : propagate(parameters);
  Expected<Network> network =
      importNetwork(request.top, request.ranges, rewrites->has(Rewrite::HostLayers));
  if (!network)
    return propagate(network);
  CompileOptions options;
  options.machine = *parameters;
  if (request.array) {
    Expected<Parameters> sized =
        withArray(*parameters, request.array->first, request.array->second, "--array");
    if (!sized)
      return propagate(sized);
    options.machine = *sized;
  }
  options.rewrites = std::move(*rewrites);
  options.kind = {.bits = bitWidth(request.scheme.activation),
                  .zeroPoints = request.scheme.zeroPoint};
  Expected<CompiledNetwork> made = compileNetwork(std::move(*network), options);
  if (!made)
    return propagate(made);
  return codegen::NetworkResult{std::move(made->model), std::move(made->notes)};
}

} // namespace

std::unique_ptr<codegen::NetworkCompiler> createNetworkCompiler(const TargetInfo &target) {
  for (const Machine &machine : kMachines)
    if (machine.chip == target.name)
      return std::make_unique<Compiler>(target, machine);
  return nullptr;
}

} // namespace tpuc::DNNWeaver
