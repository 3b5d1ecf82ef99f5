//===- IntegerConvolver.cpp - A convolution of bytes with its filter packed --===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/IntegerConvolver.h"
#include "tpuc/Interpreter/Kernels/Extents.h"
#include "tpuc/Interpreter/Kernels/Parallel.h"

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

/// Words of a packed strip: with a tile's sums they stay in the second-level cache, a pointwise
/// one's in the first.
constexpr int64_t kStripWords = 1 << 16;
constexpr int64_t kPointwiseWords = 1 << 13;
/// Words of the positions that all output channels take one after the other.
constexpr int64_t kSpanWords = 1 << 12;
/// Lanes of the largest tile.
constexpr int64_t kTileLanes = 3 * kWordLanes;

/// How far the last tap along `axis` lies behind the first.
int64_t reach(const Geometry &g, size_t axis) { return (g.kernel[axis] - 1) * g.dilations[axis]; }

/// Output positions are input positions: all pixels make one row.
bool flatten(Geometry &g) {
  const std::array<int64_t, 3> ones = {1, 1, 1};
  const std::array<int64_t, 3> zeros = {0, 0, 0};
  if (g.kernel != ones || g.strides != ones || g.pads != zeros || g.small != g.large)
    return false;
  g.small = g.large = {1, 1, g.smallSize};
  return true;
}

} // namespace

std::vector<int32_t> kernels::foldZero(const Geometry &g, int64_t groups, const FilterView &filter,
                                       const Tensor *bias, int32_t zero) {
  const int64_t channels = g.largeChannels / groups;
  const int64_t rows = g.smallChannels / groups;
  std::vector<int32_t> offsets;
  for (int64_t channel = 0; channel < g.smallChannels; ++channel) {
    // Modulo 2^32, as the sums are.
    uint32_t sum = 0;
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t tap = 0; tap < g.kernelSize; ++tap)
        sum +=
            static_cast<uint32_t>(filter.at(channel / rows, channel % rows, c,
                                            {tap / (g.kernel[1] * g.kernel[2]),
                                             tap / g.kernel[2] % g.kernel[1], tap % g.kernel[2]}));
    const auto offset =
        static_cast<uint32_t>(bias ? bias->data<int32_t>()[static_cast<size_t>(channel)] : 0);
    offsets.push_back(static_cast<int32_t>(offset - static_cast<uint32_t>(zero) * sum));
  }
  return offsets;
}

/// Where the words of a strip lie: [units][rowPhases][columnPlanes][planeWords], a plane being
/// [stripRows + extraRows][pitch]. Position p of the strip's output is row p / pitch, column p %
/// pitch.
struct IntegerConvolver::Layout {
  int64_t stripRows, stripColumns, strips;
  int64_t parts, tilesPerPart; ///< The output channels are shared among so many pieces.
  int64_t extraRows, pitch, planeWords;
  int64_t span;                 ///< Positions that all output channels take one after the other.
  std::vector<int64_t> offsets; ///< Of each step.
};

struct IntegerConvolver::Strip {
  int64_t sample, group, depth;
  int64_t row, rows, column, columns;
  int64_t firstTile, lastTile;
};

/// The working memory of a thread.
struct IntegerConvolver::Workspace {
  Scratch<uint32_t> words;
  Scratch<int32_t> sums;
  Scratch<std::byte> results;
  Scratch<uint8_t> line, outside;
};

IntegerConvolver::IntegerConvolver(const Geometry &geometry, int64_t groups,
                                   const FilterView &filter, const Tensor *bias, DataType input,
                                   int32_t subtracted, int32_t outside, SimdLevel level)
    : g(geometry), simd(integerSimd(level)), flip(flipOf(input)),
      outsideByte(static_cast<uint8_t>(outside)), groups(groups),
      channels(g.largeChannels / groups), rows(g.smallChannels / groups), isPointwise(flatten(g)) {
  kind = level >= SimdLevel::Avx512Vnni && filter.type == DataType::I8 ? WordKind::UnsignedLanes
                                                                       : WordKind::Pairs;
  terms = termsOfWord(kind);
  const auto padding = static_cast<int32_t>(static_cast<uint8_t>(outsideByte ^ flip));
  outsideWord = wordOf(kind, {padding, padding, padding, padding});
  sources = channels * g.kernel[0];
  const int64_t tapWords = divideUp(g.kernel[2], terms);
  byTaps = sources * tapWords < divideUp(sources, terms) * g.kernel[2];
  units = byTaps ? sources : divideUp(sources, terms);
  rowPhases = std::min(g.strides[1], reach(g, 1) + 1);
  columnPlanes = byTaps ? tapWords : std::min(g.strides[2], reach(g, 2) + 1);
  steps = units * g.kernel[1] * (byTaps ? tapWords : g.kernel[2]);
  tiles = tileRows(rows, simd.maxRows);
  packFilter(filter);
  offsets = foldZero(geometry, groups, filter, bias, subtracted + flip);
}

void IntegerConvolver::packFilter(const FilterView &filter) {
  factors.resize(static_cast<size_t>(groups * rows * steps));
  uint32_t *to = factors.data();
  // Element `term` of the word of `unit`, tap (y, x); `x` counts words by taps.
  const auto element = [&](int64_t group, int64_t row, int64_t unit, int64_t y, int64_t x,
                           int64_t term) -> int32_t {
    const int64_t source = byTaps ? unit : unit * terms + term;
    const int64_t column = byTaps ? x * terms + term : x;
    if (source >= sources || column >= g.kernel[2])
      return 0;
    return filter.at(group, row, source % channels, {source / channels, y, column});
  };
  const int64_t width = byTaps ? columnPlanes : g.kernel[2];
  for (int64_t group = 0; group < groups; ++group)
    for (const TileRows &tile : tiles)
      for (int64_t unit = 0; unit < units; ++unit)
        for (int64_t y = 0; y < g.kernel[1]; ++y)
          for (int64_t x = 0; x < width; ++x)
            for (int64_t row = tile.first; row < tile.first + tile.rows; ++row) {
              std::array<int32_t, 4> values{};
              for (int64_t term = 0; term < terms; ++term)
                values[static_cast<size_t>(term)] = element(group, row, unit, y, x, term);
              *to++ = wordOf(kind, values);
            }
}

IntegerConvolver::Layout IntegerConvolver::layoutFor(unsigned numThreads) const {
  Layout layout{};
  const int64_t extraRows = reach(g, 1) / g.strides[1];
  layout.extraRows = extraRows;
  const int64_t extraColumns = byTaps ? 0 : reach(g, 2) / g.strides[2];
  const int64_t planes = units * rowPhases * columnPlanes;
  const int64_t extent = isPointwise ? g.small[2] : g.small[1];
  // Enough pieces for all threads, unless strips become too thin for that.
  const int64_t wanted =
      numThreads == 1 ? 1 : divideUp(4 * int64_t(numThreads), g.batch * groups * g.small[0]);
  int64_t size;
  if (isPointwise) {
    const int64_t most = std::max(kPointwiseWords / planes / kTileLanes, int64_t(1));
    const int64_t shared = divideUp(extent, wanted * kTileLanes);
    size = std::min(most, std::max(shared, int64_t(1))) * kTileLanes;
  } else {
    const int64_t most = kStripWords / (planes * (g.small[2] + extraColumns)) - extraRows;
    // Rows that two strips need are packed twice.
    const int64_t least = std::max(divideUp(kTileLanes, g.small[2]), 2 * extraRows);
    size = std::max(std::min(most, divideUp(extent, wanted)), std::max(least, int64_t(1)));
  }
  layout.strips = divideUp(extent, std::min(size, extent));
  size = divideUp(extent, layout.strips);
  if (isPointwise)
    size = std::min(roundUp(size, kWordLanes), extent);
  layout.strips = divideUp(extent, size);
  layout.stripRows = isPointwise ? 1 : size;
  layout.stripColumns = isPointwise ? size : g.small[2];
  const auto numTiles = static_cast<int64_t>(tiles.size());
  layout.parts = std::clamp<int64_t>(wanted / layout.strips, 1, divideUp(numTiles, 4));
  layout.tilesPerPart = divideUp(numTiles, layout.parts);
  layout.parts = divideUp(numTiles, layout.tilesPerPart);

  layout.pitch = layout.stripColumns + extraColumns;
  layout.span = std::clamp<int64_t>(kSpanWords / (steps * kTileLanes), 1, 10) * kTileLanes;
  // Packing writes whole vectors.
  layout.planeWords =
      roundUp((layout.stripRows + extraRows) * layout.pitch + kWordLanes, kWordLanes);
  const int64_t width = byTaps ? columnPlanes : g.kernel[2];
  for (int64_t unit = 0; unit < units; ++unit)
    for (int64_t y = 0; y < g.kernel[1]; ++y)
      for (int64_t x = 0; x < width; ++x) {
        const int64_t down = y * g.dilations[1];
        const int64_t across = byTaps ? 0 : x * g.dilations[2];
        const int64_t column = byTaps ? x : across % g.strides[2];
        const int64_t plane = (unit * rowPhases + down % g.strides[1]) * columnPlanes + column;
        layout.offsets.push_back(plane * layout.planeWords + down / g.strides[1] * layout.pitch +
                                 across / g.strides[2]);
      }
  return layout;
}

void IntegerConvolver::run(const Tensor &input, const RowFinisher &finisher, Tensor &output,
                           ThreadPool &threads) const {
  const Layout layout = layoutFor(threads.numThreads());
  const int64_t positions = (layout.stripRows - 1) * layout.pitch + layout.stripColumns;
  const int64_t lanes = roundUp(positions, kTileLanes);
  const int64_t perGroup = g.small[0] * layout.strips * layout.parts;
  const int64_t bytes = finisher.elementBytes();
  // A word takes a 32nd of what a simple operation does.
  const int64_t cost = lanes * (steps * layout.tilesPerPart * tiles.front().rows / 32 +
                                layout.tilesPerPart * tiles.front().rows / 8 + units / 2 + 1);
  threads.parallelFor(g.batch * groups * perGroup, grainFor(cost), [&](int64_t begin, int64_t end) {
    const int64_t lineBytes =
        (layout.stripColumns + kWordLanes) * g.strides[2] + (g.kernel[2] + terms) * g.dilations[2];
    Workspace space{
        Scratch<uint32_t>(units * rowPhases * columnPlanes * layout.planeWords + 2 * kTileLanes),
        Scratch<int32_t>(tiles.front().rows * std::min(layout.span, lanes)),
        Scratch<std::byte>(layout.pitch == layout.stripColumns ? 1 : rows * lanes * bytes),
        Scratch<uint8_t>(lineBytes), Scratch<uint8_t>(g.large[2])};
    std::fill_n(space.outside.data(), g.large[2], outsideByte);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t inGroup = i % perGroup;
      const int64_t part = inGroup % layout.parts;
      const int64_t strip = inGroup / layout.parts % layout.strips;
      const int64_t size = isPointwise ? layout.stripColumns : layout.stripRows;
      const int64_t first = strip * size;
      Strip piece{i / perGroup / groups,
                  i / perGroup % groups,
                  inGroup / layout.parts / layout.strips,
                  isPointwise ? 0 : first,
                  isPointwise ? 1 : std::min(size, g.small[1] - first),
                  isPointwise ? first : 0,
                  isPointwise ? std::min(size, g.small[2] - first) : g.small[2],
                  part * layout.tilesPerPart,
                  std::min((part + 1) * layout.tilesPerPart, static_cast<int64_t>(tiles.size()))};
      runStrip(bytesOf(input), layout, piece, finisher, output, space);
    }
  });
}

void IntegerConvolver::packRow(const uint8_t *const *rowSources, int64_t stride, int64_t count,
                               uint32_t *to) const {
  if (kind == WordKind::Pairs)
    simd.packPairs(rowSources, stride, flip, 0, count, to);
  else
    simd.packBytes(rowSources, stride, flip, count, to);
}

/// `planes`: the input planes of the terms of a word, null for those outside; then `outside` stands
/// for a row.
void IntegerConvolver::packChannels(const uint8_t *const *planes, const Layout &layout,
                                    const Strip &strip, const uint8_t *outside,
                                    uint32_t *to) const {
  const int64_t stride = g.strides[2];
  for (int64_t phase = 0; phase < rowPhases; ++phase)
    for (int64_t column = 0; column < columnPlanes; ++column, to += layout.planeWords) {
      const int64_t left = strip.column * stride + column - g.pads[2];
      // The words [begin, end) of a row lie in the input.
      const int64_t begin =
          std::clamp<int64_t>(left >= 0 ? 0 : divideUp(-left, stride), 0, layout.pitch);
      const int64_t space = g.large[2] - left;
      const int64_t end =
          std::clamp<int64_t>(space <= 0 ? 0 : divideUp(space, stride), begin, layout.pitch);
      uint32_t *row = to;
      for (int64_t r = 0; r < strip.rows + layout.extraRows; ++r, row += layout.pitch) {
        const int64_t y = (strip.row + r) * g.strides[1] + phase - g.pads[1];
        if (y < 0 || y >= g.large[1] || begin == end) {
          std::fill_n(row, layout.pitch, outsideWord);
          continue;
        }
        std::array<const uint8_t *, 4> from{};
        for (size_t t = 0; t < static_cast<size_t>(terms); ++t)
          from[t] = (planes[t] ? planes[t] + y * g.large[2] : outside) + left + begin * stride;
        std::fill_n(row, begin, outsideWord);
        packRow(from.data(), stride, end - begin, row + begin);
        std::fill_n(row + end, layout.pitch - end, outsideWord);
      }
    }
}

/// `line` has space for a row of the input with its padding.
void IntegerConvolver::packTaps(const uint8_t *plane, const Layout &layout, const Strip &strip,
                                uint8_t *line, uint32_t *to) const {
  const int64_t left = strip.column * g.strides[2] - g.pads[2];
  const int64_t size =
      (strip.columns - 1) * g.strides[2] + (columnPlanes * terms - 1) * g.dilations[2] + 1;
  const int64_t begin = std::clamp<int64_t>(-left, 0, size);
  const int64_t end = std::clamp<int64_t>(g.large[2] - left, begin, size);
  std::fill_n(line, begin, outsideByte);
  std::fill_n(line + end, size - end, outsideByte);
  for (int64_t phase = 0; phase < rowPhases; ++phase, to += columnPlanes * layout.planeWords)
    for (int64_t r = 0; r < strip.rows + layout.extraRows; ++r) {
      const int64_t y = (strip.row + r) * g.strides[1] + phase - g.pads[1];
      const bool isInside = y >= 0 && y < g.large[1] && begin < end;
      if (isInside)
        std::memcpy(line + begin, plane + y * g.large[2] + left + begin,
                    static_cast<size_t>(end - begin));
      for (int64_t column = 0; column < columnPlanes; ++column) {
        uint32_t *row = to + column * layout.planeWords + r * layout.pitch;
        if (!isInside) {
          std::fill_n(row, layout.pitch, outsideWord);
          continue;
        }
        std::array<const uint8_t *, 4> from{};
        for (int64_t t = 0; t < terms; ++t)
          from[static_cast<size_t>(t)] = line + (column * terms + t) * g.dilations[2];
        // Whole vectors: the line and the plane are longer than what they hold.
        packRow(from.data(), g.strides[2], roundUp(strip.columns, kWordLanes), row);
      }
    }
}

void IntegerConvolver::pack(const uint8_t *input, const Layout &layout, const Strip &strip,
                            Workspace &space) const {
  uint32_t *to = space.words.data();
  for (int64_t unit = 0; unit < units; ++unit) {
    std::array<const uint8_t *, 4> planes{};
    bool isInside = false;
    for (int64_t t = 0; t < (byTaps ? 1 : terms); ++t) {
      // What is beyond the last source meets factors of 0.
      const int64_t source = std::min(byTaps ? unit : unit * terms + t, sources - 1);
      const int64_t depth =
          strip.depth * g.strides[0] + source / channels * g.dilations[0] - g.pads[0];
      const int64_t channel = strip.group * channels + source % channels;
      const int64_t plane = (strip.sample * g.largeChannels + channel) * g.large[0] + depth;
      const bool isReal = depth >= 0 && depth < g.large[0];
      isInside = isInside || isReal;
      planes[static_cast<size_t>(t)] = isReal ? input + plane * g.large[1] * g.large[2] : nullptr;
    }
    if (!isInside)
      std::fill_n(to, rowPhases * columnPlanes * layout.planeWords, outsideWord);
    else if (byTaps)
      packTaps(planes[0], layout, strip, space.line.data(), to);
    else
      packChannels(planes.data(), layout, strip, space.outside.data(), to);
    to += rowPhases * columnPlanes * layout.planeWords;
  }
}

void IntegerConvolver::runStrip(const uint8_t *input, const Layout &layout, const Strip &strip,
                                const RowFinisher &finisher, Tensor &output,
                                Workspace &space) const {
  pack(input, layout, strip, space);
  const int64_t bytes = finisher.elementBytes();
  const int64_t positions = (strip.rows - 1) * layout.pitch + strip.columns;
  const bool isDirect = layout.pitch == layout.stripColumns;
  const int64_t firstChannel = strip.group * rows;
  const int64_t planeBytes = g.small[0] * g.small[1] * g.small[2] * bytes;
  std::byte *target = output.mutableBytes().data() +
                      (strip.sample * g.smallChannels + firstChannel) * planeBytes +
                      ((strip.depth * g.small[1] + strip.row) * g.small[2] + strip.column) * bytes;
  std::byte *to = isDirect ? target : space.results.data();
  const int64_t toStep = isDirect ? planeBytes : roundUp(positions, kTileLanes) * bytes;
  const int64_t span = std::min(layout.span, roundUp(positions, kTileLanes));
  const auto tileSpan = std::span(tiles).subspan(
      static_cast<size_t>(strip.firstTile), static_cast<size_t>(strip.lastTile - strip.firstTile));
  for (int64_t first = 0; first < positions; first += span) {
    const int64_t count = std::min(span, positions - first);
    for (const TileRows &tile : tileSpan) {
      const int64_t channel = firstChannel + tile.first;
      runTiles(simd, kind, tile.rows, divideUp(count, kWordLanes),
               {.lanes = space.words.data() + first,
                .offsets = layout.offsets.data(),
                .steps = steps,
                .factors = factors.data() + channel * steps,
                .factorStep = tile.rows,
                .rowStep = 1,
                .rowBias = offsets.data() + channel,
                .laneBias = nullptr,
                .sums = space.sums.data(),
                .sumStep = span});
      std::byte *rowsTo = to + tile.first * toStep + first * bytes;
      finisher.rows(space.sums.data(), span, tile.rows, count, channel, rowsTo, toStep);
    }
  }
  if (isDirect)
    return;
  for (const TileRows &tile : tileSpan)
    for (int64_t r = tile.first; r < tile.first + tile.rows; ++r)
      for (int64_t y = 0; y < strip.rows; ++y)
        std::memcpy(target + r * planeBytes + y * g.small[2] * bytes,
                    to + r * toStep + y * layout.pitch * bytes,
                    static_cast<size_t>(strip.columns * bytes));
}
