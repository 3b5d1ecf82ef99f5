//===- detect.cpp - Objects on a picture, from one model file -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: detect MODEL PICTURE OUT
//
// MODEL was made with --add_postprocess and --fuse_preprocess --customization_format BGR_PACKED:
// it takes the bytes of a picture and gives rows of (picture, class, score, centre x, centre y,
// width, height). PICTURE is of any format and size that OpenCV reads. It is scaled to the extents
// of the input as the model file says, or to fit them, with pad_value around it. OUT gets the
// picture with a frame around each object, and stdout a line for each. docs/postprocess.md has the
// commands that make such a file.
//
//===----------------------------------------------------------------------===//

#include <tpuc_runtime.h>

#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Free {
  void operator()(tpuc_model *model) const { tpuc_model_free(model); }
  void operator()(tpuc_session *session) const { tpuc_session_free(session); }
};

void check(tpuc_status status, const tpuc_error &error) {
  if (status != TPUC_OK)
    throw std::runtime_error(error.message);
}

/// A box in pixels of the picture.
struct Object {
  int label;
  float score;
  cv::Rect2f box;
};

/// A model file with one input of packed pixels and rows of seven numbers.
class Detector {
public:
  explicit Detector(const char *path) {
    tpuc_error error;
    tpuc_model *loaded = nullptr;
    check(tpuc_model_load(path, &loaded, &error), error);
    model.reset(loaded);
    tpuc_tensor_info output;
    check(tpuc_model_input_picture(loaded, 0, 0, 0, &taken, &error), error);
    check(tpuc_model_output(loaded, 0, 0, 0, &output, &error), error);
    if (taken.format != TPUC_BGR_PACKED)
      throw std::runtime_error(std::string(path) + ": takes pictures of another format; expected a "
                                                   "file with --customization_format BGR_PACKED");
    constexpr int kFilled = 3;
    if (taken.fit == kFilled)
      throw std::runtime_error(std::string(path) + ": takes pictures that are cut at their sides; "
                                                   "expected whole ones");
    if (output.rank == 0 || output.shape[output.rank - 1] != 7)
      throw std::runtime_error(std::string(path) + ": output '" + output.name +
                               "' has no rows of seven; expected a file with --add_postprocess");
    extents = cv::Size(static_cast<int>(taken.width), static_cast<int>(taken.height));
    rows.resize(output.num_elements);
    tpuc_session *made = nullptr;
    check(tpuc_session_create(loaded, 0, 0, 0, &made, &error), error);
    session.reset(made);
  }

  std::vector<Object> operator()(const cv::Mat &picture) {
    const double factor = std::min(static_cast<double>(extents.width) / picture.cols,
                                   static_cast<double>(extents.height) / picture.rows);
    constexpr int kStretched = 0, kAtTopLeft = 2;
    const cv::Size inner = taken.fit == kStretched
                               ? extents
                               : cv::Size(std::max(static_cast<int>(picture.cols * factor), 1),
                                          std::max(static_cast<int>(picture.rows * factor), 1));
    const cv::Point corner =
        taken.fit == kAtTopLeft
            ? cv::Point()
            : cv::Point((extents.width - inner.width) / 2, (extents.height - inner.height) / 2);
    cv::Mat canvas(extents, CV_8UC3, cv::Scalar::all(taken.pad_value));
    cv::Mat part = canvas(cv::Rect(corner, inner));
    cv::resize(picture, part, inner, 0, 0, cv::INTER_LINEAR);
    tpuc_error error;
    const tpuc_picture buffer = {
        TPUC_BGR_PACKED, taken.height, taken.width, {canvas.data}, {canvas.step[0]}};
    check(tpuc_session_set_input_pictures(session.get(), 0, &buffer, 1, &error), error);
    check(tpuc_session_run(session.get(), &error), error);
    check(tpuc_session_get_output_f32(session.get(), 0, rows.data(), rows.size(), &error), error);
    const cv::Rect2f whole(0, 0, static_cast<float>(picture.cols),
                           static_cast<float>(picture.rows));
    const float perX = whole.width / static_cast<float>(inner.width);
    const float perY = whole.height / static_cast<float>(inner.height);
    std::vector<Object> objects;
    for (size_t row = 0; row + 7 <= rows.size() && rows[row + 2] > 0; row += 7) {
      const float width = rows[row + 5] * perX;
      const float height = rows[row + 6] * perY;
      const float x = (rows[row + 3] - static_cast<float>(corner.x)) * perX;
      const float y = (rows[row + 4] - static_cast<float>(corner.y)) * perY;
      objects.push_back({static_cast<int>(rows[row + 1]), rows[row + 2],
                         cv::Rect2f(x - width / 2, y - height / 2, width, height) & whole});
    }
    return objects;
  }

private:
  std::unique_ptr<tpuc_model, Free> model;
  std::unique_ptr<tpuc_session, Free> session;
  tpuc_picture_info taken = {};
  cv::Size extents;
  std::vector<float> rows;
};

int detect(const char *modelPath, const char *picturePath, const char *outPath) {
  const cv::Mat picture = cv::imread(picturePath, cv::IMREAD_COLOR);
  if (picture.empty())
    throw std::runtime_error(std::string(picturePath) + ": cannot be read as a picture");
  Detector detector(modelPath);
  cv::Mat drawn = picture.clone();
  for (const Object &object : detector(picture)) {
    std::printf("class %d, score %.4f, x %.1f, y %.1f, width %.1f, height %.1f\n", object.label,
                object.score, object.box.x, object.box.y, object.box.width, object.box.height);
    // Each class has a colour of its own.
    const cv::Scalar colour(37 * (object.label + 3) % 256, 91 * (object.label + 2) % 256,
                            151 * (object.label + 1) % 256);
    cv::rectangle(drawn, object.box, colour, 2);
    cv::putText(drawn, std::to_string(object.label), cv::Point(object.box.tl()) + cv::Point(2, 14),
                cv::FONT_HERSHEY_SIMPLEX, 0.45, colour);
  }
  if (!cv::imwrite(outPath, drawn))
    throw std::runtime_error(std::string(outPath) + ": cannot be written");
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 4) {
    std::fputs("usage: detect MODEL PICTURE OUT\n", stderr);
    return 2;
  }
  // A file that cannot be read is one line, ours.
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_ERROR);
  try {
    return detect(argv[1], argv[2], argv[3]);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "detect: error: %s\n", error.what());
    return 1;
  }
}
