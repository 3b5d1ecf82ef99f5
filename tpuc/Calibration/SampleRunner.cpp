//===- SampleRunner.cpp - Samples run through a network, several at once --===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Calibration/SampleRunner.h"
#include "tpuc/Calibration/Statistics.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/Progress.h"
#include "tpuc/Support/ThreadPool.h"

#include <atomic>
#include <mutex>
#include <new>
#include <numeric>
#include <thread>

using namespace tpuc;

FloatElements::FloatElements(const Tensor &tensor) : tensor(convert(tensor, DataType::F32)) {}

struct SampleRunner::State {
  State(SampleSource given, unsigned numThreads) : source(std::move(given)), threads(numThreads) {}

  Expected<void> runOne(int64_t sample);
  Expected<void> checkInputs(int64_t sample, const TensorMap &inputs) const;
  int64_t sampleOfThisThread();

  SampleSource source;
  ThreadPool threads;
  std::unique_ptr<Interpreter> interpreter;
  const Visit *visit = nullptr;
  std::mutex mutex;
  std::map<std::thread::id, int64_t> running;
};

int64_t SampleRunner::State::sampleOfThisThread() {
  std::lock_guard lock(mutex);
  return running.at(std::this_thread::get_id());
}

Expected<void> SampleRunner::State::checkInputs(int64_t sample, const TensorMap &inputs) const {
  for (const auto &[name, tensor] : inputs) {
    if (!isFloat(tensor.type()))
      continue;
    TensorRange range;
    range.add(FloatElements(tensor).values());
    if (range.numNan() + range.numInfinite() > 0)
      return makeError(source.name(sample),
                       "input '" + name + "' holds " + (range.numNan() > 0 ? "nan" : "infinity"),
                       "finite values");
  }
  return {};
}

Expected<void> SampleRunner::State::runOne(int64_t sample) {
  Expected<TensorMap> inputs = source.read(sample);
  if (!inputs)
    return propagate(inputs);
  if (Expected<void> checked = checkInputs(sample, *inputs); !checked)
    return checked;
  {
    std::lock_guard lock(mutex);
    running[std::this_thread::get_id()] = sample;
  }
  if (Expected<TensorMap> outputs = interpreter->run(*inputs); !outputs)
    return makeError(source.name(sample) + ": " + outputs.error().where, outputs.error().found,
                     outputs.error().expected);
  return {};
}

SampleRunner::SampleRunner(std::unique_ptr<State> state) : state(std::move(state)) {}
SampleRunner::~SampleRunner() = default;

int64_t SampleRunner::numSamples() const { return state->source.count; }

Expected<std::unique_ptr<SampleRunner>>
SampleRunner::create(mlir::ModuleOp module, SampleSource source, unsigned numThreads) {
  auto state = std::make_unique<State>(std::move(source), numThreads);
  InterpreterOptions options;
  options.numThreads = 1;
  options.probe = [state = state.get()](const std::string &name, const Tensor &tensor) {
    return (*state->visit)(state->sampleOfThisThread(), name, tensor);
  };
  Expected<std::unique_ptr<Interpreter>> interpreter =
      Interpreter::create(module, std::move(options));
  if (!interpreter)
    return propagate(interpreter);
  state->interpreter = std::move(*interpreter);
  return std::unique_ptr<SampleRunner>(new SampleRunner(std::move(state)));
}

Expected<void> SampleRunner::run(int64_t begin, int64_t end, const std::string &label,
                                 const Visit &visit) {
  std::vector<int64_t> samples(static_cast<size_t>(end - begin));
  std::iota(samples.begin(), samples.end(), begin);
  return run(samples, label, visit);
}

Expected<void> SampleRunner::run(std::span<const int64_t> samples, const std::string &label,
                                 const Visit &visit) {
  state->visit = &visit;
  Progress progress(label, std::ssize(samples));
  std::vector<Expected<void>> results(samples.size());
  // Samples before a failed one must still run: theirs may be the first error.
  std::atomic<int64_t> firstFailed = std::ssize(samples);
  state->threads.parallelFor(std::ssize(samples), 1, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to && i < firstFailed; ++i) {
      Expected<void> &result = results[static_cast<size_t>(i)];
      const int64_t sample = samples[static_cast<size_t>(i)];
      try {
        result = state->runOne(sample);
      } catch (const std::bad_alloc &) {
        result = makeError(state->source.name(sample), "not enough memory");
      }
      progress.advance();
      for (int64_t known = firstFailed; !result && i < known;)
        if (firstFailed.compare_exchange_weak(known, i))
          break;
    }
  });
  state->visit = nullptr;
  for (Expected<void> &result : results)
    if (!result)
      return propagate(result);
  return {};
}
