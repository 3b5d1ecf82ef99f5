//===- Matrix.cpp - Products of matrices ----------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Matrix.h"
#include "tpuc/Interpreter/Kernels/Gemm.h"
#include "tpuc/Interpreter/Kernels/MatrixBatch.h"
#include "tpuc/Interpreter/Kernels/Movement.h"
#include "tpuc/Interpreter/Kernels/PackedMatMul.h"
#include "tpuc/Interpreter/Kernels/Parallel.h"
#include "tpuc/Interpreter/Kernels/Unary.h"

#include <algorithm>
#include <limits>
#include <numeric>

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

/// max(x, 0), and at most the limit.
void limit(Tensor &output, const MatMulParams &params, ThreadPool &threads) {
  clip(output, 0.0,
       params.reluLimit < 0 ? std::numeric_limits<double>::infinity() : params.reluLimit, output,
       threads);
}

/// A product with a constant right matrix, and the shapes that it was made for.
struct KeptProduct {
  Shape left, right;
  std::unique_ptr<CompiledKernel> kernel;
};

/// A single right matrix in f32, packed once.
void multiplyPacked(const Tensor &left, const Tensor &right, const Tensor *bias,
                    const MatrixProduct &product, const MatMulParams &params, Tensor &output,
                    ThreadPool &threads, KernelCache &cache) {
  auto kept = cache.get<KeptProduct>(
      [&](const KeptProduct &found) {
        return found.left == left.shape() && found.right == right.shape();
      },
      [&] {
        return std::make_shared<KeptProduct>(KeptProduct{
            left.shape(), right.shape(),
            makeMatMul(product.m, product.k, product.n, right, product.transposeRight, bias)});
      });
  const float *from = left.data<float>().data();
  float *to = output.mutableData<float>().data();
  kept->kernel->run({&from, 1}, to, threads);
  if (params.doRelu)
    limit(output, params, threads);
}

/// f32 products whose right matrices are packed as they come.
void multiplyFloats(const Tensor &left, const Tensor &right, const Tensor *bias,
                    const MatrixProduct &product, const MatMulParams &params, Tensor &output,
                    ThreadPool &threads) {
  const float *a = left.data<float>().data();
  const float *b = right.data<float>().data();
  float *c = output.mutableData<float>().data();
  multiplyBatch({product.count, product.m, product.k, product.n, product.transposeRight,
                 [&](int64_t index) {
                   return a + product.left.matrixFor(index, product.batch) * product.m * product.k;
                 },
                 [&](int64_t index) {
                   return b + product.right.matrixFor(index, product.batch) * product.n * product.k;
                 }},
                c, threads);
  if (bias) {
    auto values = bias->data<float>();
    for (int64_t i = 0; i < output.numElements(); ++i)
      c[i] += values[values.size() == 1 ? 0 : static_cast<size_t>(i % product.n)];
  }
  if (params.doRelu)
    limit(output, params, threads);
}

template <typename T>
void multiply(const Tensor &left, const Tensor &right, const Tensor *bias,
              const MatrixProduct &product, const MatMulParams &params, Tensor &output,
              ThreadPool &threads) {
  using Sum = Accumulator<T>;
  const T *a = left.data<T>().data();
  const T *b = right.data<T>().data();
  T *c = output.mutableData<T>().data();
  // Pieces of rows of each product.
  int64_t grain = std::min(product.m, std::max(grainFor(2 * product.n * product.k), int64_t(32)));
  int64_t pieces = (product.m + grain - 1) / grain;
  threads.parallelFor(product.count * pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      int64_t index = piece / pieces;
      int64_t row = piece % pieces * grain;
      int64_t rows = std::min(grain, product.m - row);
      int64_t fromLeft = product.left.matrixFor(index, product.batch);
      int64_t fromRight = product.right.matrixFor(index, product.batch);
      T *result = c + (index * product.m + row) * product.n;
      gemm<T>(product.transposeLeft, product.transposeRight, rows, product.n, product.k,
              a + fromLeft * product.m * product.k + row * (product.transposeLeft ? 1 : product.k),
              product.left.columns, b + fromRight * product.n * product.k, product.right.columns,
              result, product.n);
      for (int64_t i = 0; bias && i < rows * product.n; ++i) {
        auto values = bias->data<T>();
        result[i] =
            static_cast<T>(static_cast<Sum>(result[i]) +
                           static_cast<Sum>(values[values.size() == 1 ? 0 : i % product.n]));
      }
      for (int64_t i = 0; params.doRelu && i < rows * product.n; ++i)
        result[i] = relu(result[i], params.reluLimit);
    }
  });
}

/// The matrices of `tensor`, which has rank 2 or more, transposed.
Tensor transposed(const Tensor &tensor, ThreadPool &threads) {
  const size_t rank = tensor.shape().rank();
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), int64_t(0));
  std::swap(order[rank - 2], order[rank - 1]);
  Shape shape = tensor.shape();
  std::swap(shape[rank - 2], shape[rank - 1]);
  Tensor result(tensor.type(), shape);
  permute(tensor, order, result, threads);
  return result;
}

/// Walks `extents` in row-major order, keeping an offset per operand.
class Odometer {
public:
  Odometer(std::vector<int64_t> extents, std::vector<std::vector<int64_t>> strides)
      : extents(std::move(extents)), strides(std::move(strides)), index(this->extents.size(), 0) {}

  int64_t size() const {
    return std::accumulate(extents.begin(), extents.end(), int64_t(1), std::multiplies<>());
  }
  void seek(int64_t position, std::vector<int64_t> &offsets) {
    for (size_t axis = extents.size(); axis-- > 0;) {
      index[axis] = position % extents[axis];
      position /= extents[axis];
      for (size_t i = 0; i < strides.size(); ++i)
        offsets[i] += index[axis] * strides[i][axis];
    }
  }
  void next(std::vector<int64_t> &offsets) {
    for (size_t axis = extents.size(); axis-- > 0;) {
      bool wraps = ++index[axis] == extents[axis];
      for (size_t i = 0; i < strides.size(); ++i)
        offsets[i] += wraps ? -(extents[axis] - 1) * strides[i][axis] : strides[i][axis];
      if (!wraps)
        return;
      index[axis] = 0;
    }
  }

private:
  std::vector<int64_t> extents;
  std::vector<std::vector<int64_t>> strides;
  std::vector<int64_t> index;
};

} // namespace

void kernels::matMul(const Tensor &left, const Tensor &right, const Tensor *bias,
                     const MatMulParams &params, Tensor &output, ThreadPool &threads,
                     KernelCache *cache) {
  if (output.numElements() == 0)
    return;
  Tensor a = toCompute(left, output.type());
  Tensor b = toCompute(right, output.type());
  Tensor added = bias ? toCompute(*bias, output.type()) : Tensor();
  const Tensor *summand = bias ? &added : nullptr;
  bool transposeLeft = params.transposeLeft && a.shape().rank() > 1;
  // f32 is multiplied by tiles, which read rows of the left matrix.
  if (transposeLeft && a.type() == DataType::F32) {
    a = transposed(a, threads);
    transposeLeft = false;
  }
  MatrixProduct product(a.shape(), b.shape(), transposeLeft, params.transposeRight);
  computeInto(output, [&](auto zero, Tensor &result) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, float>)
      if (product.k > 0)
        return cache && product.count == 1
                   ? multiplyPacked(a, b, summand, product, params, result, threads, *cache)
                   : multiplyFloats(a, b, summand, product, params, result, threads);
    multiply<T>(a, b, summand, product, params, result, threads);
  });
}

void kernels::einsum(const std::vector<Tensor> &operands, const EinsumParams &params,
                     Tensor &output, ThreadPool &threads) {
  std::vector<Tensor> sources;
  sources.reserve(operands.size());
  for (const Tensor &operand : operands)
    sources.push_back(toCompute(operand, output.type()));
  size_t numIndices = params.extents.size();
  // How far an operand moves with each index: axes under the same index move together.
  std::vector<std::vector<int64_t>> steps(operands.size(), std::vector<int64_t>(numIndices, 0));
  for (size_t i = 0; i < operands.size(); ++i) {
    Shape strides = operands[i].shape().strides();
    for (size_t axis = 0; axis < strides.rank(); ++axis)
      if (operands[i].shape()[axis] != 1)
        steps[i][params.operands[i][axis]] += strides[axis];
  }
  std::vector<int64_t> summed;
  for (size_t index = 0; index < numIndices; ++index)
    if (std::find(params.result.begin(), params.result.end(), static_cast<int64_t>(index)) ==
        params.result.end())
      summed.push_back(static_cast<int64_t>(index));
  auto walker = [&](const std::vector<int64_t> &indices) {
    std::vector<int64_t> extents;
    std::vector<std::vector<int64_t>> strides(operands.size());
    for (int64_t index : indices) {
      extents.push_back(params.extents[index]);
      for (size_t i = 0; i < operands.size(); ++i)
        strides[i].push_back(steps[i][index]);
    }
    return Odometer(extents, strides);
  };
  int64_t sumSize = walker(summed).size();
  computeInto(output, [&](auto zero, Tensor &result) {
    using T = decltype(zero);
    using Sum = Accumulator<T>;
    T *to = result.mutableData<T>().data();
    std::vector<const T *> from;
    from.reserve(sources.size());
    for (const Tensor &source : sources)
      from.push_back(source.data<T>().data());
    threads.parallelFor(output.numElements(),
                        grainFor(sumSize * static_cast<int64_t>(2 * operands.size())),
                        [&](int64_t begin, int64_t end) {
                          Odometer outer = walker(params.result);
                          std::vector<int64_t> offsets(operands.size(), 0);
                          outer.seek(begin, offsets);
                          for (int64_t at = begin; at < end; ++at, outer.next(offsets)) {
                            Odometer inner = walker(summed);
                            std::vector<int64_t> inside = offsets;
                            Sum sum = 0;
                            for (int64_t i = 0; i < sumSize; ++i, inner.next(inside)) {
                              Sum factor = 1;
                              for (size_t operand = 0; operand < from.size(); ++operand)
                                factor *= static_cast<Sum>(from[operand][inside[operand]]);
                              sum += factor;
                            }
                            to[at] = static_cast<T>(sum);
                          }
                        });
  });
}
