//===- CommandTable.cpp - Every command of the BM1684X --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/CommandTable.h"

#include "tpuc/Target/BM1684X/Machine/GdmaFields.h"
#include "tpuc/Target/BM1684X/Machine/TiuFields.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace tpuc::bm1684x {

std::string_view precName(Prec prec) {
  constexpr std::string_view kNames[] = {"i8", "f16", "f32", "i16", "i32", "bf16", "i4", "?"};
  return kNames[static_cast<unsigned>(prec) & 7];
}

namespace {

constexpr std::string_view kFieldNames[] = {"cmd_short",
                                            "cmd_id",
                                            "cmd_id_dep",
                                            "opcode",
                                            "sub_opcode",
                                            "eu_half_en",
                                            "opd_num",
                                            "pad_mode",
                                            "cmd_id_en",
                                            "pwr_step",
                                            "intr_en",
                                            "res_add",
                                            "relu",
                                            "left_tran",
                                            "kernel_rotate",
                                            "opd0_sign",
                                            "opd1_sign",
                                            "opd2_sign",
                                            "res0_prec",
                                            "opd0_prec",
                                            "opd1_prec",
                                            "opd2_prec",
                                            "opd0_const",
                                            "opd1_const",
                                            "opd2_const",
                                            "res0_str",
                                            "opd0_str",
                                            "opd1_str",
                                            "opd2_str",
                                            "res_add_sign",
                                            "opd3_const",
                                            "opd0_x_ins0",
                                            "opd0_y_ins0",
                                            "opd1_x_ins0",
                                            "opd1_y_ins0",
                                            "opd0_up_pad",
                                            "opd0_dn_pad",
                                            "opd0_lf_pad",
                                            "opd0_rt_pad",
                                            "res_op_x_str",
                                            "res_op_y_str",
                                            "res0_h_shift",
                                            "res0_w_shift",
                                            "opd0_h_shift",
                                            "opd0_w_shift",
                                            "opd1_h_shift",
                                            "opd1_w_shift",
                                            "lane_mask",
                                            "res0_n",
                                            "res0_c",
                                            "res0_h",
                                            "res0_w",
                                            "opd0_n",
                                            "opd0_c",
                                            "opd0_h",
                                            "opd0_w",
                                            "opd1_n",
                                            "opd1_c",
                                            "opd1_h",
                                            "opd1_w",
                                            "res0_n_str",
                                            "res0_c_str",
                                            "opd0_n_str",
                                            "opd0_c_str",
                                            "opd1_n_str",
                                            "opd1_c_str",
                                            "round",
                                            "opd2_c_str",
                                            "res0_addr",
                                            "opd0_addr",
                                            "opd1_addr",
                                            "opd2_addr",
                                            "res0_h_str",
                                            "res0_w_str",
                                            "opd0_h_str",
                                            "opd0_w_str",
                                            "opd1_h_str",
                                            "opd1_w_str",
                                            "opd2_h_str",
                                            "opd2_w_str",
                                            "res1_addr",
                                            "opd3_addr",
                                            "start_tid",
                                            "cmd_id_eng1",
                                            "cmd_id_eng2",
                                            "cmd_id_eng3",
                                            "stride_enable",
                                            "nchw_copy",
                                            "decompress_enable",
                                            "fill_constant_en",
                                            "src_prec",
                                            "constant_value",
                                            "src_nstride",
                                            "src_cstride",
                                            "src_hstride",
                                            "src_wstride",
                                            "dst_nstride",
                                            "dst_cstride",
                                            "dst_hstride",
                                            "dst_wstride",
                                            "src_nsize",
                                            "src_csize",
                                            "src_hsize",
                                            "src_wsize",
                                            "dst_nsize",
                                            "dst_csize",
                                            "dst_hsize",
                                            "dst_wsize",
                                            "src_addr_l32",
                                            "src_addr_h8",
                                            "dst_addr_l32",
                                            "dst_addr_h8",
                                            "lanes_l32",
                                            "lanes_h32",
                                            "index_cstride",
                                            "index_hstride",
                                            "index_csize",
                                            "index_hsize",
                                            "index_addr_l32",
                                            "index_addr_h8",
                                            "index_prec",
                                            "mask_prec",
                                            "mask_addr_l32",
                                            "mask_addr_h8",
                                            "reg_valid",
                                            "reg_index",
                                            "reg_value"};
static_assert(std::size(kFieldNames) == kNumFields);

constexpr FormInfo kForms[] = {
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

/// Every field once and inside the form, no two on the same bit.
constexpr bool formsAreSound() {
  for (size_t i = 0; i < kNumForms; ++i) {
    if (static_cast<size_t>(kForms[i].form) != i)
      return false;
    bool used[1024] = {};
    bool seen[kNumFields] = {};
    for (const FieldSpec &spec : kForms[i].fields) {
      if (spec.width == 0 || spec.width > 64 || spec.lsb + spec.width > kForms[i].bytes * 8u)
        return false;
      if (seen[static_cast<size_t>(spec.field)])
        return false;
      seen[static_cast<size_t>(spec.field)] = true;
      for (unsigned bit = spec.lsb; bit < spec.lsb + spec.width; ++bit) {
        if (used[bit])
          return false;
        used[bit] = true;
      }
    }
  }
  return true;
}
static_assert(formsAreSound());

/// [form][field]: the field's index in the form, 255 where it has none.
constexpr auto kFieldIndex = [] {
  std::array<std::array<uint8_t, kNumFields>, kNumForms> table{};
  for (size_t form = 0; form < kNumForms; ++form) {
    table[form].fill(255);
    for (size_t i = 0; i < kForms[form].fields.size(); ++i)
      table[form][static_cast<size_t>(kForms[form].fields[i].field)] = static_cast<uint8_t>(i);
  }
  return table;
}();

constexpr CommandOp op(unsigned opcode, unsigned sub, std::string_view name, Form form) {
  return {Engine::Tiu, static_cast<uint8_t>(opcode), static_cast<uint8_t>(sub), name, form,
          Form::Long};
}
constexpr CommandOp opOnly(unsigned opcode, unsigned sub, std::string_view name, Form form) {
  return {Engine::Tiu, static_cast<uint8_t>(opcode), static_cast<uint8_t>(sub), name, form,
          std::nullopt};
}
constexpr CommandOp dma(unsigned opcode, unsigned sub, std::string_view name, Form form,
                        std::optional<Form> shortForm = std::nullopt) {
  return {Engine::Gdma, static_cast<uint8_t>(opcode), static_cast<uint8_t>(sub), name, form,
          shortForm};
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

/// [engine][opcode * 32 + sub]: index in kCommandOps, 255 where there is none.
constexpr auto kOperationIndex = [] {
  static_assert(std::size(kCommandOps) < 255);
  std::array<std::array<uint8_t, 16 * 32>, 2> table{};
  table[0].fill(255);
  table[1].fill(255);
  for (size_t i = 0; i < std::size(kCommandOps); ++i) {
    const CommandOp &operation = kCommandOps[i];
    table[static_cast<size_t>(operation.engine)][operation.opcode * 32 + operation.sub] =
        static_cast<uint8_t>(i);
  }
  return table;
}();

constexpr FieldGroup::Member kRes0[] = {
    {Field::Res0N, "n"}, {Field::Res0C, "c"}, {Field::Res0H, "h"}, {Field::Res0W, "w"}};
constexpr FieldGroup::Member kOpd0[] = {
    {Field::Opd0N, "n"}, {Field::Opd0C, "c"}, {Field::Opd0H, "h"}, {Field::Opd0W, "w"}};
constexpr FieldGroup::Member kOpd1[] = {
    {Field::Opd1N, "n"}, {Field::Opd1C, "c"}, {Field::Opd1H, "h"}, {Field::Opd1W, "w"}};
constexpr FieldGroup::Member kRes0Stride[] = {
    {Field::Res0NStr, "n"}, {Field::Res0CStr, "c"}, {Field::Res0HStr, "h"}, {Field::Res0WStr, "w"}};
constexpr FieldGroup::Member kOpd0Stride[] = {
    {Field::Opd0NStr, "n"}, {Field::Opd0CStr, "c"}, {Field::Opd0HStr, "h"}, {Field::Opd0WStr, "w"}};
constexpr FieldGroup::Member kOpd1Stride[] = {
    {Field::Opd1NStr, "n"}, {Field::Opd1CStr, "c"}, {Field::Opd1HStr, "h"}, {Field::Opd1WStr, "w"}};
constexpr FieldGroup::Member kOpd2Stride[] = {
    {Field::Opd2CStr, "c"}, {Field::Opd2HStr, "h"}, {Field::Opd2WStr, "w"}};
constexpr FieldGroup::Member kPad[] = {{Field::Opd0UpPad, "u"},
                                       {Field::Opd0DnPad, "d"},
                                       {Field::Opd0LfPad, "l"},
                                       {Field::Opd0RtPad, "r"}};
constexpr FieldGroup::Member kStride[] = {{Field::ResOpYStr, "h"}, {Field::ResOpXStr, "w"}};
constexpr FieldGroup::Member kInsert[] = {{Field::Opd0YIns0, "h"}, {Field::Opd0XIns0, "w"}};
constexpr FieldGroup::Member kKernelInsert[] = {{Field::Opd1YIns0, "h"}, {Field::Opd1XIns0, "w"}};
constexpr FieldGroup::Member kSrc[] = {
    {Field::SrcNsize, "n"}, {Field::SrcCsize, "c"}, {Field::SrcHsize, "h"}, {Field::SrcWsize, "w"}};
constexpr FieldGroup::Member kDst[] = {
    {Field::DstNsize, "n"}, {Field::DstCsize, "c"}, {Field::DstHsize, "h"}, {Field::DstWsize, "w"}};
constexpr FieldGroup::Member kIndex[] = {{Field::IndexCsize, "c"}, {Field::IndexHsize, "h"}};
constexpr FieldGroup::Member kSrcStride[] = {{Field::SrcNstride, "n"},
                                             {Field::SrcCstride, "c"},
                                             {Field::SrcHstride, "h"},
                                             {Field::SrcWstride, "w"}};
constexpr FieldGroup::Member kDstStride[] = {{Field::DstNstride, "n"},
                                             {Field::DstCstride, "c"},
                                             {Field::DstHstride, "h"},
                                             {Field::DstWstride, "w"}};
constexpr FieldGroup::Member kIndexStride[] = {{Field::IndexCstride, "c"},
                                               {Field::IndexHstride, "h"}};
constexpr FieldGroup::Member kSrcAddr[] = {{Field::SrcAddrL32, ""}, {Field::SrcAddrH8, ""}};
constexpr FieldGroup::Member kDstAddr[] = {{Field::DstAddrL32, ""}, {Field::DstAddrH8, ""}};
constexpr FieldGroup::Member kIndexAddr[] = {{Field::IndexAddrL32, ""}, {Field::IndexAddrH8, ""}};
constexpr FieldGroup::Member kMaskAddr[] = {{Field::MaskAddrL32, ""}, {Field::MaskAddrH8, ""}};
constexpr FieldGroup::Member kLanesMask[] = {{Field::LanesL32, ""}, {Field::LanesH32, ""}};

constexpr FieldGroup kGroups[] = {
    {"res0", false, kRes0},
    {"opd0", false, kOpd0},
    {"opd1", false, kOpd1},
    {"res0_stride", false, kRes0Stride},
    {"opd0_stride", false, kOpd0Stride},
    {"opd1_stride", false, kOpd1Stride},
    {"opd2_stride", false, kOpd2Stride},
    {"pad", false, kPad},
    {"window_stride", false, kStride},
    {"insert", false, kInsert},
    {"kernel_insert", false, kKernelInsert},
    {"src", false, kSrc},
    {"dst", false, kDst},
    {"index", false, kIndex},
    {"src_stride", false, kSrcStride},
    {"dst_stride", false, kDstStride},
    {"index_stride", false, kIndexStride},
    {"src_addr", true, kSrcAddr},
    {"dst_addr", true, kDstAddr},
    {"index_addr", true, kIndexAddr},
    {"mask_addr", true, kMaskAddr},
    {"lanes", true, kLanesMask},
};

} // namespace

std::string_view fieldName(Field field) { return kFieldNames[static_cast<size_t>(field)]; }

const FormInfo &formInfo(Form form) { return kForms[static_cast<size_t>(form)]; }

const FieldSpec *findField(Form form, Field field) {
  uint8_t index = kFieldIndex[static_cast<size_t>(form)][static_cast<size_t>(field)];
  return index == 255 ? nullptr : &formInfo(form).fields[index];
}

FieldStyle fieldStyle(Field field) {
  switch (field) {
  case Field::Res0Prec:
  case Field::Opd0Prec:
  case Field::Opd1Prec:
  case Field::Opd2Prec:
  case Field::SrcPrec:
  case Field::IndexPrec:
  case Field::MaskPrec:
    return FieldStyle::Prec;
  case Field::Res0Addr:
  case Field::Res1Addr:
  case Field::Opd0Addr:
  case Field::Opd1Addr:
  case Field::Opd2Addr:
  case Field::Opd3Addr:
  case Field::LaneMask:
  case Field::ConstantValue:
  case Field::RegValue:
    return FieldStyle::Hex;
  default:
    return FieldStyle::Decimal;
  }
}

uint64_t maxLegalValue(Field field, unsigned width) {
  uint64_t all = width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  if (fieldStyle(field) == FieldStyle::Prec)
    return static_cast<uint64_t>(Prec::I4);
  switch (field) {
  case Field::Res0Str:
  case Field::Opd1Str:
  case Field::Opd2Str:
    return 3;
  case Field::Opd0Str:
    return 5;
  default:
    return all;
  }
}

uint64_t minLegalValue(Field field) {
  return field == Field::ResOpXStr || field == Field::ResOpYStr ? 1 : 0;
}

uint64_t defaultValue(Field field, unsigned width) {
  switch (field) {
  case Field::CmdIdEn:
    return 1;
  case Field::LaneMask:
  case Field::LanesL32:
  case Field::LanesH32:
    return width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  default:
    return 0;
  }
}

std::span<const FieldGroup> fieldGroups() { return kGroups; }

std::span<const CommandOp> allCommandOps() { return kCommandOps; }

const CommandOp *findCommandOp(Engine engine, unsigned opcode, unsigned sub) {
  if (opcode >= 16 || sub >= 32)
    return nullptr;
  uint8_t index = kOperationIndex[static_cast<size_t>(engine)][opcode * 32 + sub];
  return index == 255 ? nullptr : &kCommandOps[index];
}

const CommandOp *findCommandOp(std::string_view name) {
  const auto *found = std::ranges::find(kCommandOps, name, &CommandOp::name);
  return found == std::end(kCommandOps) ? nullptr : found;
}

} // namespace tpuc::bm1684x
