//===- Session.h - Model files, loaded and run ------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_SESSION_H
#define RUNTIME_SESSION_H

#include "runtime/CpuSubNet.h"
#include "tpuc/Model/Container.h"
#include "tpuc/Model/TimingResult.h"
#include "tpuc/Support/Tensor.h"

#include <array>
#include <mutex>
#include <optional>

namespace tpuc::runtime {

/// The kinds of model files and the chips that a program knows: all that there are, by default.
struct Platform {
  model::Containers containers = model::containers();
  DeviceDrivers drivers = deviceDrivers();
};

/// A stage of a net: indices into `CompiledModel::nets` and `Net::stages`.
struct StageRef {
  uint32_t net = 0, stage = 0;
  friend auto operator<=>(const StageRef &, const StageRef &) = default;
};

/// The sub-nets of a stage, ready to run.
struct LoadedStage {
  /// In the order in which they run: indices into `Stage::subNets`, and what the host computes.
  struct Step {
    uint32_t subNet = 0;
    /// Null for sub-nets of the chip.
    std::shared_ptr<const CpuSubNet> cpu = nullptr;
  };
  std::vector<Step> steps;
  std::shared_ptr<const Program> program;

  /// The names of the layers that the host computes.
  std::vector<std::string> cpuLayers() const;
};

/// A model file and the programs of the stages that were asked for. For any number of threads.
class LoadedModel {
public:
  /// Maps the file `path`. Errors: those of `Container::read`, files of another kind, a chip that
  /// nothing here simulates.
  static Expected<std::shared_ptr<const LoadedModel>> load(const std::string &path,
                                                           const Platform &platform = {});
  /// The same for a model in memory; `where` names it in errors.
  static Expected<std::shared_ptr<const LoadedModel>>
  create(model::CompiledModel model, std::string where, const Platform &platform = {});

  const model::CompiledModel &model() const { return contents; }
  const DeviceDriver &driver() const { return *driverValue; }
  const std::string &where() const { return place; }
  const model::Stage &stage(StageRef ref) const { return contents.nets[ref.net].stages[ref.stage]; }
  /// `FILE: net 'n', stage 0`.
  std::string placeOf(StageRef ref) const;

  /// The index of the net of that name; an empty name: of the only net. Errors say which there are.
  Expected<uint32_t> findNet(std::string_view name) const;

  /// Checked and decoded on first use. Errors: commands that are not legal, ops of the host that
  /// this runtime does not know, and `Stage::refusal`.
  Expected<std::shared_ptr<const LoadedStage>> program(StageRef ref) const;

  /// When each command of a run takes place, by the chip's timing model; with the layers, where the
  /// file names them. What the host computes takes no time, and is named. Errors: as `program`, and
  /// those of `DeviceDriver::time`.
  Expected<model::TimingResult> timing(StageRef ref) const;

private:
  LoadedModel() = default;

  model::CompiledModel contents;
  const DeviceDriver *driverValue = nullptr;
  std::string place;
  mutable std::mutex mutex;
  mutable std::vector<std::pair<StageRef, std::shared_ptr<const LoadedStage>>> programs;
};

/// A picture in buffers of the caller, as cameras and decoders have them.
struct PictureView {
  PictureFormat format = PictureFormat::BgrPlanar;
  /// In pixels.
  int64_t height = 0, width = 0;
  /// For each plane of `PictureBytes::planes` its first byte, and the bytes from row to row.
  std::array<const std::byte *, 4> planes = {};
  std::array<size_t, 4> strides = {};
};

/// One stage on a simulated device of its own. Not for two threads at once.
class Session {
public:
  /// `numThreads` 0: all cores.
  static Expected<std::unique_ptr<Session>> create(std::shared_ptr<const LoadedModel> model,
                                                   StageRef ref, unsigned numThreads);

  const model::Stage &stage() const { return loaded->stage(ref); }

  /// Converts (`toStored`) and keeps the input. `index` must exist.
  Expected<void> setInput(size_t index, const Tensor &tensor);
  /// The input as the net stores it. Errors: another number of bytes than the shape takes.
  Expected<void> setInputBytes(size_t index, std::span<const std::byte> bytes);
  /// The same from rows of `rowBytes` bytes that begin `stride` bytes apart. Errors: rows of which
  /// the input has no whole number, that overlap, or that end beyond `bytes`.
  Expected<void> setInputRows(size_t index, std::span<const std::byte> bytes, size_t rowBytes,
                              size_t stride);
  /// One picture for each item of the batch, for an input of which the file says what pictures it
  /// takes. Errors: an input that takes none, another number, format or extents, a plane that is
  /// null, rows that overlap.
  Expected<void> setInputPictures(size_t index, std::span<const PictureView> pictures);
  /// Runs the net. Errors: inputs that were never set, what only the data can show.
  Expected<void> run(const RunHooks &hooks = {});
  /// How long the layers of the host took in the last run, on this machine.
  double hostSeconds() const { return secondsOnHost; }
  /// The output of the last run as the net stores it, in its real shape where only the data show
  /// that. `index` must exist.
  Expected<Tensor> output(size_t index) const;
  /// The same without a copy where its place is aligned: it changes with the next run, and ends
  /// with the session.
  Expected<Tensor> viewOutput(size_t index) const;
  /// A copy of any tensor of the activations, as it is now.
  Expected<Tensor> read(const model::TensorInfo &info) const;

private:
  /// Of the activations, as it is now; aligned for its elements or not.
  Expected<Tensor> view(const model::TensorInfo &info) const;
  /// Room for input `index` as the net stores it.
  Expected<Tensor> inputRoom(size_t index) const;
  Session(std::shared_ptr<const LoadedModel> model, StageRef ref)
      : loaded(std::move(model)), ref(ref) {}

  std::shared_ptr<const LoadedModel> loaded;
  StageRef ref;
  std::shared_ptr<const LoadedStage> program;
  std::unique_ptr<Device> device;
  /// Of the layers that the host computes; none where there are none.
  std::unique_ptr<ThreadPool> threads;
  /// Copied to the device before each run, whose commands may use their place for something else.
  std::vector<std::optional<Tensor>> inputs;
  /// Outputs that have no place on the device.
  std::vector<std::optional<Tensor>> results;
  bool hasRun = false;
  double secondsOnHost = 0;
};

} // namespace tpuc::runtime

#endif // RUNTIME_SESSION_H
