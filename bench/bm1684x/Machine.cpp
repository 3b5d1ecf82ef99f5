//===- Machine.cpp - The command loop against the vendor's model ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// bm1684x_machine [LIBRARY] [--threads N] [--repeat N] [--alone]
//
// Times single commands on our simulator and, where the vendor's functional model is at hand
// (test/conformance/bm1684x/run fetches it), on that, in the same run, and prints the ratio.
//
//===----------------------------------------------------------------------===//

#include "test/conformance/bm1684x/Case.h"
#include "test/conformance/bm1684x/Vendor.h"
#include "tpuc/Target/BM1684X/Machine/Simulator.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>

using namespace tpuc;
using namespace tpuc::bm1684x;
using namespace tpuc::bm1684x::conformance;

namespace {

struct Benchmark {
  const char *name;
  const char *text;
  double work; ///< Multiply-accumulates or elements, in millions.
};

// Inputs at 0, weights at 0x10000, the result at 0x20000 of every lane.
#define TPUC_CONV(types, ic, oc, hw, k, pad)                                                       \
  "conv.normal #1 opd0_sign=1 opd1_sign=1 opd2_sign=1 opd2_const=1 opd3_const=1 " types            \
  " res0=[n1 c" #oc " h" #hw " w" #hw "] opd0=[c" #ic " h" #hw " w" #hw "] opd1=[h" #k " w" #k     \
  "] pad=[u" #pad " d" #pad " l" #pad " r" #pad "] window_stride=[h1 w1] res0_addr=0x20000 "       \
  "opd1_addr=0x10000"

constexpr Benchmark kBenchmarks[] = {
    {"conv f16 3x3 64->64 40x40", TPUC_CONV("opd0_prec=f16 res0_prec=f16", 64, 64, 40, 3, 1),
     64 * 64 * 1600 * 9e-6},
    {"conv f16 1x1 128->128 20x20", TPUC_CONV("opd0_prec=f16 res0_prec=f16", 128, 128, 20, 1, 0),
     128 * 128 * 400e-6},
    {"conv bf16 3x3 64->64 40x40", TPUC_CONV("opd0_prec=bf16 res0_prec=bf16", 64, 64, 40, 3, 1),
     64 * 64 * 1600 * 9e-6},
    {"conv f32 3x3 64->64 40x40", TPUC_CONV("opd0_prec=f32 res0_prec=f32", 64, 64, 40, 3, 1),
     64 * 64 * 1600 * 9e-6},
    {"conv i8 3x3 64->64 40x40", TPUC_CONV("opd0_prec=i8 res0_prec=i32", 64, 64, 40, 3, 1),
     64 * 64 * 1600 * 9e-6},
    {"conv i8 1x1 128->128 20x20", TPUC_CONV("opd0_prec=i8 res0_prec=i32", 128, 128, 20, 1, 0),
     128 * 128 * 400e-6},
    {"depthwise f16 3x3 64 40x40",
     "depthwise #1 opd0_sign=1 opd1_sign=1 opd2_const=1 opd3_const=1 opd0_prec=f16 res0_prec=f16 "
     "res0=[n1 c64 h40 w40] opd0=[h40 w40] opd1=[h3 w3] pad=[u1 d1 l1 r1] window_stride=[h1 w1] "
     "res0_addr=0x20000 opd1_addr=0x10000",
     64 * 1600 * 9e-6},
    {"add f32 64x40x40",
     "ar.add #1 opd_num=2 res0_prec=f32 opd0_prec=f32 opd1_prec=f32 res0=[n1 c64 h40 w40] "
     "res0_addr=0x20000 opd1_addr=0x10000",
     64 * 1600e-6},
    {"add f16 64x40x40",
     "ar.add #1 opd_num=2 res0_prec=f16 opd0_prec=f16 opd1_prec=f16 res0=[n1 c64 h40 w40] "
     "res0_addr=0x20000 opd1_addr=0x10000",
     64 * 1600e-6},
    {"mul_sat i16 by i8, shift, 64x40x40",
     "ar.mul_sat #1 opd_num=3 opd2_const=1 opd0_sign=1 opd1_sign=1 round=5 res0_prec=i8 "
     "opd0_prec=i16 opd1_prec=i8 opd2_addr=0xfa res0=[n1 c64 h40 w40] res0_addr=0x20000 "
     "opd1_addr=0x10000",
     64 * 1600e-6},
    {"rq.int i32 to i8 64x40x40",
     "rq.int #1 opd1_const=1 opd0_sign=1 opd2_sign=1 round=5 res0_prec=i8 opd0_prec=i32 "
     "res0=[n1 c64 h40 w40] res0_addr=0x20000 opd1_addr=0x40000000 opd2_addr=0xd8",
     64 * 1600e-6},
    {"taylor f32, 9 terms, 64x40x40",
     "sfu.taylor #1 res0_prec=f32 opd0_prec=f32 opd1=[n9] res0=[n1 c64 h40 w40] "
     "res0_addr=0x20000 opd1_addr=0x10000",
     64 * 1600e-6},
    {"gather by byte 64x1600",
     "sg.pes_gather #1 opd0_str=4 res0=[n1 c64 h1 w1600] opd0=[h1 w256] opd1=[c64 w1600] "
     "res0_addr=0x20000 opd1_addr=0x10000",
     64 * 1600e-6},
    {"dma.copy f32 64x40x40",
     "dma.copy #1 nchw_copy=1 src_prec=f32 src=[n1 c64 h40 w40] src_addr=0x100000000 "
     "dst_addr=0x8020000",
     64 * 1600e-6},
};
#undef TPUC_CONV

/// Seconds of one call, the least of `repeat`.
double leastTime(int repeat, const auto &body) {
  double least = 1e30;
  for (int i = 0; i < repeat; ++i) {
    auto start = std::chrono::steady_clock::now();
    body();
    std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    least = std::min(least, time.count());
  }
  return least;
}

} // namespace

int main(int argc, char **argv) {
  const char *folder = std::getenv("TPUC_ORACLE_DIR");
  std::string library =
      std::string(folder ? folder : "build/oracle") + "/tpu_mlir/lib/libcmodel_bm1684x.so";
  unsigned threads = 2;
  int repeat = 5;
  bool alone = false;
  CLI::App app("Times the command loop, against the vendor's functional model where it is there");
  app.add_option("library", library);
  app.add_option("--threads", threads);
  app.add_option("--repeat", repeat);
  app.add_flag("--alone", alone, "without the vendor's model");
  CLI11_PARSE(app, argc, argv);

  constexpr int64_t kGlobalSize = 4 << 20;
  std::optional<Vendor> vendor;
  if (!alone && std::filesystem::exists(library))
    if (Expected<Vendor> loaded = Vendor::load(library, kGlobalSize))
      vendor = *loaded;
  if (alone)
    fmt::print("without the vendor's functional model: no ratios\n");
  else if (!vendor)
    fmt::print("vendor's functional model not at {}: no ratios\n", library);
  Memory memory;
  std::vector<uint8_t> global(kGlobalSize);
  if (!memory.mapGlobal(kGlobalBase, global))
    return 1;
  ElementAt ours = elementsOf(memory.local().data(), global.data());
  ThreadPool pool(threads);
  fmt::print("{} threads, {}\n{:<36} {:>10} {:>10} {:>10} {:>7}\n", threads,
             kernelsFor(bestSimdLevel()).name, "command", "ours us", "M/s", "vendor us", "ratio");
  for (const Benchmark &benchmark : kBenchmarks) {
    Expected<Command> command = assemble(benchmark.text, benchmark.name);
    Expected<PreparedCommand> prepared =
        command ? prepare(*command, benchmark.name) : tl::unexpected<Error>(command.error());
    if (!prepared) {
      fmt::print("error: {}\n", prepared.error().message());
      return 1;
    }
    Case one{*command,
             {{Role::Opd0, Kind::Float, 1, 0},
              {Role::Opd1, Kind::Float, 2, 0},
              {Role::Res0, Kind::Bits, 3, 0}}};
    fillOperands(one, prepared->operands, ours);
    Exec exec{memory, pool, kernelsFor(bestSimdLevel())};
    double time = leastTime(repeat * 4, [&] { prepared->step(exec); });
    fmt::print("{:<36} {:>10.1f} {:>10.0f}", benchmark.name, time * 1e6, benchmark.work / time);
    if (vendor) {
      fillOperands(one, prepared->operands, elementsOf(vendor->local(), vendor->global()));
      double theirs = leastTime(std::min(repeat, 2), [&] { vendor->execute(*command); });
      fmt::print(" {:>10.1f} {:>7.1f}", theirs * 1e6, theirs / time);
    }
    fmt::print("\n");
  }
  return 0;
}
