//===- IntegerBench.cpp - 8-bit convolutions beside those in f32 ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// integer [RUNS]: for each convolution of EfficientNet-Lite0 the best of RUNS (default 30) runs in
// one thread: 8-bit with requantization, and f32 on the blocked layout, each with its weights
// packed. Below, the sums over the network. Some of ResNet-50 are shown beside.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Blocked.h"
#include "tpuc/Interpreter/Kernels/CompiledKernel.h"
#include "tpuc/Interpreter/Kernels/IntegerConvolution.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

/// A convolution of square pictures, padded as TensorFlow's SAME does it.
struct Layer {
  int64_t times, channels, size, outputs, kernel, stride;
  bool isDepthwise;
};

constexpr Layer kLayers[] = {
    {1, 3, 224, 32, 3, 2, false},
    {1, 32, 112, 32, 3, 1, true},
    {1, 32, 112, 16, 1, 1, false},
    {1, 16, 112, 96, 1, 1, false},
    {1, 96, 112, 96, 3, 2, true},
    {1, 96, 56, 24, 1, 1, false},
    {2, 24, 56, 144, 1, 1, false},
    {1, 144, 56, 144, 3, 1, true},
    {1, 144, 56, 24, 1, 1, false},
    {1, 144, 56, 144, 5, 2, true},
    {1, 144, 28, 40, 1, 1, false},
    {2, 40, 28, 240, 1, 1, false},
    {1, 240, 28, 240, 5, 1, true},
    {1, 240, 28, 40, 1, 1, false},
    {1, 240, 28, 240, 3, 2, true},
    {1, 240, 14, 80, 1, 1, false},
    {3, 80, 14, 480, 1, 1, false},
    {2, 480, 14, 480, 3, 1, true},
    {2, 480, 14, 80, 1, 1, false},
    {1, 480, 14, 480, 5, 1, true},
    {1, 480, 14, 112, 1, 1, false},
    {3, 112, 14, 672, 1, 1, false},
    {2, 672, 14, 672, 5, 1, true},
    {2, 672, 14, 112, 1, 1, false},
    {1, 672, 14, 672, 5, 2, true},
    {1, 672, 7, 192, 1, 1, false},
    {4, 192, 7, 1152, 1, 1, false},
    {3, 1152, 7, 1152, 5, 1, true},
    {3, 1152, 7, 192, 1, 1, false},
    {1, 1152, 7, 1152, 3, 1, true},
    {1, 1152, 7, 320, 1, 1, false},
    {1, 320, 7, 1280, 1, 1, false},
    // Of ResNet-50, outside of the sums.
    {0, 3, 224, 64, 7, 2, false},
    {0, 64, 56, 64, 3, 1, false},
    {0, 128, 56, 128, 3, 2, false},
    {0, 256, 14, 256, 3, 1, false},
    {0, 512, 7, 512, 3, 1, false},
};

/// The best of several runs, in seconds; the first does not count.
template <typename Function> double secondsOf(int runs, Function function) {
  function();
  double best = 1e30;
  for (int i = 0; i < runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    function();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    best = std::min(best, elapsed.count());
  }
  return best;
}

struct Shapes {
  Shape input, filter, output;
  ConvParams params;

  explicit Shapes(const Layer &layer) {
    const int64_t size = (layer.size + layer.stride - 1) / layer.stride;
    const int64_t pads =
        std::max<int64_t>((size - 1) * layer.stride + layer.kernel - layer.size, 0);
    const int64_t group = layer.isDepthwise ? layer.channels : 1;
    input = {1, layer.channels, layer.size, layer.size};
    filter = {layer.outputs, layer.channels / group, layer.kernel, layer.kernel};
    output = {1, layer.outputs, size, size};
    const auto two = [](int64_t value) { return std::vector<int64_t>(2, value); };
    params.window = {two(layer.kernel), two(layer.stride), two(1), two(pads / 2),
                     two(pads - pads / 2)};
    params.group = group;
  }
};

double integerSeconds(const Shapes &shapes, int runs, ThreadPool &threads) {
  std::mt19937 random(1);
  Tensor input(DataType::U8, shapes.input);
  Tensor filter(DataType::I8, shapes.filter);
  Tensor bias(DataType::I32, Shape{shapes.output[1]});
  Tensor output(DataType::U8, shapes.output);
  for (Tensor *tensor : {&input, &filter})
    for (std::byte &byte : tensor->mutableBytes())
      byte = static_cast<std::byte>(random());
  RequantParams requant;
  requant.factors.assign(static_cast<size_t>(shapes.output[1]), {1500000000, 40});
  requant.range = integerRange<uint8_t>();
  const IntegerConvParams params{shapes.params.window, shapes.params.group, 0, requant};
  KernelCache cache;
  return secondsOf(runs,
                   [&] { integerConvolve(input, filter, &bias, params, output, threads, &cache); });
}

double floatSeconds(const Shapes &shapes, int runs, ThreadPool &threads) {
  const Tensor filter(DataType::F32, shapes.filter);
  const Tensor bias(DataType::F32, Shape{shapes.output[1]});
  const bool isPlain = takesPlainInput(shapes.input, shapes.filter, shapes.params);
  const Tensor input(DataType::F32, isPlain ? shapes.input : blockedShape(shapes.input));
  Tensor output(DataType::F32, blockedShape(shapes.output));
  const auto kernel = makeConvolution(shapes.input, shapes.output, filter, &bias, shapes.params);
  const float *operand = input.data<float>().data();
  float *result = output.mutableData<float>().data();
  return secondsOf(runs, [&] { kernel->run({&operand, 1}, result, threads); });
}

} // namespace

int main(int argc, char **argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 30;
  if (runs < 1) {
    std::fputs("usage: integer [RUNS]\n", stderr);
    return 2;
  }
  ThreadPool threads(1);
  double integerSum = 0;
  double floatSum = 0;
  double products = 0;
  std::printf("%-36s %8s %8s %8s %8s %6s\n", "", "8-bit us", "f32 us", "8b GMAC/s", "GMAC/s",
              "ratio");
  for (const Layer &layer : kLayers) {
    const Shapes shapes(layer);
    const double macs = static_cast<double>(shapes.output.numElements() *
                                            (shapes.filter.numElements() / layer.outputs));
    const double integer = integerSeconds(shapes, runs, threads);
    const double floats = floatSeconds(shapes, runs, threads);
    std::printf("%lld x %-15s %-15s/%lld %8.1f %8.1f %8.1f %8.1f %6.2f\n",
                static_cast<long long>(layer.times), shapes.input.str().c_str(),
                shapes.filter.str().c_str(), static_cast<long long>(layer.stride), integer * 1e6,
                floats * 1e6, macs / integer * 1e-9, macs / floats * 1e-9, floats / integer);
    const auto times = static_cast<double>(layer.times);
    integerSum += times * integer;
    floatSum += times * floats;
    products += times * macs;
  }
  std::printf("all convolutions: 8-bit %.2f ms (%.1f GMAC/s), f32 %.2f ms (%.1f GMAC/s), "
              "f32 / 8-bit %.2f\n",
              integerSum * 1e3, products / integerSum * 1e-9, floatSum * 1e3,
              products / floatSum * 1e-9, floatSum / integerSum);
  return 0;
}
