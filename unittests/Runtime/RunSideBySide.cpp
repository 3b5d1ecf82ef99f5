//===- RunSideBySide.cpp - Model files at the same time, in one process ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: RunSideBySide COUNT FILE...
//
// Runs the first net of each model file by the C interface: first alone, then COUNT times on a
// thread of its own, with all files at the same time. Every other run loads the file anew, and
// every third one shares its work among two threads. Outputs must have the bytes of the run alone.
// Prints a line for each file; the status is 1 when a run fails or gives other bytes.
//
//===----------------------------------------------------------------------===//

#include "runtime/tpuc_runtime.h"

#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using ModelHandle = std::unique_ptr<tpuc_model, decltype(&tpuc_model_free)>;
using SessionHandle = std::unique_ptr<tpuc_session, decltype(&tpuc_session_free)>;
using Bytes = std::vector<unsigned char>;

/// A file with what its runs gave.
struct Subject {
  const char *path;
  std::string chip = {};
  Bytes alone = {};
  int numSame = 0;
  /// Of the last run that failed or gave other bytes.
  std::string fault = {};
};

ModelHandle load(const char *path, tpuc_error &error) {
  tpuc_model *model = nullptr;
  tpuc_model_load(path, &model, &error);
  return {model, tpuc_model_free};
}

/// Numbers from -1 to 1 without a pattern of a short period, the same ones in every run.
std::vector<float> noise(size_t count) {
  std::vector<float> values(count);
  uint32_t state = 1;
  for (float &value : values) {
    state = state * 1664525 + 1013904223;
    value = static_cast<float>(state >> 8) / static_cast<float>(1 << 23) - 1;
  }
  return values;
}

/// All outputs of a new session, one behind the other. Empty, with `error`, where a call fails.
Bytes run(const tpuc_model *model, unsigned numThreads, tpuc_error &error) {
  tpuc_session *made = nullptr;
  if (tpuc_session_create(model, 0, 0, numThreads, &made, &error))
    return {};
  const SessionHandle session(made, tpuc_session_free);
  tpuc_tensor_info info;
  for (size_t i = 0; i < tpuc_model_num_inputs(model, 0, 0); ++i) {
    if (tpuc_model_input(model, 0, 0, i, &info, &error))
      return {};
    const std::vector<float> values = noise(info.num_elements);
    if (tpuc_session_set_input_f32(made, i, values.data(), values.size(), &error))
      return {};
  }
  if (tpuc_session_run(made, &error))
    return {};
  Bytes outputs;
  for (size_t i = 0; i < tpuc_model_num_outputs(model, 0, 0); ++i) {
    if (tpuc_session_output(made, i, &info, &error))
      return {};
    const size_t begin = outputs.size();
    outputs.resize(begin + info.num_bytes);
    if (tpuc_session_get_output(made, i, &outputs[begin], info.num_bytes, &error))
      return {};
  }
  return outputs;
}

/// What a thread does for its file.
void repeat(Subject &subject, int count) {
  tpuc_error error = {TPUC_OK, ""};
  ModelHandle model = load(subject.path, error);
  for (int i = 0; i < count; ++i) {
    if (i % 2 == 1)
      model = load(subject.path, error);
    const Bytes outputs = run(model.get(), i % 3 == 2 ? 2 : 1, error);
    if (outputs == subject.alone)
      ++subject.numSame;
    else
      subject.fault = outputs.empty() ? error.message : "other bytes than alone";
  }
}

} // namespace

int main(int argc, char **argv) {
  const int count = argc > 2 ? std::atoi(argv[1]) : 0;
  if (count < 1) {
    std::fputs("usage: RunSideBySide COUNT FILE...\n", stderr);
    return 1;
  }
  std::vector<Subject> subjects;
  for (int i = 2; i < argc; ++i) {
    tpuc_error error = {TPUC_OK, ""};
    Subject subject{argv[i]};
    if (const ModelHandle model = load(argv[i], error)) {
      subject.chip = tpuc_model_chip(model.get());
      subject.alone = run(model.get(), 1, error);
    }
    if (subject.alone.empty()) {
      std::fprintf(stderr, "%s\n", error.message);
      return 1;
    }
    subjects.push_back(std::move(subject));
  }

  std::barrier ready(static_cast<std::ptrdiff_t>(subjects.size()));
  std::vector<std::thread> threads;
  threads.reserve(subjects.size());
  for (Subject &subject : subjects)
    threads.emplace_back([&] {
      ready.arrive_and_wait();
      repeat(subject, count);
    });
  for (std::thread &thread : threads)
    thread.join();

  int result = 0;
  for (const Subject &subject : subjects) {
    std::printf("%s: %d of %d runs gave the bytes of the run alone\n", subject.chip.c_str(),
                subject.numSame, count);
    if (subject.numSame < count) {
      std::printf("%s: %s\n", subject.path, subject.fault.c_str());
      result = 1;
    }
  }
  return result;
}
