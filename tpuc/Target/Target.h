//===- Target.h - What a chip is, as plain data -----------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Everything that generic code may want to know about a chip is a field or a function here, so that
// no generic code names a chip. Each folder below this one fills in the tables of its chips, with
// the reasons; Registry.h finds them.
//
// A std::optional field without a value means that no figure is known (or that the chip has no such
// thing); the chip's table says which. Nothing here is estimated: code that needs an unknown figure
// must say that it cannot work.
//
// What no generic code reads is read by the folder of a chip, or stands for one whose back end is
// not there yet: batch items in words, orders of weights, tags of addresses, roundings, streams and
// sizes of commands. `validate` and docs/targets.md hold those until then.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_TARGET_H
#define TPUC_TARGET_TARGET_H

#include "tpuc/Support/DataType.h"
#include "tpuc/Support/Error.h"
#include "tpuc/Support/PictureFormat.h"
#include "tpuc/Support/Rounding.h"
#include "tpuc/Target/EnumSet.h"
#include "tpuc/Target/QuantScheme.h"
#include "tpuc/Target/ShortList.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tpuc {

using DataTypeSet = EnumSet<DataType>;

/// Extents of a tensor, in the order of its dimensions.
struct Extents {
  uint32_t n = 0, c = 0, h = 0, w = 0;
  constexpr bool operator==(const Extents &) const = default;
};

/// What an engine does with tensors.
enum class EngineRole : uint8_t {
  Compute,  ///< Works on what lies in memory spaces.
  Transfer, ///< Moves data between memory spaces and global memory, and inside of it.
};

/// One of the engines, which work side by side.
struct EngineInfo {
  /// As reports and messages have it.
  std::string_view name;
  EngineRole role = EngineRole::Compute;
  /// Commands begin and end in the order in which they stand in their stream.
  bool inOrder = true;
  /// The types that its commands name.
  DataTypeSet types;
  /// In the vendor's own performance model; silicon may be clocked otherwise.
  std::optional<uint64_t> clockHz;
  /// Smallest and largest size of a command, equal where all have the same size.
  uint32_t minCommandBytes = 0, maxCommandBytes = 0;
  /// Width of the command counter, which starts from 1: a stream holds fewer than 2^bits commands.
  uint32_t commandIdBits = 0;
  /// The largest tensor that one command can name: the widths of its extent fields.
  Extents maxExtent;

  constexpr bool hasFixedCommandSize() const { return minCommandBytes == maxCommandBytes; }
  constexpr bool takes(DataType type) const { return types.contains(type); }
};

/// At most so many engines.
inline constexpr size_t kMostEngines = 6;
using Engines = ShortList<EngineInfo, kMostEngines>;

/// How the commands of all engines are laid out for the runtime.
struct StreamInfo {
  /// One stream holds the commands of all engines in issue order; else each has its own.
  bool isShared = false;
  /// Bytes in front of each command that name its engine and size.
  uint32_t headerBytes = 0;
  bool hasEndCommand = false;
  /// A stream is filled with zeros to a multiple of this (1: not at all).
  uint32_t paddingBytes = 1;
};

/// The largest windows and paddings that one convolution or pooling command takes.
struct WindowLimits {
  uint32_t maxStrideH = 0, maxStrideW = 0;
  /// On each of the four sides.
  uint32_t maxPad = 0;
  uint32_t maxDilation = 0;
  /// Zeros between two neighbours of the input (for a transposed convolution: stride - 1).
  uint32_t maxInsert = 0;
};

/// The unit in which commands count the strides of a tensor in local memory.
enum class StrideUnit : uint8_t { Element, Word32, Byte };

/// What the operand fields of a compute command hold.
enum class OperandAddressing : uint8_t {
  LocalOffset, ///< Bytes from the start of local memory.
  Absolute,    ///< The address under which the DMA engine sees local memory, too.
};

/// The order of the weights of a convolution inside one output channel; see `weightIndex`.
enum class ConvWeightOrder : uint8_t {
  ChannelBlocks, ///< Blocks of P input channels outermost: [ic/P][kh][kw][P].
  KernelFirst,   ///< All input channels innermost: [kh][kw][ic padded to a multiple of P].
};

/// How integers wider than 8 bits are kept in local memory.
enum class WideIntegers : uint8_t {
  Types,      ///< 16- and 32-bit types of their own.
  BytePlanes, ///< One tensor of bytes per byte of the value, the lowest first.
};

struct LayoutInfo {
  StrideUnit strideUnit = StrideUnit::Element;
  OperandAddressing operandAddressing = OperandAddressing::LocalOffset;
  /// Width of the address fields of the second and third operand; where that is less than local
  /// memory needs, those operands must begin below 2^bits.
  uint32_t secondOperandAddressBits = 32;
  WideIntegers wideIntegers = WideIntegers::Types;
  /// How many batch items share one 32-bit word in local memory: 1 where they do not.
  uint32_t int8BatchPerWord = 1, int16BatchPerWord = 1;
  /// The same for the operands of a matrix product.
  uint32_t int8MatrixBatchPerWord = 1;
  ConvWeightOrder convWeightOrder = ConvWeightOrder::KernelFirst;
  /// P of `ConvWeightOrder` by the bits of the weight; 0 where there is no such convolution.
  uint32_t convChannelBlock8 = 0, convChannelBlock16 = 0, convChannelBlock32 = 0;
};

/// How the int32 sums of a convolution become int8 again.
enum class RequantStrategy : uint8_t {
  None,          ///< The chip has no INT8.
  OwnCommand,    ///< A command of its own with multiplier, shift and zero point per channel.
  InConvolution, ///< Inside the convolution, from a packed {bias, multiplier, shift} per channel.
  SharedShift,   ///< One shift for all channels of a command; scales are folded into the weights.
};

struct RequantInfo {
  RequantStrategy strategy = RequantStrategy::None;
  /// Every output channel of a convolution has a multiplier and shift of its own.
  bool perChannel = false;
  /// Width of the integer multiplier; 0 where there is only a shift.
  uint32_t multiplierBits = 0;
  /// How `x * multiplier >> shift` is rounded: all modes that the command offers, and the one to
  /// take. `None` has neither.
  EnumSet<RoundingMode> roundings;
  std::optional<RoundingMode> rounding;
  /// With `InConvolution`, the product is rounded after dropping this many bits, and again, half
  /// away from zero, after the rest of the shift; else 0: rounded once. Factors of other ops shift
  /// by no more.
  uint32_t firstShiftBits = 0;
  /// With sign: of the numbers by which element-wise sums multiply their operands.
  uint32_t sumMultiplierBits = 16;
  /// With `OwnCommand`, the product may also be rounded half up after dropping 31 bits, and half
  /// away from zero after the rest of the shift, as some sources state it.
  bool canRoundTwice = false;
  /// How the plain right shifts of element-wise commands round.
  std::optional<RoundingMode> shiftRounding;
  /// The bias of a quantized convolution.
  std::optional<DataType> biasType;
};

/// A memory of the chip in which operands of commands lie. An address in it is the same in all
/// lanes.
struct MemorySpace {
  std::string_view name;
  uint32_t lanes = 0;
  /// Tensors begin at multiples of so many bytes. In the space of tiles also the bytes that a lane
  /// works on per cycle.
  uint32_t align = 1;
  /// In each lane.
  uint32_t bytes = 0;
};

/// At most so many memory spaces.
inline constexpr size_t kMostSpaces = 4;
using MemorySpaces = ShortList<MemorySpace, kMostSpaces>;

/// The number of the memory space in which layers leave their results.
inline constexpr unsigned kTileSpace = 0;

struct MemoryInfo {
  /// That of tiles first. Other operands may have spaces of their own.
  MemorySpaces spaces;
  /// Of a lane of the space of tiles.
  uint32_t banks = 0, bankBytes = 0;
  /// Where the transfer engine sees lane 0 of the space of tiles; lane l follows at l times its
  /// bytes. No value where the engine addresses it by its offset.
  std::optional<uint64_t> localBase;
  /// A small memory for tables that every lane reads.
  std::optional<uint64_t> staticBase;
  std::optional<uint32_t> staticBytes;
  /// On-chip memory that all lanes share.
  std::optional<uint64_t> sharedBase;
  std::optional<uint32_t> sharedBytes;
};

/// How a global address is written into a command.
enum class GlobalAddressing : uint8_t {
  Absolute,  ///< As it is; the loader relocates it.
  TaggedBase ///< tag << tagShift | offset, where the tag selects a base register.
};

struct GlobalMemoryInfo {
  GlobalAddressing addressing = GlobalAddressing::Absolute;
  uint32_t tagShift = 0;
  /// The chip's first address of global memory.
  uint64_t base = 0;
  /// The first address that a model may use, counted like `base`.
  uint64_t modelBase = 0;
  /// No board with the chip has more: a model with larger tensors is refused.
  uint64_t mostBytes = uint64_t{16} << 30;
  /// What the vendor's compiler aligns areas of global memory to.
  std::optional<uint32_t> alignment;
  /// The DMA engine's own alignment, as the vendor's headers state it; not enforced by its model.
  std::optional<uint32_t> transferAlignment;
};

/// Multiply-accumulate steps per cycle, all lanes together, by what is multiplied; no value where
/// the chip has no such scheme or the figure is not known.
struct PeakMacs {
  std::optional<uint32_t> f32, f16, bf16, int8;
  std::optional<uint32_t> of(const QuantScheme &scheme) const;
};

/// What a convolution does per cycle in each lane: that many output pixels of one channel, for that
/// many input channels.
struct ConvThroughput {
  uint32_t pixels = 0, channels = 0;
};

/// The constants of the formulas that the timing simulator and the cost model evaluate.
struct TimingInfo {
  /// By the bits of the input type.
  ConvThroughput conv8, conv16, conv32;
  /// Elements that requantization and dequantization take per lane and cycle.
  uint32_t requantElementsPerCycle = 0;
  /// A pooling or depthwise command with both strides above 1 takes this many times longer.
  uint32_t stridedPoolFactor = 1;
  /// A command whose result overwrites its operand takes this many times longer.
  uint32_t inPlaceFactor = 1;
  /// Bytes per cycle of a tensor transfer, before `transferDivisor`.
  double globalToLocal = 0, localToGlobal = 0, globalToGlobal = 0, localToLocal = 0;
  /// Tensor transfers divide the rates above by this; matrix and fill transfers do not.
  double transferDivisor = 1;
  /// A transposing matrix transfer runs at this fraction of the rate.
  double matrixTransposeFactor = 1;
  /// Bytes per cycle of linear, gathering and scattering transfers, and of those between lanes.
  uint32_t linearBytesPerCycle = 0, linearLocalBytesPerCycle = 0;
  /// A shorter contiguous run costs as much as one of this size.
  uint32_t minBurstBytes = 1;
  /// Global memory is spread over so many channels in pieces of so many bytes.
  uint32_t memoryChannels = 1, channelInterleaveBytes = 1;
  /// What all channels together move per cycle at most, reads and writes counted together.
  double peakGlobalBytesPerCycle = 0;
  /// Cycles that every command takes before its work begins; 0 where the model has no such cost.
  uint32_t computeStartCycles = 0, transferStartCycles = 0;
  /// The same for every transfer that reads or writes global memory.
  uint32_t memoryLatencyCycles = 0;
  /// Whether tensor transfers that use one row of global memory for all rows (h stride 0) cost
  /// nothing.
  bool repeatedRowsAreFree = false;
};

struct TargetInfo {
  /// The name that `--chip` takes: lower-case letters, digits and underscores.
  std::string_view name;
  /// Other names under which it is known, in the same spelling.
  std::span<const std::string_view> aliases;
  std::string_view vendor, family;
  /// One sentence for the documentation.
  std::string_view summary;

  /// The number formats that networks can be lowered to.
  SchemeSet schemes;
  RequantInfo requant;
  /// How floating-point sums of products are rounded at each addition.
  std::optional<RoundingMode> floatSumRounding;

  Engines engines;
  StreamInfo stream;
  WindowLimits window;
  MemoryInfo memory;
  GlobalMemoryInfo global;
  LayoutInfo layout;
  PeakMacs peakMacs;
  /// The vendor's own performance model, where it is known.
  std::optional<TimingInfo> timing;
  /// A more pessimistic set for the same formulas: what the vendor's model leaves out is charged
  /// with assumed figures. Reports show both.
  std::optional<TimingInfo> conservativeTiming;

  /// What rows and planes of pictures begin at multiples of in the frame buffers that the chip's
  /// camera and decoder fill; none where no such buffers are known.
  std::optional<PictureAlignment> frames;

  /// The kind of file that the chip's runtime loads, by its extension (tpuc/Model/Container.h);
  /// empty where there is none.
  std::string_view container;
  /// The chip's name inside the container; empty where there is no container.
  std::string_view containerChip;
  /// Whether this version of tpuc can write a model file for the chip. Without it the phases up to
  /// the interpretation of the lowered network still work.
  bool hasCodeGenerator = false;

  /// The memory space in which layers leave their results.
  constexpr const MemorySpace &tiles() const { return memory.spaces[kTileSpace]; }
  /// All lanes of it together.
  uint64_t localBytes() const { return uint64_t{tiles().lanes} * tiles().bytes; }
  /// The first engine that computes, and the first one that moves data (`validate`: both exist).
  const EngineInfo &compute() const { return engines[*engineOf(EngineRole::Compute)]; }
  const EngineInfo &transfer() const { return engines[*engineOf(EngineRole::Transfer)]; }
  /// The number of the first engine with a role; none where there is none.
  std::optional<size_t> engineOf(EngineRole role) const;
  /// P of `ConvWeightOrder` for weights of `type`, or no value where there is no such convolution.
  std::optional<uint32_t> convChannelBlock(DataType type) const;
  /// Elements that one output channel of a convolution with weights of `type` takes: its input
  /// channels padded to the channel block. No value where there is no such convolution.
  std::optional<uint64_t> weightsPerChannel(DataType type, uint32_t ic, uint32_t kh,
                                            uint32_t kw) const;
  /// Where the weight (ic, y, x) of one output channel with `numIc` input channels stands among
  /// them, for a type that has convolutions: with P the channel block,
  ///   ChannelBlocks: ic / P * (P * kh * kw) + (y * kw + x) * P + ic % P
  ///   KernelFirst:   (y * kw + x) * roundUp(numIc, P) + ic
  uint64_t weightIndex(DataType type, uint32_t numIc, uint32_t kh, uint32_t kw, uint32_t ic,
                       uint32_t y, uint32_t x) const;
};

/// Whether the fields agree with each other; the error names the target and the first rule that it
/// breaks. The chips that tpuc comes with all pass; the function is for those who add one.
Expected<void> validate(const TargetInfo &target);

} // namespace tpuc

#endif // TPUC_TARGET_TARGET_H
