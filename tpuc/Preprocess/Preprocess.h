//===- Preprocess.h - Files as the inputs of a network ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How a sample that a user names (pictures, .npy files, one .npz file) becomes the tensors that a
// network takes. The steps and their formula: docs/preprocess.md.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_PREPROCESS_PREPROCESS_H
#define TPUC_PREPROCESS_PREPROCESS_H

#include "tpuc/Support/PictureFormat.h"
#include "tpuc/Support/Tensor.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tpuc {

/// The channels of the network's input, in their order. Rgbd has the picture's opacity as its
/// fourth channel, 255 where the picture has none.
enum class PixelFormat : uint8_t { Rgb, Bgr, Gray, Rgbd };
/// Where the channels stand among the input's axes; None: the input is no picture.
enum class ChannelFormat : uint8_t { Nchw, Nhwc, None };
/// Where a picture that keeps its aspect ratio lies: in the middle, or in the upper left corner.
enum class PadType : uint8_t { Center, Normal };

/// As options and attributes spell them, in the order of the enums.
inline constexpr std::array<std::string_view, 4> kPixelFormatNames = {"rgb", "bgr", "gray", "rgbd"};
inline constexpr std::array<std::string_view, 3> kChannelFormatNames = {"nchw", "nhwc", "none"};
inline constexpr std::array<std::string_view, 2> kPadTypeNames = {"center", "normal"};
inline constexpr std::array<std::string_view, 2> kKeepRatioModeNames = {"letterbox",
                                                                        "short_side_scale"};

std::string_view pixelFormatName(PixelFormat format);
std::string_view channelFormatName(ChannelFormat format);
std::string_view padTypeName(PadType type);
/// The inverses, nothing for another word. `rgba` is read as `rgbd`: the public tool's later name.
std::optional<PixelFormat> parsePixelFormat(std::string_view name);
std::optional<ChannelFormat> parseChannelFormat(std::string_view name);
std::optional<PadType> parsePadType(std::string_view name);

/// 3 for Rgb and Bgr, 1 for Gray, 4 for Rgbd.
int64_t numChannels(PixelFormat format);

/// How a picture becomes an input: `model_transform`'s options of the same names.
struct PreprocessOptions {
  /// Height and width that the picture is scaled to; empty: those of the input.
  std::vector<int64_t> resizeDims = {};
  bool keepAspectRatio = false;
  /// With keepAspectRatio: "letterbox" scales until the whole picture fits and pads the rest,
  /// "short_side_scale" until it fills everything, and cuts off what is too much around the centre.
  std::string keepRatioMode = "letterbox";
  /// A byte of the picture, before mean and scale.
  int64_t padValue = 0;
  PadType padType = PadType::Center;
  /// One value per channel in the order of `pixelFormat`; empty: 0 and 1. For Gray, three equal
  /// values also count as one, because the tools' defaults have three.
  std::vector<double> mean = {};
  std::vector<double> scale = {};
  PixelFormat pixelFormat = PixelFormat::Bgr;
  ChannelFormat channelFormat = ChannelFormat::Nchw;
  /// The network takes the bytes of the picture, scaled to `resizeDims`, in this order, and
  /// normalizes them itself: mean, scale, pixelFormat and channelFormat are of no use then.
  std::optional<PictureFormat> bytes = {};
  /// Of `bytes`, where rows and planes have gaps.
  std::optional<PictureFrame> frame = {};
  /// Of `bytes` that are YUV: Y is from 16 to 235, else from 0 to 255; nothing: the former, where
  /// the network does not say.
  std::optional<bool> isVideoRange = {};

  /// Whether a picture can become an input of the extents `dims` (-1: not known) under these
  /// options. Errors name the option (`--mean`): a number of values that does not fit the channels,
  /// or values that are not finite; resize_dims that are not two, not positive, smaller than the
  /// input or enormous; a pad value that is no byte; an unknown keep_ratio_mode; an input that has
  /// not the channels of the pixel format or not the axes of a picture.
  Expected<void> check(std::span<const int64_t> dims) const;
};

/// What a network says about one of its inputs.
struct InputSpec {
  std::string name;
  DataType type = DataType::F32;
  /// -1: not known before the sample is.
  std::vector<int64_t> dims;
  /// Nothing: the input takes arrays only.
  std::optional<PreprocessOptions> preprocess;
};

/// Has each of `inputs` that can be a picture (rank 3 or 4) made from pictures as `wanted` says;
/// without it as the input itself says, or by default. An input that takes bytes keeps their order;
/// `wanted` may say how other pictures are scaled to its extents. Errors: as
/// PreprocessOptions::check; another order of bytes than the input's.
Expected<void> takePictures(const std::optional<PreprocessOptions> &wanted,
                            std::span<InputSpec> inputs);

/// What a file holds, by its first bytes; what is neither array nor archive may be a picture.
enum class FileKind : uint8_t { Npy, Npz, Picture };
FileKind fileKind(std::span<const std::byte> bytes);

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// The tensors of one sample, one per input in the order of `inputs`, from the files that a user
/// names: either one npz file with an array per input, or per input, in order, one picture or .npy
/// file. What a file is, its first bytes say.
///
/// Arrays must have the input's shape. Their elements become the input's type from any other float
/// type, or from any integer type or bool if all values are in range. Arrays of an npz file are
/// found by the input's name; a single array is that of a single input whatever its name, and
/// `note` says so where it is another. More arrays than inputs are no error.
///
/// A picture is decoded and prepared as the input's `preprocess` says, and repeated over the
/// batch. An unknown extent becomes 1 for the batch, the pixel format's for the channels, and that
/// of `resizeDims`, or else of the picture, for height and width.
///
/// Errors name the file, and the input where one is meant: missing, truncated, neither array nor
/// picture; another number of files than of inputs; names or shapes that do not match (both sides
/// are listed); elements that cannot be converted; a picture for an input that takes none.
Expected<NamedTensors> readSample(std::span<const std::string> files,
                                  std::span<const InputSpec> inputs, std::string *note = nullptr);

} // namespace tpuc

#endif // TPUC_PREPROCESS_PREPROCESS_H
