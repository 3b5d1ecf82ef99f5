//===- CommandTable.cpp - Every command of the BM1684X --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/CommandTable.h"

#include "tpuc/Target/BM1684X/Machine/GdmaFields.h"
#include "tpuc/Target/BM1684X/Machine/Streams.h"
#include "tpuc/Target/BM1684X/Machine/TiuFields.h"
#include "tpuc/Target/BM168x/FieldTable.h"

namespace tpuc::bm1684x {

namespace {

using mc::FlagRule;
using mc::HeadField;

constexpr mc::EngineInfo kEngineTable[] = {
    {.name = "TIU",
     .headBytes = 16,
     .opcode = {Field::Opcode, {41, 4}},
     .sub = HeadField{Field::SubOpcode, {45, 5}},
     .flag = HeadField{Field::CmdShort, {0, 1}},
     .flagName = "short flag",
     .id = mc::FieldId(Field::CmdId),
     .waits = bm168x::kTiuWaits},
    {.name = "GDMA",
     .headBytes = 16,
     .opcode = {Field::Opcode, {32, 4}},
     .sub = HeadField{Field::SubOpcode, {36, 3}},
     .flag = HeadField{Field::CmdShort, {3, 1}},
     .flagName = "short flag",
     .id = mc::FieldId(Field::CmdId),
     .waits = bm168x::kGdmaWaits},
};

constexpr mc::FormInfo kForms[] = {
    {Form::Long, "long", Engine::Tiu, 128, tiufields::kLong},
    {Form::Conv, "conv", Engine::Tiu, 64, tiufields::kConv},
    {Form::PorD, "pord", Engine::Tiu, 64, tiufields::kPorD},
    {Form::MatMul, "mm", Engine::Tiu, 48, tiufields::kMatMul},
    {Form::MatMul2, "mm2", Engine::Tiu, 32, tiufields::kMatMul2},
    {Form::Arith, "ar", Engine::Tiu, 64, tiufields::kArith},
    {Form::Segment, "seg", Engine::Tiu, 16, tiufields::kSegment},
    {Form::Requant, "rqdq", Engine::Tiu, 32, tiufields::kRequant},
    {Form::Transpose, "trans", Engine::Tiu, 32, tiufields::kTranspose},
    {Form::ScatterGather, "sg", Engine::Tiu, 48, tiufields::kScatterGather},
    {Form::ScatterGatherLine, "sgl", Engine::Tiu, 48, tiufields::kScatterGatherLine},
    {Form::LinearArith, "lar", Engine::Tiu, 16, tiufields::kLinearArith},
    {Form::Sfu, "sfu", Engine::Tiu, 32, tiufields::kSfu},
    {Form::Linear, "lin", Engine::Tiu, 32, tiufields::kLinear},
    {Form::Compare, "cmp", Engine::Tiu, 48, tiufields::kCompare},
    {Form::Vector, "vc", Engine::Tiu, 48, tiufields::kVector},
    {Form::Sys, "sys", Engine::Tiu, 16, tiufields::kSys},
    {Form::SysWrite, "swr", Engine::Tiu, 16, tiufields::kSysWrite},
    {Form::DmaTensor, "dma", Engine::Gdma, 96, gdmafields::kDmaTensor},
    {Form::DmaGather, "dma.gather", Engine::Gdma, 96, gdmafields::kDmaGather},
    {Form::DmaSelect, "dma.select", Engine::Gdma, 96, gdmafields::kDmaSelect},
    {Form::DmaNonzero, "dma.nonzero", Engine::Gdma, 96, gdmafields::kDmaNonzero},
    {Form::DmaSys, "dma.sys", Engine::Gdma, 16, gdmafields::kDmaSys},
    {Form::DmaShortMatrix, "dma.matrix.short", Engine::Gdma, 64, gdmafields::kDmaShortMatrix},
    {Form::DmaShortGeneral, "dma.general.short", Engine::Gdma, 48, gdmafields::kDmaShortGeneral},
    {Form::DmaShortNonzero, "dma.nonzero.short", Engine::Gdma, 48, gdmafields::kDmaShortNonzero},
    {Form::DmaShortSelect, "dma.select.short", Engine::Gdma, 64, gdmafields::kDmaShortSelect},
};
static_assert(std::size(kForms) == kNumForms);

/// An operation of the TIU with a short form and the long one.
constexpr CommandOp op(uint16_t opcode, uint16_t sub, std::string_view name, Form form) {
  return {.table = &kCommandTable,
          .engine = Engine::Tiu,
          .opcode = opcode,
          .sub = sub,
          .name = name,
          .form = form,
          .rule = FlagRule::Set,
          .otherForm = mc::FormId(Form::Long)};
}
/// An operation of the TIU with one form, whatever the flag says.
constexpr CommandOp opOnly(uint16_t opcode, uint16_t sub, std::string_view name, Form form) {
  return {.table = &kCommandTable,
          .engine = Engine::Tiu,
          .opcode = opcode,
          .sub = sub,
          .name = name,
          .form = form,
          .endsStream = opcode == tiu::kSys && sub == tiu::kSysEnd};
}
/// What controls the GDMA is short, and nothing else has the same flag without a short form.
constexpr CommandOp dma(uint16_t opcode, uint16_t sub, std::string_view name, Form form,
                        std::optional<mc::FormId> shortForm = std::nullopt) {
  const bool controls = opcode == gdma::kSys;
  return {.table = &kCommandTable,
          .engine = Engine::Gdma,
          .opcode = opcode,
          .sub = sub,
          .name = name,
          .form = form,
          .rule = controls ? FlagRule::Set : FlagRule::Clear,
          .otherForm = shortForm,
          .endsStream = controls && sub == 0};
}

constexpr CommandOp kCommandOps[] = {
    op(tiu::kConv, 0, "conv.normal", Form::Conv),
    op(tiu::kConv, 1, "conv.requant", Form::Conv),
    op(tiu::kConv, 2, "conv.requant_relu", Form::Conv),
    op(tiu::kPorD, 0, "depthwise", Form::PorD),
    op(tiu::kPorD, 1, "pool.avg", Form::PorD),
    op(tiu::kPorD, 2, "depthwise.relu", Form::PorD),
    op(tiu::kPorD, 4, "pool.max", Form::PorD),
    op(tiu::kPorD, 5, "roi.depthwise", Form::PorD),
    op(tiu::kPorD, 6, "roi.avg", Form::PorD),
    op(tiu::kPorD, 7, "roi.max", Form::PorD),
    op(tiu::kMatMul, 1, "mm.normal", Form::MatMul),
    op(tiu::kMatMul, 2, "mm.requant", Form::MatMul),
    op(tiu::kMatMul, 3, "mm.requant_relu", Form::MatMul),
    op(tiu::kMatMul, 4, "mm2.nn", Form::MatMul2),
    op(tiu::kMatMul, 5, "mm2.nt", Form::MatMul2),
    op(tiu::kMatMul, 6, "mm2.tt", Form::MatMul2),
    op(tiu::kArith, 0, "ar.mul", Form::Arith),
    op(tiu::kArith, 1, "ar.not", Form::Arith),
    op(tiu::kArith, 2, "ar.add", Form::Arith),
    op(tiu::kArith, 3, "ar.sub", Form::Arith),
    op(tiu::kArith, 4, "ar.max", Form::Arith),
    op(tiu::kArith, 5, "ar.min", Form::Arith),
    op(tiu::kArith, 6, "ar.logic_shift", Form::Arith),
    op(tiu::kArith, 7, "ar.and", Form::Arith),
    op(tiu::kArith, 8, "ar.or", Form::Arith),
    op(tiu::kArith, 9, "ar.xor", Form::Arith),
    op(tiu::kArith, 10, "ar.select_gt", Form::Arith),
    op(tiu::kArith, 11, "ar.select_eq", Form::Arith),
    op(tiu::kArith, 12, "ar.div", Form::Arith),
    op(tiu::kArith, 13, "ar.select_lt", Form::Arith),
    op(tiu::kArith, 14, "ar.cast", Form::Arith),
    op(tiu::kArith, 15, "ar.add_sat", Form::Arith),
    op(tiu::kArith, 16, "ar.sub_sat", Form::Arith),
    op(tiu::kArith, 17, "ar.clamp", Form::Arith),
    op(tiu::kArith, 18, "ar.mac", Form::Arith),
    op(tiu::kArith, 19, "ar.copy", Form::Arith),
    op(tiu::kArith, 20, "ar.mul_sat", Form::Arith),
    op(tiu::kArith, 21, "ar.arith_shift", Form::Arith),
    op(tiu::kArith, 22, "ar.rotate_shift", Form::Arith),
    op(tiu::kArith, 23, "ar.mul_dhr", Form::Arith),
    op(tiu::kArith, 26, "ar.abs", Form::Arith),
    op(tiu::kArith, 27, "ar.abs_diff", Form::Arith),
    op(tiu::kArith, 28, "ar.copy_bc_n", Form::Arith),
    op(tiu::kArith, 29, "ar.first_one", Form::Arith),
    op(tiu::kArith, 30, "ar.first_zero", Form::Arith),
    op(tiu::kArith, 24, "seg.eu", Form::Segment),
    op(tiu::kArith, 25, "seg.lane", Form::Segment),
    op(tiu::kRequant, 0, "rq.fp", Form::Requant),
    op(tiu::kRequant, 1, "rq.int", Form::Requant),
    op(tiu::kRequant, 2, "rq2", Form::Requant),
    op(tiu::kRequant, 3, "dq.fp", Form::Requant),
    op(tiu::kRequant, 4, "dq.int", Form::Requant),
    op(tiu::kRequant, 5, "dq2", Form::Requant),
    op(tiu::kTranspose, 0, "trans.cw", Form::Transpose),
    op(tiu::kTranspose, 1, "trans.wc", Form::Transpose),
    op(tiu::kTranspose, 2, "lane.copy", Form::Transpose),
    op(tiu::kTranspose, 3, "lane.broadcast", Form::Transpose),
    op(tiu::kTranspose, 4, "static.broadcast", Form::Transpose),
    op(tiu::kTranspose, 5, "static.distribute", Form::Transpose),
    op(tiu::kScatterGather, 0, "sg.pl_gather", Form::ScatterGather),
    op(tiu::kScatterGather, 1, "sg.pl_gather_d2", Form::ScatterGather),
    op(tiu::kScatterGather, 2, "sg.pl_gather_rect", Form::ScatterGather),
    op(tiu::kScatterGather, 3, "sg.pl_scatter", Form::ScatterGather),
    op(tiu::kScatterGather, 4, "sg.pl_scatter_d2", Form::ScatterGather),
    op(tiu::kScatterGather, 5, "sg.pes_gather", Form::ScatterGather),
    op(tiu::kScatterGather, 6, "sg.pes_scatter", Form::ScatterGather),
    op(tiu::kScatterGather, 7, "sg.pem_gather", Form::ScatterGather),
    op(tiu::kScatterGather, 8, "sg.mask_select", Form::ScatterGather),
    op(tiu::kScatterGather, 9, "sg.nonzero", Form::ScatterGather),
    op(tiu::kScatterGather, 10, "sg.scatter_pp", Form::ScatterGather),
    op(tiu::kScatterGather, 11, "sg.gather_w", Form::ScatterGather),
    op(tiu::kScatterGather, 12, "sg.scatter_w", Form::ScatterGather),
    op(tiu::kScatterGather, 13, "sg.pes_gather_hzd", Form::ScatterGather),
    op(tiu::kScatterGather, 14, "sg.pes_scatter_hzd", Form::ScatterGather),
    op(tiu::kScatterGather, 15, "sg.mask_select_hzd", Form::ScatterGather),
    op(tiu::kScatterGather, 16, "sg.nonzero_hzd", Form::ScatterGather),
    op(tiu::kScatterGather, 17, "sgl.gather", Form::ScatterGatherLine),
    op(tiu::kScatterGather, 18, "sgl.scatter", Form::ScatterGatherLine),
    opOnly(tiu::kLar, 0, "lar.mul", Form::LinearArith),
    opOnly(tiu::kLar, 1, "lar.not", Form::LinearArith),
    opOnly(tiu::kLar, 2, "lar.add", Form::LinearArith),
    opOnly(tiu::kLar, 3, "lar.sub", Form::LinearArith),
    opOnly(tiu::kLar, 4, "lar.max", Form::LinearArith),
    opOnly(tiu::kLar, 5, "lar.min", Form::LinearArith),
    opOnly(tiu::kLar, 6, "lar.logic_shift", Form::LinearArith),
    opOnly(tiu::kLar, 7, "lar.and", Form::LinearArith),
    opOnly(tiu::kLar, 8, "lar.or", Form::LinearArith),
    opOnly(tiu::kLar, 9, "lar.xor", Form::LinearArith),
    opOnly(tiu::kLar, 10, "lar.select_gt", Form::LinearArith),
    opOnly(tiu::kLar, 11, "lar.select_eq", Form::LinearArith),
    opOnly(tiu::kLar, 12, "lar.div", Form::LinearArith),
    opOnly(tiu::kLar, 13, "lar.select_lt", Form::LinearArith),
    opOnly(tiu::kLar, 14, "lar.cast", Form::LinearArith),
    opOnly(tiu::kLar, 15, "lar.add_sat", Form::LinearArith),
    opOnly(tiu::kLar, 16, "lar.sub_sat", Form::LinearArith),
    opOnly(tiu::kLar, 17, "lar.clamp", Form::LinearArith),
    opOnly(tiu::kLar, 18, "lar.mac", Form::LinearArith),
    opOnly(tiu::kLar, 19, "lar.copy", Form::LinearArith),
    opOnly(tiu::kLar, 20, "lar.mul_sat", Form::LinearArith),
    opOnly(tiu::kLar, 21, "lar.arith_shift", Form::LinearArith),
    opOnly(tiu::kLar, 22, "lar.rotate_shift", Form::LinearArith),
    opOnly(tiu::kLar, 23, "lar.mul_dhr", Form::LinearArith),
    opOnly(tiu::kLar, 26, "lar.abs", Form::LinearArith),
    opOnly(tiu::kLar, 27, "lar.abs_diff", Form::LinearArith),
    opOnly(tiu::kLar, 28, "lar.copy_bc_n", Form::LinearArith),
    opOnly(tiu::kLar, 29, "lar.first_one", Form::LinearArith),
    opOnly(tiu::kLar, 30, "lar.first_zero", Form::LinearArith),
    opOnly(tiu::kLarAlt, 0, "lar12.mul", Form::LinearArith),
    opOnly(tiu::kLarAlt, 1, "lar12.not", Form::LinearArith),
    opOnly(tiu::kLarAlt, 2, "lar12.add", Form::LinearArith),
    opOnly(tiu::kLarAlt, 3, "lar12.sub", Form::LinearArith),
    opOnly(tiu::kLarAlt, 4, "lar12.max", Form::LinearArith),
    opOnly(tiu::kLarAlt, 5, "lar12.min", Form::LinearArith),
    opOnly(tiu::kLarAlt, 6, "lar12.logic_shift", Form::LinearArith),
    opOnly(tiu::kLarAlt, 7, "lar12.and", Form::LinearArith),
    opOnly(tiu::kLarAlt, 8, "lar12.or", Form::LinearArith),
    opOnly(tiu::kLarAlt, 9, "lar12.xor", Form::LinearArith),
    opOnly(tiu::kLarAlt, 10, "lar12.select_gt", Form::LinearArith),
    opOnly(tiu::kLarAlt, 11, "lar12.select_eq", Form::LinearArith),
    opOnly(tiu::kLarAlt, 12, "lar12.div", Form::LinearArith),
    opOnly(tiu::kLarAlt, 13, "lar12.select_lt", Form::LinearArith),
    opOnly(tiu::kLarAlt, 14, "lar12.cast", Form::LinearArith),
    opOnly(tiu::kLarAlt, 15, "lar12.add_sat", Form::LinearArith),
    opOnly(tiu::kLarAlt, 16, "lar12.sub_sat", Form::LinearArith),
    opOnly(tiu::kLarAlt, 17, "lar12.clamp", Form::LinearArith),
    opOnly(tiu::kLarAlt, 18, "lar12.mac", Form::LinearArith),
    opOnly(tiu::kLarAlt, 19, "lar12.copy", Form::LinearArith),
    opOnly(tiu::kLarAlt, 20, "lar12.mul_sat", Form::LinearArith),
    opOnly(tiu::kLarAlt, 21, "lar12.arith_shift", Form::LinearArith),
    opOnly(tiu::kLarAlt, 22, "lar12.rotate_shift", Form::LinearArith),
    opOnly(tiu::kLarAlt, 23, "lar12.mul_dhr", Form::LinearArith),
    opOnly(tiu::kLarAlt, 26, "lar12.abs", Form::LinearArith),
    opOnly(tiu::kLarAlt, 27, "lar12.abs_diff", Form::LinearArith),
    opOnly(tiu::kLarAlt, 28, "lar12.copy_bc_n", Form::LinearArith),
    opOnly(tiu::kLarAlt, 29, "lar12.first_one", Form::LinearArith),
    opOnly(tiu::kLarAlt, 30, "lar12.first_zero", Form::LinearArith),
    op(tiu::kSfu, 12, "sfu.taylor_x4", Form::Sfu),
    op(tiu::kSfu, 13, "sfu.taylor", Form::Sfu),
    op(tiu::kSfu, 15, "sfu.normalize", Form::Sfu),
    op(tiu::kSfu, 17, "sfu.rsqrt", Form::Sfu),
    op(tiu::kLinear, 1, "lin.mac", Form::Linear),
    op(tiu::kLinear, 20, "lin.square_sum", Form::Linear),
    op(tiu::kLinear, 21, "lin.square_diff", Form::Linear),
    op(tiu::kCompare, 22, "cmp.gt_and_select", Form::Compare),
    op(tiu::kCompare, 23, "cmp.select_gt", Form::Compare),
    op(tiu::kCompare, 24, "cmp.select_eq", Form::Compare),
    op(tiu::kCompare, 25, "cmp.lt_and_select", Form::Compare),
    op(tiu::kCompare, 26, "cmp.select_lt", Form::Compare),
    op(tiu::kVector, 0, "vc.mul", Form::Vector),
    op(tiu::kVector, 2, "vc.add", Form::Vector),
    op(tiu::kVector, 3, "vc.sub", Form::Vector),
    op(tiu::kVector, 4, "vc.max", Form::Vector),
    op(tiu::kVector, 5, "vc.min", Form::Vector),
    op(tiu::kVector, 7, "vc.and", Form::Vector),
    op(tiu::kVector, 8, "vc.or", Form::Vector),
    op(tiu::kVector, 9, "vc.xor", Form::Vector),
    op(tiu::kVector, 10, "vc.select_gt", Form::Vector),
    op(tiu::kVector, 11, "vc.select_eq", Form::Vector),
    op(tiu::kVector, 12, "vc.div", Form::Vector),
    op(tiu::kVector, 13, "vc.select_lt", Form::Vector),
    op(tiu::kVector, 15, "vc.add_sat", Form::Vector),
    op(tiu::kVector, 16, "vc.sub_sat", Form::Vector),
    op(tiu::kVector, 20, "vc.mul_sat", Form::Vector),
    op(tiu::kVector, 23, "vc.mul_dhr", Form::Vector),
    opOnly(tiu::kSys, 0, "sys.interrupt_barrier", Form::Sys),
    opOnly(tiu::kSys, 1, "sys.spb", Form::Sys),
    opOnly(tiu::kSys, 5, "sys.data_barrier", Form::Sys),
    opOnly(tiu::kSys, 30, "sys.nop", Form::Sys),
    opOnly(tiu::kSys, 31, "sys.end", Form::Sys),
    opOnly(tiu::kSys, 2, "sys.swr", Form::SysWrite),
    opOnly(tiu::kSys, 3, "sys.swr_local", Form::SysWrite),
    opOnly(tiu::kSys, 4, "sys.swr_collect", Form::SysWrite),
    dma(gdma::kTensor, 0, "dma.copy", Form::DmaTensor),
    dma(gdma::kTensor, 1, "dma.nc_transpose", Form::DmaTensor),
    dma(gdma::kTensor, 2, "dma.collect", Form::DmaTensor),
    dma(gdma::kTensor, 3, "dma.broadcast", Form::DmaTensor),
    dma(gdma::kTensor, 4, "dma.distribute", Form::DmaTensor),
    dma(gdma::kTensor, 5, "dma.copy_4bank", Form::DmaTensor),
    dma(gdma::kTensor, 6, "dma.broadcast_4bank", Form::DmaTensor),
    dma(gdma::kMatrix, 0, "dma.matrix", Form::DmaTensor, Form::DmaShortMatrix),
    dma(gdma::kMatrix, 1, "dma.matrix_transpose", Form::DmaTensor, Form::DmaShortMatrix),
    dma(gdma::kSelect, 0, "dma.select", Form::DmaSelect, Form::DmaShortSelect),
    dma(gdma::kSelect, 1, "dma.select_local_mask", Form::DmaSelect, Form::DmaShortSelect),
    dma(gdma::kGeneral, 0, "dma.general", Form::DmaTensor, Form::DmaShortGeneral),
    dma(gdma::kGeneral, 1, "dma.general_broadcast", Form::DmaTensor, Form::DmaShortGeneral),
    dma(gdma::kCwTranspose, 0, "dma.cw_transpose", Form::DmaTensor),
    dma(gdma::kNonzero, 0, "dma.nonzero", Form::DmaNonzero, Form::DmaShortNonzero),
    dma(gdma::kSys, 0, "dma.end", Form::DmaSys),
    dma(gdma::kSys, 1, "dma.nop", Form::DmaSys),
    dma(gdma::kGather, 0, "dma.gather", Form::DmaGather),
    dma(gdma::kScatter, 0, "dma.scatter", Form::DmaGather),
};

/// Values that the chip refuses, or whose meaning is not known.
constexpr mc::FieldLimit precLimit(Field field) {
  return {.field = field, .least = 0, .most = static_cast<uint64_t>(Prec::I4)};
}
constexpr mc::FieldLimit noNibbles(Field field) {
  return {.field = field,
          .least = 0,
          .most = static_cast<uint64_t>(Prec::BF16),
          .expected = "a type of 8, 16 or 32 bits: the meaning of i4 operands is not known"};
}
constexpr mc::FieldLimit windowStride(Field field) {
  return {.field = field,
          .least = 1,
          .most = ~uint64_t{0},
          .opcodes = 1u << tiu::kConv | 1u << tiu::kPorD};
}
constexpr mc::FieldLimit kLimits[] = {
    precLimit(Field::Res0Prec),
    noNibbles(Field::Res0Prec),
    precLimit(Field::Opd0Prec),
    noNibbles(Field::Opd0Prec),
    precLimit(Field::Opd1Prec),
    noNibbles(Field::Opd1Prec),
    precLimit(Field::Opd2Prec),
    noNibbles(Field::Opd2Prec),
    precLimit(Field::SrcPrec),
    noNibbles(Field::SrcPrec),
    precLimit(Field::IndexPrec),
    noNibbles(Field::IndexPrec),
    precLimit(Field::MaskPrec),
    noNibbles(Field::MaskPrec),
    {.field = Field::Res0Str, .least = 0, .most = 3},
    {.field = Field::Opd0Str, .least = 0, .most = 5},
    {.field = Field::Opd1Str, .least = 0, .most = 3},
    {.field = Field::Opd2Str, .least = 0, .most = 3},
    windowStride(Field::ResOpXStr),
    windowStride(Field::ResOpYStr),
};

constexpr mc::EngineId kTiuOnly[] = {Engine::Tiu};
constexpr mc::EngineId kGdmaOnly[] = {Engine::Gdma};
constexpr mc::StreamInfo kStreams[] = {
    {.name = kTiuStream, .engines = kTiuOnly, .hasEnd = true, .alignment = 128},
    {.name = kDmaStream, .engines = kGdmaOnly, .hasEnd = true, .alignment = 128},
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

const FormInfo &formInfo(mc::FormId form) { return kCommandTable.form(form); }

std::span<const CommandOp> allCommandOps() { return kCommandOps; }

const CommandOp *findCommandOp(mc::EngineId engine, unsigned opcode, unsigned sub) {
  return mc::findOp(kCommandTable, engine, opcode, sub);
}

const CommandOp *findCommandOp(std::string_view name) { return mc::findOp(kCommandTable, name); }

} // namespace tpuc::bm1684x
