//===- CApi.cpp - The runtime as C sees it --------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Elements.h"
#include "runtime/Session.h"
#include "runtime/tpuc_runtime.h"
#include "tpuc/Support/Convert.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <new>

using namespace tpuc;
using namespace tpuc::runtime;

struct tpuc_model {
  std::shared_ptr<const LoadedModel> loaded;
};

struct tpuc_session {
  std::unique_ptr<Session> session;
  /// Of the outputs that were described.
  std::vector<std::vector<uint64_t>> shapes = {};
};

namespace {

tpuc_status report(tpuc_error *error, tpuc_status status, std::string_view message) {
  if (error) {
    error->status = status;
    const size_t length = std::min(message.size(), sizeof(error->message) - 1);
    std::memcpy(error->message, message.data(), length);
    error->message[length] = '\0';
  }
  return status;
}

/// Runs `body`, which gives an Expected<void>; its error is reported as `status`.
template <typename Body> tpuc_status guarded(tpuc_error *error, tpuc_status status, Body body) {
  try {
    const Expected<void> done = body();
    return done ? report(error, TPUC_OK, "") : report(error, status, done.error().message());
  } catch (const std::bad_alloc &) {
    return report(error, TPUC_OUT_OF_MEMORY, "not enough memory");
  } catch (const std::exception &exception) {
    return report(error, TPUC_INTERNAL, exception.what());
  } catch (...) {
    return report(error, TPUC_INTERNAL, "an unknown exception");
  }
}

tpuc_status badArgument(tpuc_error *error, std::string_view what) {
  return report(error, TPUC_BAD_ARGUMENT, what);
}

const model::Stage *findStage(const tpuc_model *model, size_t net, size_t stage) {
  if (!model || net >= model->loaded->model().nets.size())
    return nullptr;
  const auto &stages = model->loaded->model().nets[net].stages;
  return stage < stages.size() ? &stages[stage] : nullptr;
}

/// The number of a type in the interface.
tpuc_type typeOf(DataType type) {
  constexpr std::array<std::pair<DataType, tpuc_type>, kAllDataTypes.size()> kTypes = {{
      {DataType::F64, TPUC_F64},
      {DataType::F32, TPUC_F32},
      {DataType::F16, TPUC_F16},
      {DataType::BF16, TPUC_BF16},
      {DataType::F8E4M3FN, TPUC_F8E4M3FN},
      {DataType::F8E5M2, TPUC_F8E5M2},
      {DataType::F8E4M3FNUZ, TPUC_F8E4M3FNUZ},
      {DataType::F8E5M2FNUZ, TPUC_F8E5M2FNUZ},
      {DataType::I4, TPUC_I4},
      {DataType::U4, TPUC_U4},
      {DataType::I8, TPUC_I8},
      {DataType::U8, TPUC_U8},
      {DataType::I16, TPUC_I16},
      {DataType::U16, TPUC_U16},
      {DataType::I32, TPUC_I32},
      {DataType::U32, TPUC_U32},
      {DataType::I64, TPUC_I64},
      {DataType::U64, TPUC_U64},
      {DataType::Bool, TPUC_BOOL},
  }};
  return std::ranges::find(kTypes, type, &std::pair<DataType, tpuc_type>::first)->second;
}

/// `tensor` in a shape that lives as long as `info`.
Expected<void> describe(const model::TensorInfo &tensor, const std::vector<uint64_t> &shape,
                        tpuc_tensor_info *info) {
  const auto type = tensor.knownType(tensor.name);
  if (!type)
    return tl::unexpected(type.error());
  const auto checked = checkedShape(shape, *type, tensor.name);
  if (!checked)
    return tl::unexpected(checked.error());
  *info = {tensor.name.c_str(),
           typeOf(*type),
           shape.size(),
           shape.data(),
           static_cast<size_t>(checked->numElements()),
           static_cast<size_t>(byteSize(*type, checked->numElements())),
           tensor.scale,
           tensor.zeroPoint};
  return {};
}

tpuc_status describe(const std::vector<model::TensorInfo> *tensors, size_t index,
                     tpuc_tensor_info *info, tpuc_error *error) {
  if (!tensors || index >= tensors->size())
    return badArgument(error, "no such net, stage or tensor");
  if (!info)
    return badArgument(error, "info is null");
  const model::TensorInfo &tensor = (*tensors)[index];
  return guarded(error, TPUC_UNSUPPORTED, [&] { return describe(tensor, tensor.shape, info); });
}

/// The shape of input or output `index`, or nothing, with the error told.
const model::TensorInfo *findTensor(const tpuc_session *session,
                                    std::vector<model::TensorInfo> model::Stage::*list,
                                    size_t index, const void *data, tpuc_error *error) {
  if (!session || !data) {
    badArgument(error, session ? "the data is null" : "the session is null");
    return nullptr;
  }
  const auto &tensors = session->session->stage().*list;
  if (index < tensors.size())
    return &tensors[index];
  badArgument(error, fmt::format("tensor {} of {}", index, tensors.size()));
  return nullptr;
}

Expected<void> copyOut(const Tensor &tensor, void *data, size_t numBytes) {
  const std::span<const std::byte> bytes = tensor.rawBytes();
  if (numBytes != bytes.size())
    return makeError("output", fmt::format("room for {} bytes", numBytes),
                     fmt::format("{}", bytes.size()));
  std::memcpy(data, bytes.data(), bytes.size());
  return {};
}

} // namespace

const char *tpuc_version(void) { return TPUC_VERSION; }

tpuc_status tpuc_model_load(const char *path, tpuc_model **model, tpuc_error *error) {
  if (!path || !model)
    return badArgument(error, path ? "model is null" : "path is null");
  *model = nullptr;
  return guarded(error, TPUC_BAD_FILE, [&]() -> Expected<void> {
    auto loaded = LoadedModel::load(path);
    if (!loaded)
      return propagate(loaded);
    *model = new tpuc_model{std::move(*loaded)};
    return {};
  });
}

void tpuc_model_free(tpuc_model *model) { delete model; }

const char *tpuc_model_chip(const tpuc_model *model) {
  return model ? model->loaded->model().chip.c_str() : nullptr;
}

size_t tpuc_model_num_nets(const tpuc_model *model) {
  return model ? model->loaded->model().nets.size() : 0;
}

const char *tpuc_model_net_name(const tpuc_model *model, size_t net) {
  return net < tpuc_model_num_nets(model) ? model->loaded->model().nets[net].name.c_str() : nullptr;
}

size_t tpuc_model_num_stages(const tpuc_model *model, size_t net) {
  return net < tpuc_model_num_nets(model) ? model->loaded->model().nets[net].stages.size() : 0;
}

size_t tpuc_model_num_inputs(const tpuc_model *model, size_t net, size_t stage) {
  const model::Stage *found = findStage(model, net, stage);
  return found ? found->inputs.size() : 0;
}

size_t tpuc_model_num_outputs(const tpuc_model *model, size_t net, size_t stage) {
  const model::Stage *found = findStage(model, net, stage);
  return found ? found->outputs.size() : 0;
}

tpuc_status tpuc_model_input(const tpuc_model *model, size_t net, size_t stage, size_t index,
                             tpuc_tensor_info *info, tpuc_error *error) {
  const model::Stage *found = findStage(model, net, stage);
  return describe(found ? &found->inputs : nullptr, index, info, error);
}

tpuc_status tpuc_model_output(const tpuc_model *model, size_t net, size_t stage, size_t index,
                              tpuc_tensor_info *info, tpuc_error *error) {
  const model::Stage *found = findStage(model, net, stage);
  return describe(found ? &found->outputs : nullptr, index, info, error);
}

tpuc_status tpuc_model_input_picture(const tpuc_model *model, size_t net, size_t stage,
                                     size_t index, tpuc_picture_info *info, tpuc_error *error) {
  const model::Stage *found = findStage(model, net, stage);
  if (!found || index >= found->inputs.size())
    return badArgument(error, "no such net, stage or tensor");
  if (!info)
    return badArgument(error, "info is null");
  const model::TensorInfo &input = found->inputs[index];
  if (!input.picture)
    return badArgument(error, fmt::format("input '{}' takes no pictures; expected a file that was "
                                          "made with --fuse_preprocess",
                                          input.name));
  const model::PictureInfo &picture = *input.picture;
  const PictureBytes bytes(picture.format, picture.height, picture.width);
  constexpr int kStretched = 0, kPadded = 1, kPaddedBehind = 2, kFilled = 3;
  *info = {static_cast<tpuc_picture_format>(picture.format),
           static_cast<size_t>(picture.height),
           static_cast<size_t>(picture.width),
           bytes.planes().size(),
           picture.isVideoRange ? 1 : 0,
           !picture.keepsAspectRatio ? kStretched
           : picture.fillsFrame      ? kFilled
           : picture.isAtTopLeft     ? kPaddedBehind
                                     : kPadded,
           picture.padValue};
  return report(error, TPUC_OK, "");
}

tpuc_status tpuc_model_estimate_time(const tpuc_model *model, size_t net, size_t stage,
                                     tpuc_time_estimate *estimate, tpuc_error *error) {
  if (!findStage(model, net, stage))
    return badArgument(error, "no such net or stage");
  if (!estimate)
    return badArgument(error, "estimate is null");
  return guarded(error, TPUC_UNSUPPORTED, [&]() -> Expected<void> {
    const auto told = model->loaded->timing({static_cast<uint32_t>(net), //
                                             static_cast<uint32_t>(stage)});
    if (!told)
      return tl::unexpected(told.error());
    *estimate = {told->seconds(),   told->seconds(told->lastSet()),      told->busy(true),
                 told->busy(false), told->sets.front().macUtilisation(), told->bytesRead,
                 told->bytesWritten};
    return {};
  });
}

tpuc_status tpuc_session_create(const tpuc_model *model, size_t net, size_t stage,
                                unsigned num_threads, tpuc_session **session, tpuc_error *error) {
  if (!session)
    return badArgument(error, "session is null");
  *session = nullptr;
  if (!findStage(model, net, stage))
    return badArgument(error, "no such net or stage");
  return guarded(error, TPUC_UNSUPPORTED, [&]() -> Expected<void> {
    const StageRef ref{static_cast<uint32_t>(net), static_cast<uint32_t>(stage)};
    auto created = Session::create(model->loaded, ref, num_threads);
    if (!created)
      return propagate(created);
    *session = new tpuc_session{std::move(*created)};
    return {};
  });
}

void tpuc_session_free(tpuc_session *session) { delete session; }

tpuc_status tpuc_session_set_input(tpuc_session *session, size_t index, const void *data,
                                   size_t num_bytes, tpuc_error *error) {
  if (!findTensor(session, &model::Stage::inputs, index, data, error))
    return TPUC_BAD_ARGUMENT;
  return guarded(error, TPUC_BAD_ARGUMENT, [&] {
    return session->session->setInputBytes(index,
                                           {static_cast<const std::byte *>(data), num_bytes});
  });
}

tpuc_status tpuc_session_set_input_rows(tpuc_session *session, size_t index, const void *data,
                                        size_t size, size_t row_bytes, size_t stride,
                                        tpuc_error *error) {
  if (!findTensor(session, &model::Stage::inputs, index, data, error))
    return TPUC_BAD_ARGUMENT;
  return guarded(error, TPUC_BAD_ARGUMENT, [&] {
    return session->session->setInputRows(index, {static_cast<const std::byte *>(data), size},
                                          row_bytes, stride);
  });
}

tpuc_status tpuc_session_set_input_pictures(tpuc_session *session, size_t index,
                                            const tpuc_picture *pictures, size_t num_pictures,
                                            tpuc_error *error) {
  if (!findTensor(session, &model::Stage::inputs, index, pictures, error))
    return TPUC_BAD_ARGUMENT;
  constexpr size_t kMostExtent = size_t(1) << 24;
  return guarded(error, TPUC_BAD_ARGUMENT, [&]() -> Expected<void> {
    std::vector<PictureView> views;
    const model::TensorInfo &input = session->session->stage().inputs[index];
    // Before what is behind the pointer is read.
    if (input.picture && num_pictures != input.shape[0])
      return makeError(input.name, fmt::format("{} pictures", num_pictures),
                       fmt::format("{}, the items of {}", input.shape[0], formatInput(input)));
    for (size_t item = 0; input.picture && item < num_pictures; ++item) {
      const tpuc_picture &picture = pictures[item];
      const auto format = static_cast<unsigned>(picture.format);
      if (format >= kPictureFormatNames.size() || picture.height > kMostExtent ||
          picture.width > kMostExtent)
        return makeError(
            "",
            fmt::format("format {}, {} rows of {} pixels", format, picture.height, picture.width),
            "a tpuc_picture_format, at most 2^24 rows and pixels");
      PictureView &view = views.emplace_back();
      view.format = static_cast<PictureFormat>(format);
      view.height = static_cast<int64_t>(picture.height);
      view.width = static_cast<int64_t>(picture.width);
      for (size_t plane = 0; plane < view.planes.size(); ++plane) {
        view.planes[plane] = static_cast<const std::byte *>(picture.planes[plane]);
        view.strides[plane] = picture.strides[plane];
      }
    }
    return session->session->setInputPictures(index, views);
  });
}

tpuc_status tpuc_session_set_input_f32(tpuc_session *session, size_t index, const float *values,
                                       size_t num_elements, tpuc_error *error) {
  if (!findTensor(session, &model::Stage::inputs, index, values, error))
    return TPUC_BAD_ARGUMENT;
  if (num_elements > SIZE_MAX / 16)
    return badArgument(error, fmt::format("{} elements", num_elements));
  return guarded(error, TPUC_BAD_ARGUMENT, [&] {
    const auto count = static_cast<int64_t>(num_elements);
    // The session converts, which copies, before it keeps anything.
    const Tensor borrowed = Tensor::borrow(DataType::F32, Shape{count}, values, nullptr);
    return session->session->setInput(index, borrowed.clone());
  });
}

tpuc_status tpuc_session_run(tpuc_session *session, tpuc_error *error) {
  if (!session)
    return badArgument(error, "the session is null");
  return guarded(error, TPUC_RUN_FAILED, [&] { return session->session->run(); });
}

tpuc_status tpuc_session_output(tpuc_session *session, size_t index, tpuc_tensor_info *info,
                                tpuc_error *error) {
  const auto *tensor = findTensor(session, &model::Stage::outputs, index, info, error);
  if (!tensor)
    return TPUC_BAD_ARGUMENT;
  return guarded(error, TPUC_BAD_ARGUMENT, [&]() -> Expected<void> {
    const auto output = session->session->output(index);
    if (!output)
      return tl::unexpected(output.error());
    session->shapes.resize(session->session->stage().outputs.size());
    session->shapes[index].assign(output->shape().begin(), output->shape().end());
    return describe(*tensor, session->shapes[index], info);
  });
}

tpuc_status tpuc_session_get_output(const tpuc_session *session, size_t index, void *data,
                                    size_t num_bytes, tpuc_error *error) {
  if (!findTensor(session, &model::Stage::outputs, index, data, error))
    return TPUC_BAD_ARGUMENT;
  return guarded(error, TPUC_BAD_ARGUMENT, [&]() -> Expected<void> {
    const auto tensor = session->session->output(index);
    return tensor ? copyOut(*tensor, data, num_bytes) : tl::unexpected(tensor.error());
  });
}

tpuc_status tpuc_session_get_output_f32(const tpuc_session *session, size_t index, float *values,
                                        size_t num_elements, tpuc_error *error) {
  const auto *info = findTensor(session, &model::Stage::outputs, index, values, error);
  if (!info)
    return TPUC_BAD_ARGUMENT;
  if (num_elements > SIZE_MAX / 16)
    return badArgument(error, fmt::format("room for {} elements", num_elements));
  return guarded(error, TPUC_BAD_ARGUMENT, [&]() -> Expected<void> {
    const auto tensor = session->session->output(index);
    if (!tensor)
      return tl::unexpected(tensor.error());
    const Tensor real = fromStored(*tensor, info->scale, info->zeroPoint, false);
    return copyOut(convert(real, DataType::F32), values, num_elements * sizeof(float));
  });
}
