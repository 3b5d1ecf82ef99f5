//===- PicturePlugin.cpp - Pictures, read and scaled by OpenCV ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CapturedStderr.h"

#include "tpuc/Preprocess/Picture.h"

#include <cstdlib>
#include <exception>
#include <limits>
#include <new>
#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

using namespace tpuc;

namespace {

/// Whether it is OpenCV's check of the extents that a header states.
bool isTooLarge(const cv::Exception &exception) {
  return exception.err.find("CV_IO_MAX_IMAGE_") != std::string::npos;
}

std::string tooManyPixels() {
  const char *limit = std::getenv(kPixelLimitVariable);
  return "has more pixels, or rows, or columns than may be decoded; expected at most " +
         std::string(limit ? limit : "2^30") +
         " pixels (--max_pixels) in at most 2^20 rows and columns";
}

/// Settings of the library for the whole process. It changes them without a lock, so they are made
/// once, in front of the first picture.
void prepareLibrary() {
  static const bool isPrepared = [] {
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
    // Samples are what is spread over threads.
    cv::setNumThreads(1);
    return true;
  }();
  static_cast<void>(isPrepared);
}

/// Runs `work`, which gives the reason for which it failed, if it did.
template <typename Work> bool run(std::string &error, const Work &work) {
  try {
    prepareLibrary();
    error = work();
  } catch (const std::bad_alloc &) {
    error = "needs more memory than there is";
  } catch (const cv::Exception &exception) {
    error = isTooLarge(exception) ? tooManyPixels() : "cannot be decoded: " + exception.err;
  } catch (const std::exception &exception) {
    error = std::string("cannot be decoded: ") + exception.what();
  }
  return error.empty();
}

/// The pixels of an 8-bit `mat`.
Picture copyOut(const cv::Mat &mat) {
  Picture picture{mat.rows, mat.cols, mat.channels(), {}};
  const cv::Mat dense = mat.isContinuous() ? mat : mat.clone();
  picture.bytes.assign(dense.data, dense.data + dense.total() * dense.elemSize());
  return picture;
}

/// A view.
cv::Mat asMat(const Picture &picture) {
  return cv::Mat(static_cast<int>(picture.height), static_cast<int>(picture.width),
                 CV_8UC(static_cast<int>(picture.channels)),
                 const_cast<uint8_t *>(picture.bytes.data()));
}

/// From 8-bit BGR, 8-bit BGRA or 16-bit BGRA, of which the high bytes are taken, as OpenCV does
/// where it decodes to 8 bits itself.
cv::Mat toRgba(const cv::Mat &from) {
  cv::Mat rgba;
  if (from.depth() != CV_16U) {
    cv::cvtColor(from, rgba, from.channels() == 4 ? cv::COLOR_BGRA2RGBA : cv::COLOR_BGR2RGBA);
    return rgba;
  }
  const cv::Mat bytes(from.rows, from.cols, CV_8UC(8), from.data, from.step);
  rgba.create(from.rows, from.cols, CV_8UC4);
  cv::mixChannels({bytes}, {rgba}, {5, 0, 3, 1, 1, 2, 7, 3});
  return rgba;
}

int decodeFlags(PictureColours colours) {
  switch (colours) {
  case PictureColours::Gray:
    return cv::IMREAD_GRAYSCALE;
  case PictureColours::Bgr:
    return cv::IMREAD_COLOR;
  case PictureColours::Rgba:
    return cv::IMREAD_UNCHANGED;
  }
  return cv::IMREAD_COLOR;
}

/// OpenCV's message about bytes that no decoder takes is no message at all, and that of a library
/// may have several lines.
std::string notDecoded(std::string library) {
  while (!library.empty() && library.back() == '\n')
    library.pop_back();
  if (library.empty())
    return "is neither an array (.npy, .npz) nor a picture that can be decoded, or it is truncated";
  return "cannot be decoded: " + library.substr(library.rfind('\n') + 1);
}

} // namespace

bool tpucDecodePicture(std::span<const std::byte> bytes, PictureColours colours, Picture &picture,
                       std::string &error) {
  return run(error, [&]() -> std::string {
    if (bytes.size() > std::numeric_limits<int>::max())
      return "has more bytes than a picture";
    const cv::Mat raw(1, static_cast<int>(bytes.size()), CV_8U,
                      const_cast<std::byte *>(bytes.data()));
    cv::Mat decoded;
    const std::string said =
        captureStderr([&] { decoded = cv::imdecode(raw, decodeFlags(colours)); });
    if (decoded.empty())
      return notDecoded(said);
    if (colours == PictureColours::Rgba) {
      if (decoded.channels() != 4)
        captureStderr([&] { decoded = cv::imdecode(raw, cv::IMREAD_COLOR); });
      decoded = toRgba(decoded);
    }
    picture = copyOut(decoded);
    return {};
  });
}

bool tpucResizePicture(const Picture &from, Picture &to, std::string &error) {
  return run(error, [&]() -> std::string {
    cv::Mat resized;
    cv::resize(asMat(from), resized,
               cv::Size(static_cast<int>(to.width), static_cast<int>(to.height)), 0, 0,
               cv::INTER_LINEAR);
    to = copyOut(resized);
    return {};
  });
}
