//===- CommandTable.cpp - Every command of the BM1684 ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Machine/CommandTable.h"

#include "tpuc/Target/BM1684/Machine/FieldPlaces.h"
#include "tpuc/Target/BM1684/Machine/Streams.h"
#include "tpuc/Target/BM168x/FieldTable.h"

namespace tpuc::bm1684 {

namespace {

using mc::HeadField;

constexpr mc::EngineInfo kEngineTable[] = {
    {.name = "TIU",
     .headBytes = kCommandBytes,
     .opcode = {Field::Opcode, {37, 4}},
     .sub = HeadField{Field::SubOpcode, {41, 5}},
     .id = mc::FieldId(Field::CmdId),
     .waits = bm168x::kTiuWaits},
    {.name = "GDMA",
     .headBytes = kCommandBytes,
     .opcode = {Field::Opcode, {32, 3}},
     .sub = HeadField{Field::SubOpcode, {39, 1}},
     .id = mc::FieldId(Field::CmdId),
     .waits = bm168x::kGdmaWaits},
};

constexpr mc::FormInfo kForms[] = {
    {Form::Tiu, "tiu", Engine::Tiu, kCommandBytes, places::kTiu},
    {Form::Gdma, "gdma", Engine::Gdma, kCommandBytes, places::kGdma},
};
static_assert(std::size(kForms) == kNumForms);

constexpr mc::OpInfo op(uint16_t opcode, uint16_t sub, std::string_view name) {
  return {.table = &kCommandTable,
          .engine = Engine::Tiu,
          .opcode = opcode,
          .sub = sub,
          .name = name,
          .form = Form::Tiu};
}
constexpr mc::OpInfo dma(uint16_t opcode, bool isMatrix, std::string_view name) {
  return {.table = &kCommandTable,
          .engine = Engine::Gdma,
          .opcode = opcode,
          .sub = isMatrix,
          .name = name,
          .form = Form::Gdma};
}

constexpr mc::OpInfo kCommandOps[] = {
    op(tiu::kConv, 0, "conv"),
    op(tiu::kPorD, sub::kDepthwise, "depthwise"),
    op(tiu::kPorD, sub::kMaxPool, "pool.max"),
    op(tiu::kMatMul, 0, "mm"),
    op(tiu::kArith, sub::kMul, "ar.mul"),
    op(tiu::kArith, sub::kMac, "ar.mac"),
    op(tiu::kArith, sub::kAdd, "ar.add"),
    op(tiu::kArith, sub::kSub, "ar.sub"),
    op(tiu::kArith, sub::kMax, "ar.max"),
    op(tiu::kArith, sub::kMin, "ar.min"),
    op(tiu::kArith, sub::kShift, "ar.shift"),
    op(tiu::kArith, sub::kAnd, "ar.and"),
    op(tiu::kArith, sub::kOr, "ar.or"),
    op(tiu::kArith, sub::kXor, "ar.xor"),
    op(tiu::kArith, sub::kSelectGt, "ar.select_gt"),
    op(tiu::kArith, sub::kSelectEq, "ar.select_eq"),
    op(tiu::kArith, sub::kDiv, "ar.div"),
    op(tiu::kArith, sub::kCopy, "ar.copy"),
    op(tiu::kLut, 0, "lut"),

    op(tiu::kScalar, sub::kMul, "md.mul"),
    op(tiu::kScalar, sub::kAdd, "md.add"),
    op(tiu::kScalar, sub::kSub, "md.sub"),
    op(tiu::kScalar, sub::kDiv, "md.div"),
    op(tiu::kSfu, sub::kTaylor, "sfu.taylor"),
    op(tiu::kSfu, sub::kToInt, "sfu.to_int"),
    op(tiu::kSfu, sub::kExponent, "sfu.exponent"),
    op(tiu::kSfu, sub::kPowerOfTwo, "sfu.power_of_two"),
    op(tiu::kSfu, sub::kRsqrt, "sfu.rsqrt"),
    op(tiu::kLinear, sub::kMac, "lin.mac"),
    op(tiu::kLinear, sub::kSquareSum, "lin.square_sum"),
    op(tiu::kLinear, sub::kSquareDiff, "lin.square_diff"),
    op(tiu::kCompare, sub::kMaxAndSelect, "cmp.max_and_select"),
    op(tiu::kCompare, sub::kSelect, "cmp.select"),
    op(tiu::kCompare, sub::kMaxOnly, "cmp.max"),
    dma(gdma::kCopy, false, "dma.copy"),
    dma(gdma::kCopy, true, "dma.matrix"),
    dma(gdma::kTranspose, false, "dma.nc_transpose"),
    dma(gdma::kTranspose, true, "dma.matrix_transpose"),
    dma(gdma::kLrnShift, false, "dma.lrn_shift"),
    dma(gdma::kFill, false, "dma.fill"),
    dma(gdma::kFill, true, "dma.fill_matrix"),
    dma(gdma::kCwTranspose, false, "dma.cw_transpose"),
};

constexpr mc::FieldLimit precLimit(Field field) {
  return {.field = field,
          .least = 0,
          .most = static_cast<uint64_t>(Prec::I32),
          .expected = "i8, f32, i16 or i32"};
}
constexpr mc::FieldLimit windowStride(Field field) {
  return {.field = field,
          .least = 1,
          .most = ~uint64_t{0},
          .opcodes = 1u << tiu::kConv | 1u << tiu::kPorD};
}
constexpr mc::FieldLimit kLimits[] = {
    precLimit(Field::Res0Prec),
    precLimit(Field::Opd0Prec),
    precLimit(Field::Opd1Prec),
    precLimit(Field::Opd2Prec),
    {.field = Field::Res0Str, .least = 0, .most = 3},
    {.field = Field::Opd0Str, .least = 0, .most = 3},
    {.field = Field::Opd1Str, .least = 0, .most = 3},
    {.field = Field::Opd2Str, .least = 0, .most = 3},
    windowStride(Field::ResOpXStr),
    windowStride(Field::ResOpYStr),
};

constexpr mc::EngineId kTiuOnly[] = {Engine::Tiu};
constexpr mc::EngineId kGdmaOnly[] = {Engine::Gdma};
constexpr mc::StreamInfo kStreams[] = {
    {.name = kTiuStream, .engines = kTiuOnly},
    {.name = kDmaStream, .engines = kGdmaOnly},
};

constexpr uint16_t kNumOpcodes = 16, kNumSubs = 32;
constexpr auto kFieldIndex = mc::indexFields<kNumForms, bm168x::kNumFields>(kForms);
constexpr auto kOpIndex = mc::indexOps<bm168x::kNumEngines, kNumOpcodes, kNumSubs>(kCommandOps);

} // namespace

constexpr mc::CommandTable kCommandTable = {.engines = kEngineTable,
                                            .fields = bm168x::fieldtable::kFields,
                                            .forms = kForms,
                                            .ops = kCommandOps,
                                            .groups = bm168x::fieldtable::kGroups,
                                            .limits = kLimits,
                                            .streams = kStreams,
                                            .fieldIndex = kFieldIndex,
                                            .opIndex = kOpIndex,
                                            .numOpcodes = kNumOpcodes,
                                            .numSubs = kNumSubs};
static_assert(mc::problemOf(kCommandTable).empty());

} // namespace tpuc::bm1684
