//===- ConvolutionDnnl.cpp - f32 convolutions by oneDNN -------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/ConvolutionDnnl.h"
#include "tpuc/Interpreter/Kernels/Dnnl.h"

#include <atomic>

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

using Memory = dnnl::memory;
using Desc = dnnl::memory::desc;

/// A compiled convolution of one sample, with its filter in the layout it asks for.
struct Compiled {
  Shape input;
  Shape output;
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::primitive primitive;
  Desc scratchpad;
  Desc plainSource, source;
  Desc plainResult, result;
  Memory filter;
  Memory bias;
};

Memory::dims sampleDims(const Shape &shape) {
  Memory::dims dims(shape.begin(), shape.end());
  dims[0] = 1;
  return dims;
}

/// The filter as oneDNN counts its axes, in the strides in which it lies: [group,] outputs, inputs,
/// kernel. A transposed convolution's is stored with inputs first.
Desc filterDesc(bool transposed, const Tensor &filter, int64_t group) {
  const Shape &shape = filter.shape();
  Shape strides = shape.strides();
  Memory::dims dims;
  Memory::dims order;
  int64_t perGroup = shape[0] / group;
  if (group > 1) {
    dims.push_back(group);
    order.push_back(perGroup * strides[0]);
  }
  size_t first = transposed ? 1 : 0;
  dims.insert(dims.end(), {transposed ? shape[1] : perGroup, transposed ? perGroup : shape[1]});
  order.insert(order.end(), {strides[first], strides[1 - first]});
  for (size_t axis = 2; axis < shape.rank(); ++axis) {
    dims.push_back(shape[axis]);
    order.push_back(strides[axis]);
  }
  return {dims, Memory::data_type::f32, order};
}

/// The same extents, in whatever layout oneDNN likes.
Desc anyLayout(const Desc &desc) {
  return {desc.dims(), Memory::data_type::f32, Memory::format_tag::any};
}

/// Copies into another layout.
void reorder(Memory &from, Memory &to, const dnnl::engine &engine) {
  dnnl::stream stream(engine);
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
}

template <typename Primitive>
void compile(Compiled &compiled, const typename Primitive::desc &desc,
             const dnnl::primitive_attr &attributes, const Desc &plainFilter,
             const Tensor &filter) {
  typename Primitive::primitive_desc primitive(desc, attributes, compiled.engine);
  compiled.primitive = Primitive(primitive);
  compiled.scratchpad = primitive.scratchpad_desc();
  compiled.source = primitive.src_desc();
  compiled.result = primitive.dst_desc();
  Memory from = wrap(plainFilter, compiled.engine, filter.data<float>().data());
  compiled.filter = Memory(primitive.weights_desc(), compiled.engine);
  reorder(from, compiled.filter, compiled.engine);
}

std::shared_ptr<Compiled> make(bool transposed, const Tensor &input, const Tensor &filter,
                               const Tensor *bias, const ConvParams &params, const Tensor &output) {
  auto compiled = std::make_shared<Compiled>();
  compiled->input = input.shape();
  compiled->output = output.shape();
  compiled->plainSource = plainDesc(sampleDims(input.shape()));
  compiled->plainResult = plainDesc(sampleDims(output.shape()));
  Desc plainFilter = filterDesc(transposed, filter, params.group);
  const WindowParams &window = params.window;
  Memory::dims dilations;
  Memory::dims padsEnd;
  for (size_t axis = 0; axis < window.kernel.size(); ++axis) {
    dilations.push_back(window.dilations[axis] - 1);
    int64_t reach = (window.kernel[axis] - 1) * window.dilations[axis] + 1;
    int64_t small = transposed ? input.shape()[axis + 2] : output.shape()[axis + 2];
    int64_t large = transposed ? output.shape()[axis + 2] : input.shape()[axis + 2];
    padsEnd.push_back((small - 1) * window.strides[axis] + reach - large - window.padsBegin[axis]);
  }
  dnnl::primitive_attr attributes = dnnlAttributes(params.doRelu, params.reluLimit);
  Desc biasDesc;
  if (bias) {
    biasDesc = plainDesc({bias->numElements()});
    compiled->bias = Memory(biasDesc, compiled->engine);
    auto values = bias->data<float>();
    std::copy(values.begin(), values.end(), static_cast<float *>(compiled->bias.get_data_handle()));
  }
  auto source = anyLayout(compiled->plainSource);
  auto weights = anyLayout(plainFilter);
  auto result = anyLayout(compiled->plainResult);
  constexpr auto kInference = dnnl::prop_kind::forward_inference;
  if (transposed)
    compile<dnnl::deconvolution_forward>(*compiled,
                                         {kInference, dnnl::algorithm::deconvolution_direct, source,
                                          weights, biasDesc, result, window.strides, dilations,
                                          window.padsBegin, padsEnd},
                                         attributes, plainFilter, filter);
  else
    compile<dnnl::convolution_forward>(*compiled,
                                       {kInference, dnnl::algorithm::convolution_direct, source,
                                        weights, biasDesc, result, window.strides, dilations,
                                        window.padsBegin, padsEnd},
                                       attributes, plainFilter, filter);
  return compiled;
}

void runSample(const Compiled &compiled, const float *from, float *to) {
  const dnnl::engine &engine = compiled.engine;
  Memory source = wrap(compiled.plainSource, engine, from);
  if (compiled.source != compiled.plainSource) {
    Memory blocked(compiled.source, engine);
    reorder(source, blocked, engine);
    source = blocked;
  }
  Memory plainResult = wrap(compiled.plainResult, engine, to);
  bool isPlain = compiled.result == compiled.plainResult;
  Memory result = isPlain ? plainResult : Memory(compiled.result, engine);
  std::unordered_map<int, Memory> arguments = {
      {DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, compiled.filter}, {DNNL_ARG_DST, result}};
  if (compiled.bias)
    arguments.emplace(DNNL_ARG_BIAS, compiled.bias);
  runDnnl(compiled.primitive, compiled.scratchpad, engine, arguments);
  if (!isPlain)
    reorder(result, plainResult, engine);
}

} // namespace

bool kernels::convolveDnnl(bool transposed, const Tensor &input, const Tensor &filter,
                           const Tensor *bias, const ConvParams &params, Tensor &output,
                           ThreadPool &threads, KernelCache *cache) {
  try {
    SingleDnnlThread single;
    KernelCache once;
    auto compiled = (cache ? cache : &once)
                        ->get<Compiled>(
                            [&](const Compiled &kept) {
                              return kept.input == input.shape() && kept.output == output.shape();
                            },
                            [&] { return make(transposed, input, filter, bias, params, output); });
    const float *from = input.data<float>().data();
    float *to = output.mutableData<float>().data();
    int64_t samples = input.shape()[0];
    int64_t fromSize = input.numElements() / samples;
    int64_t toSize = output.numElements() / samples;
    std::atomic<bool> failed = false;
    threads.parallelFor(samples, 1, [&](int64_t begin, int64_t end) {
      try {
        SingleDnnlThread singleToo;
        for (int64_t sample = begin; sample < end; ++sample)
          runSample(*compiled, from + sample * fromSize, to + sample * toSize);
      } catch (const dnnl::error &) {
        failed = true;
      }
    });
    return !failed;
  } catch (const dnnl::error &) {
    return false;
  }
}
