//===- Network.h - Networks of convolutions, pools and joined channels -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_DNNWEAVER_COMPILER_NETWORK_H
#define TPUC_TARGET_DNNWEAVER_COMPILER_NETWORK_H

#include "tpuc/Interpreter/Ops/Attribute.h"
#include "tpuc/Target/DNNWeaver/Mapping/Layer.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tpuc::dnnweaver {

/// A feature map of one image, and the range of its values.
struct FeatureMap {
  std::string name;
  unsigned channels = 0;
  unsigned height = 0;
  unsigned width = 0;
  double least = 0;
  double most = 0;
  /// As callers see it where it enters or leaves the network; empty: [1, channels, height, width].
  std::vector<uint64_t> shape = {};
};

/// Rows and columns around an image.
struct Pads {
  unsigned top = 0, left = 0, bottom = 0, right = 0;
  bool any() const { return top + left + bottom + right > 0; }
  friend bool operator==(const Pads &, const Pads &) = default;
};

/// A layer that the host computes in float: an op of Interpreter/Ops.
struct HostLayer {
  std::string op;
  std::vector<std::pair<std::string, ops::Attribute>> attributes;
  /// One of the node's inputs in the shape that the op sees, a constant, or what is left out.
  struct Operand {
    std::optional<unsigned> input = std::nullopt;
    std::vector<int64_t> dims = {};
    std::optional<Tensor> constant = std::nullopt;
  };
  std::vector<Operand> operands;
};

/// What a concatenation joins.
enum class Axis : uint8_t { Channels, Rows, Columns };

struct Node {
  enum class Kind : uint8_t {
    Conv,
    Activation, ///< max(x, slope * x) with a slope of 0 to 1, and at most `limit`.
    MaxPool,
    Upsample, ///< Each pixel becomes 2 x 2.
    Concat,   ///< Along `axis`.
    Slice,    ///< Channels from `first`, rows from `top` and columns from `left` on.
    Copy,
    Host ///< See `HostLayer`.
  };
  Kind kind = Kind::Conv;
  std::string name;
  /// Numbers of maps.
  std::vector<unsigned> inputs;
  unsigned output = 0;
  /// Of a convolution or pool.
  Extent kernel = {};
  Extent stride = {};
  Pads pads = {};
  /// [kernels][channels][rows][columns], and one number for each kernel.
  std::vector<float> weights;
  std::vector<float> bias;
  double slope = 0;
  std::optional<double> limit = std::nullopt;
  unsigned first = 0, top = 0, left = 0;
  Axis axis = Axis::Channels;
  std::optional<HostLayer> host = std::nullopt;
};

/// Nodes stand in the order of their execution.
struct Network {
  std::string name;
  std::vector<FeatureMap> maps;
  std::vector<Node> nodes;
  /// Numbers of maps.
  std::vector<unsigned> inputs, outputs;

  /// The nodes that read a map, in their order.
  std::vector<const Node *> readersOf(unsigned map) const;
  /// The node that makes a map; null for inputs.
  const Node *makerOf(unsigned map) const;
  bool isOutput(unsigned map) const;
  /// Adds a map like `map` under another name.
  unsigned addLike(unsigned map, std::string mapName);
};

/// What the compiler may do, each to be left out by its name.
enum class Rewrite : uint8_t {
  FusePools,       ///< Pools and up-sampling in the pass of their convolution.
  ExchangeConcats, ///< Pools, up-sampling and activations in front of a concatenation.
  ShareRegions,    ///< Parts of a concatenation are written where it lies.
  JoinBranches,    ///< Convolutions of one map become one.
  PackInput,       ///< Columns of kernels over few channels become channels.
  FuseCopies,      ///< A pass stores a map and its pool, or a map twice.
  SearchLoops,     ///< The fastest tiles and loops, not those of the patent's example.
  HostLayers,      ///< The host computes what the array cannot.
  PairKernels      ///< Two kernels share int8 multipliers where two rows take longer.
};
inline constexpr std::array<std::string_view, 9> kRewriteNames = {
    "fuse-pools",  "exchange-concats", "share-regions", "join-branches", "pack-input",
    "fuse-copies", "search-loops",     "host-layers",   "pair-kernels"};

struct Rewrites {
  std::set<Rewrite> leftOut;
  bool has(Rewrite rewrite) const { return !leftOut.contains(rewrite); }
};

/// Moves pools, up-sampling and activations that are alone behind a concatenation in front of it.
void exchangeConcats(Network &network);

/// Convolutions by the maps that they make.
using Branches = std::vector<std::vector<unsigned>>;

/// Convolutions of one map that may become one: the same stride and window around their middle, the
/// same activation behind, and no reader that wants another place.
Branches branches(const Network &network);

/// Makes one convolution of a branch, and slices of its result.
void joinBranch(Network &network, const std::vector<unsigned> &branch);

/// A map that the host makes of an input: for each place of a window its channels follow each
/// other, [row][column][channel]. A window over columns alone leaves rows as they are.
struct PackedInput {
  unsigned from = 0, to = 0;
  Extent window = {};
  Extent stride = {};
  Pads pads = {};
};

/// Packs inputs that one convolution reads and whose windows have at most `rows` elements, or at
/// most that in one row.
std::vector<PackedInput> packInputs(Network &network, unsigned rows);

/// Gives each part of a concatenation a map that nothing else wants to place elsewhere, by copies.
/// Without sharing every part becomes a copy.
void addCopies(Network &network, const Rewrites &rewrites);

/// Whether other rows or columns of a region lie beside a map: parts of concatenations along them,
/// slices of some of them, and channels of such maps.
bool hasNeighbours(const Network &network, unsigned map);

/// Puts a copy in front of windows with pads that read a map with neighbours, which has no halo.
void addHalos(Network &network);

} // namespace tpuc::dnnweaver

#endif // TPUC_TARGET_DNNWEAVER_COMPILER_NETWORK_H
