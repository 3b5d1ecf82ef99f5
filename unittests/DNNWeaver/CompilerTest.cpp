//===- CompilerTest.cpp - Whole networks against plain loops --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NetworkBuilder.h"
#include "NetworkReference.h"
#include "runtime/Session.h"
#include "tpuc/Model/Container.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Target/DNNWeaver/Compiler/Compile.h"
#include "tpuc/Target/Registry.h"
#include "unittests/Support/TempFolder.h"

#include <gtest/gtest.h>

using namespace tpuc;
using namespace tpuc::dnnweaver;

namespace {

/// YOLOv2-tiny, smaller: chains, an odd height, and a pool of stride 1 over a padded image.
Network chain() {
  NetworkBuilder b(1);
  unsigned x = b.input(3, 44, 36);
  for (const unsigned kernels : {16U, 20U})
    x = b.pool(b.same(x, kernels), 2, 2);
  x = b.pool(b.same(x, 40), 2, 1, {0, 0, 1, 1});
  x = b.same(x, 33);
  return b.take({b.conv(x, 21, {1, 1}, {1, 1}, {})});
}

/// A block and the heads of YOLOv4-tiny: a split, nested concatenations with a pool behind, and
/// up-sampling.
Network partial() {
  NetworkBuilder b(2);
  unsigned x = b.input(3, 28, 40);
  x = b.leaky(b.conv(x, 32, {3, 3}, {2, 2}, {1, 1, 1, 1}));
  const unsigned route = b.same(x, 32);
  const unsigned first = b.same(b.slice(route, 16, 16), 16);
  const unsigned second = b.same(first, 16);
  const unsigned mixed = b.same(b.concat({second, first}), 32, 1);
  x = b.pool(b.concat({route, mixed}), 2, 2);
  x = b.same(x, 24);
  const unsigned head = b.conv(x, 18, {1, 1}, {1, 1}, {});
  const unsigned up = b.upsample(b.same(x, 16, 1));
  return b.take(
      {head, b.conv(b.same(b.concat({up, b.slice(mixed, 0, 12)}), 24), 9, {1, 1}, {1, 1}, {})});
}

/// A dense block: each layer reads all before it.
Network dense() {
  NetworkBuilder b(3);
  const unsigned x = b.same(b.input(5, 13, 11), 20);
  const unsigned a = b.same(x, 12);
  const unsigned c = b.same(b.concat({x, a}), 12);
  const unsigned d = b.same(b.concat({x, a, c}), 12);
  const unsigned all = b.concat({x, a, c, d});
  return b.take({b.pool(b.leaky(b.conv(all, 30, {1, 1}, {1, 1}, {}), 0), 2, 2), all});
}

/// Convolutions of one map with equal and with other windows, and an inner product.
Network branched() {
  NetworkBuilder b(4);
  const unsigned x = b.same(b.input(8, 9, 10), 16);
  const unsigned y = b.same(x, 16), z = b.same(x, 24), point = b.same(x, 16, 1);
  const unsigned p = b.conv(y, 8, {1, 1}, {1, 1}, {});
  const unsigned q = b.conv(z, 8, {3, 3}, {2, 2}, {1, 1, 1, 1});
  const unsigned r = b.conv(point, 8, {3, 1}, {1, 1}, {1, 0, 1, 0});
  return b.take({p, r, b.conv(b.leaky(q), 10, {5, 5}, {1, 1}, {})});
}

/// Maps of fewer pixels than a set of weights takes cycles to arrive: pools, also of maps that
/// others read, up-sampling, and an inner product.
Network small() {
  NetworkBuilder b(7);
  const unsigned x = b.same(b.input(9, 7, 6), 20);
  const unsigned y = b.pool(b.leaky(x, 0, 0.9), 2, 2);
  const unsigned z = b.leaky(b.conv(y, 18, {3, 3}, {1, 1}, {1, 1, 1, 1}), 0.05, 0.7);
  const unsigned up = b.upsample(z);
  const unsigned last = b.pool(b.same(b.concat({up, b.same(up, 5)}), 17), 3, 3);
  return b.take({b.leaky(b.conv(last, 11, {2, 2}, {1, 1}, {})), b.pool(z, 2, 1, {1, 0, 0, 1}),
                 b.pool(b.same(z, 8), 3, 1), x});
}

/// Parts beside and above each other, and parts of rows and columns: read with a halo and without,
/// pooled, and joined again along the channels.
Network mosaic() {
  NetworkBuilder b(10);
  const unsigned x = b.same(b.input(6, 12, 10), 18);
  const unsigned upper = b.crop(x, 0, 0, 5, 10), lower = b.crop(x, 5, 2, 7, 8);
  const unsigned a = b.same(upper, 20), c = b.same(upper, 20, 1);
  const unsigned stacked = b.concat({a, c, b.same(a, 20)}, Axis::Rows);
  const unsigned beside =
      b.concat({b.same(lower, 7, 1), b.pool(lower, 3, 1, {1, 1, 1, 1})}, Axis::Channels);
  const unsigned both =
      b.concat({beside, b.same(b.crop(stacked, 4, 1, 7, 3), 25, 1)}, Axis::Columns);
  return b.take(
      {b.pool(b.same(stacked, 9), 2, 2), c, b.same(b.slice(a, 3, 10), 5), both, b.same(both, 6)});
}

/// Compiles, writes a file, reads it again and runs it; every map that the file names.
std::map<std::string, std::vector<int32_t>> simulate(const Network &network,
                                                     const CompileOptions &options,
                                                     const NetworkReference &reference,
                                                     size_t *numGroups = nullptr) {
  Expected<CompiledNetwork> made = compileNetwork(network, options);
  EXPECT_TRUE(made) << made.error().message();
  if (!made)
    return {};
  const model::Container *container = model::findContainer("tpum", model::containers());
  const TempFolder folder;
  const std::string path = folder.path("made.tpum");
  Expected<OutputFile> file = container->write(made->model, path);
  EXPECT_TRUE(file && file->finish() && file->commit());
  auto loaded = runtime::LoadedModel::load(path);
  EXPECT_TRUE(loaded) << loaded.error().message();
  if (!loaded)
    return {};
  auto session = runtime::Session::create(*loaded, {}, 1);
  EXPECT_TRUE(session) << session.error().message();
  const model::Stage &stage = (*session)->stage();
  if (numGroups)
    *numGroups = stage.subNets.front().groups.size();
  for (size_t i = 0; i < stage.inputs.size(); ++i) {
    const std::vector<std::byte> bytes = reference.bytesOf(stage.inputs[i].name);
    const Expected<void> set = (*session)->setInputBytes(i, bytes);
    EXPECT_TRUE(set) << set.error().message();
  }
  const Expected<void> run = (*session)->run();
  EXPECT_TRUE(run) << run.error().message();
  std::map<std::string, std::vector<int32_t>> results;
  const auto keep = [&](const model::TensorInfo &info) {
    const Expected<Tensor> tensor = (*session)->read(info);
    ASSERT_TRUE(tensor) << tensor.error().message();
    const Tensor wide = convert(*tensor, DataType::I32);
    results[info.name].assign(wide.data<int32_t>().begin(), wide.data<int32_t>().end());
  };
  for (const model::TensorInfo &info : stage.outputs)
    keep(info);
  for (const model::InnerTensor &inner : stage.innerTensors)
    keep(inner.tensor);
  return results;
}

void expectEqual(const Network &network, const CompileOptions &options,
                 const NetworkReference &reference, const std::string &what) {
  size_t numCompared = 0;
  for (const auto &[name, values] : simulate(network, options, reference)) {
    // Maps that rewrites have made are not of the network.
    const std::vector<int32_t> *wanted = reference.find(name);
    if (!wanted)
      continue;
    ++numCompared;
    ASSERT_EQ(*wanted, values) << what << ": map " << name;
  }
  EXPECT_GE(numCompared, network.outputs.size()) << what;
}

struct NamedNetwork {
  const char *name;
  Network (*make)();
};
constexpr NamedNetwork kNetworks[] = {{"chain", chain}, {"partial", partial},
                                      {"dense", dense}, {"branched", branched},
                                      {"small", small}, {"mosaic", mosaic}};

constexpr IntegerKind kIntegerKinds[] = {{8, false}, {8, true}, {16, false}, {16, true}};

CompileOptions patentOptions(const IntegerKind &kind, unsigned rows = 16, unsigned columns = 16) {
  return {.machine = *withArray(*parametersNamed("patent", ""), rows, columns, ""),
          .kind = kind,
          .rewrites = {}};
}

TEST(DNNWeaverCompiler, FourKindsAreThePlainLoops) {
  for (const NamedNetwork &each : kNetworks)
    for (const IntegerKind &kind : kIntegerKinds) {
      const Network network = each.make();
      const NetworkReference reference(network, kind, NetworkReference::Machine::Patent);
      expectEqual(network, patentOptions(kind), reference,
                  std::string(each.name) + (kind.zeroPoints ? " asymmetric " : " symmetric ") +
                      std::to_string(kind.bits));
    }
}

TEST(DNNWeaverCompiler, RewritesChangeNoInteger) {
  for (const NamedNetwork &each : kNetworks) {
    const Network network = each.make();
    const IntegerKind kind = kIntegerKinds[1];
    const NetworkReference reference(network, kind, NetworkReference::Machine::Patent);
    CompileOptions none = patentOptions(kind);
    for (size_t i = 0; i < kRewriteNames.size(); ++i) {
      CompileOptions options = patentOptions(kind);
      options.rewrites.leftOut = {static_cast<Rewrite>(i)};
      none.rewrites.leftOut.insert(static_cast<Rewrite>(i));
      expectEqual(network, options, reference,
                  std::string(each.name) + " without " + std::string(kRewriteNames[i]));
    }
    expectEqual(network, none, reference, std::string(each.name) + " without any");
  }
}

/// A map that a pool and others read is stored by the pass of its pool, and one that lies in two
/// places by the pass that makes it.
TEST(DNNWeaverCompiler, PassesStoreTwoMaps) {
  for (const auto &[network, saved] : {std::pair(partial(), 2u), {dense(), 3u}}) {
    CompileOptions options = patentOptions({8, true});
    const Expected<CompiledNetwork> with = compileNetwork(network, options);
    options.rewrites.leftOut = {Rewrite::FuseCopies};
    const Expected<CompiledNetwork> without = compileNetwork(network, options);
    ASSERT_TRUE(with && without);
    EXPECT_EQ(with->passes.size() + saved, without->passes.size());
  }
}

/// Of 13 rows one would be computed twice.
TEST(DNNWeaverCompiler, KernelsShareMultipliersWhereRowsTakeLonger) {
  NetworkBuilder b(11);
  const Network network = b.take({b.same(b.input(192, 13, 13), 64)});
  CompileOptions options = patentOptions({8, true});
  const Expected<CompiledNetwork> with = compileNetwork(network, options);
  options.rewrites.leftOut = {Rewrite::PairKernels};
  const Expected<CompiledNetwork> without = compileNetwork(network, options);
  ASSERT_TRUE(with && without);
  EXPECT_LT(with->passes.front().cycles * 100, without->passes.front().cycles * 96);
  const NetworkReference reference(network, options.kind, NetworkReference::Machine::Patent);
  expectEqual(network, patentOptions(options.kind), reference, "kernels");
  expectEqual(network, options, reference, "rows");
}

TEST(DNNWeaverCompiler, OtherArrays) {
  const Network network = partial();
  const NetworkReference reference(network, kIntegerKinds[1], NetworkReference::Machine::Patent);
  expectEqual(network, patentOptions(kIntegerKinds[1], 32, 16), reference, "32 x 16");
  expectEqual(network, patentOptions(kIntegerKinds[1], 16, 32), reference, "16 x 32");
  expectEqual(network, patentOptions(kIntegerKinds[1], 32, 32), reference, "32 x 32");
}

TEST(DNNWeaverCompiler, ThePublicMachine) {
  const Parameters machine = *withArray(*parametersNamed("public", ""), 16, 16, "");
  for (const NamedNetwork &each : {kNetworks[0], kNetworks[2], kNetworks[3]}) {
    const Network network = each.make();
    const NetworkReference reference(network, {16, false}, NetworkReference::Machine::Public);
    expectEqual(network, {.machine = machine, .kind = {16, false}, .rewrites = {}}, reference,
                each.name);
  }
}

TEST(DNNWeaverCompiler, ThePublicMachineHasNoUpsampling) {
  const Parameters machine = *parametersNamed("public", "");
  const Expected<CompiledNetwork> made =
      compileNetwork(partial(), {.machine = machine, .kind = {16, false}, .rewrites = {}});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message(),
            "m20: up-sampling on the public machine; expected the patent's, which has it");
}

TEST(DNNWeaverCompiler, LongNetworksBecomeSeveralPrograms) {
  NetworkBuilder b(5);
  unsigned x = b.input(16, 8, 8);
  for (unsigned i = 0; i < 60; ++i)
    x = b.same(x, 16);
  const Network network = b.take({x});
  const NetworkReference reference(network, {8, true}, NetworkReference::Machine::Patent);
  size_t numGroups = 0;
  const auto results = simulate(network, patentOptions({8, true}), reference, &numGroups);
  // Beside the two of the host.
  EXPECT_GT(numGroups, 3u);
  ASSERT_TRUE(reference.find(network.maps[x].name));
  EXPECT_EQ(results.at(network.maps[x].name), *reference.find(network.maps[x].name));
}

TEST(DNNWeaverCompiler, LayersThatFitInNoTileAreNamed) {
  NetworkBuilder b(6);
  const unsigned x = b.input(40, 40, 40);
  const Network network = b.take({b.conv(x, 8, {9, 9}, {1, 1}, {4, 4, 4, 4})});
  const Expected<CompiledNetwork> made = compileNetwork(network, patentOptions({8, false}, 32, 32));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message(),
            "m1: 82944 bytes of the weight buffer for the smallest tile; expected at most 32768");
}

/// Weights of one sign times a zero point leave 32 bits, so the input does without.
TEST(DNNWeaverCompiler, ZeroPointsThatPushBiasesTooFarAreGivenUp) {
  NetworkBuilder b(8);
  const unsigned x = b.input(4, 9, 8);
  const unsigned y = b.same(b.leaky(x), 16);
  Network network = b.take({b.conv(y, 5, {1, 1}, {1, 1}, {})});
  for (Node &node : network.nodes)
    for (float &weight : node.weights)
      weight = std::abs(weight);
  const IntegerKind kind = {16, true};
  const Expected<CompiledNetwork> made = compileNetwork(network, patentOptions(kind));
  ASSERT_TRUE(made);
  ASSERT_FALSE(made->notes.empty());
  EXPECT_TRUE(made->notes.front().starts_with("'m3': the bias would be ")) << made->notes.front();
  EXPECT_TRUE(made->notes.front().ends_with(", more than 32 bits, so 'm1' has no zero point"));
  const NetworkReference reference(network, kind, NetworkReference::Machine::Patent);
  expectEqual(network, patentOptions(kind), reference, "without zero points");
}

/// A bias that is too large in any case makes the scale of its weights coarser.
TEST(DNNWeaverCompiler, LargeBiasesMakeWeightsCoarser) {
  NetworkBuilder b(9);
  Network network = b.take({b.same(b.input(4, 9, 8), 8)});
  for (Node &node : network.nodes)
    for (float &bias : node.bias)
      bias = 3000;
  for (const IntegerKind &kind : {IntegerKind{16, false}, {16, true}}) {
    const Expected<CompiledNetwork> made = compileNetwork(network, patentOptions(kind));
    ASSERT_TRUE(made);
    ASSERT_EQ(made->notes.size(), 1u);
    EXPECT_TRUE(made->notes.front().starts_with("'m2': a sum would be ")) << made->notes.front();
    const NetworkReference reference(network, kind, NetworkReference::Machine::Patent);
    expectEqual(network, patentOptions(kind), reference, "large biases");
  }
}

TEST(DNNWeaverCompiler, TablesOfChipsAreTheMachines) {
  for (const auto &[chip, set] : {std::pair("dnnweaver", "patent"), {"dnnweaver_v2", "public"}}) {
    const TargetInfo &target = **lookupTarget(chip);
    const Parameters machine = *parametersNamed(set, "");
    EXPECT_EQ(target.compute().clockHz, machine.megahertz * uint64_t{1000000});
    EXPECT_EQ(target.containerChip, kChipName);
    ASSERT_EQ(target.memory.spaces.size(), kNumBuffers);
    for (const MemorySpace &space : target.memory.spaces)
      for (unsigned i = 0; i < kNumBuffers; ++i)
        if (space.name == kBufferNames[i])
          EXPECT_EQ(uint64_t{space.lanes} * space.bytes,
                    machine.words[i] * machine.wordBytes(static_cast<Buffer>(i)))
              << chip << " " << space.name;
  }
}

TEST(DNNWeaverCompiler, TheSameBytes) {
  const auto bytes = [] {
    const Expected<CompiledNetwork> made = compileNetwork(partial(), patentOptions({8, true}));
    std::vector<std::byte> all;
    for (const model::CommandGroup &group : made->model.nets[0].stages[0].subNets[0].groups)
      for (const model::Stream &stream : group.streams)
        all.insert(all.end(), stream.code.begin(), stream.code.end());
    return all;
  };
  EXPECT_EQ(bytes(), bytes());
}

} // namespace
