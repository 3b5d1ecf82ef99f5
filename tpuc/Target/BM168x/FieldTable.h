//===- FieldTable.h - What is said of each field -------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constants, so that the command table of a chip is one. Only the files of the tables include them.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM168X_FIELDTABLE_H
#define TPUC_TARGET_BM168X_FIELDTABLE_H

#include "tpuc/Target/BM168x/Fields.h"

namespace tpuc::bm168x::fieldtable {

using mc::FieldGroup;
using mc::FieldInfo;
using mc::FieldStyle;

inline constexpr std::string_view kPrecNames[] = {"i8", "f16", "f32", "i16", "i32", "bf16", "i4"};
inline constexpr std::string_view kDirectionNames[] = {"s2l", "l2s", "s2s", "l2l"};
inline constexpr uint64_t kAllOnes = ~uint64_t{0};

inline constexpr FieldInfo kFields[] = {
    {Field::CmdShort, "cmd_short"},
    {Field::CmdId, "cmd_id"},
    {Field::CmdIdDep, "cmd_id_dep"},
    {Field::Opcode, "opcode"},
    {Field::SubOpcode, "sub_opcode"},
    {Field::EuHalfEn, "eu_half_en"},
    {Field::OpdNum, "opd_num"},
    {Field::PadMode, "pad_mode"},
    {Field::CmdIdEn, "cmd_id_en", FieldStyle::Decimal, 1},
    {Field::PwrStep, "pwr_step"},
    {Field::IntrEn, "intr_en"},
    {Field::ResAdd, "res_add"},
    {Field::Relu, "relu"},
    {Field::LeftTran, "left_tran"},
    {Field::KernelRotate, "kernel_rotate"},
    {Field::Opd0Sign, "opd0_sign"},
    {Field::Opd1Sign, "opd1_sign"},
    {Field::Opd2Sign, "opd2_sign"},
    {Field::Res0Prec, "res0_prec", FieldStyle::Decimal, 0, kPrecNames},
    {Field::Opd0Prec, "opd0_prec", FieldStyle::Decimal, 0, kPrecNames},
    {Field::Opd1Prec, "opd1_prec", FieldStyle::Decimal, 0, kPrecNames},
    {Field::Opd2Prec, "opd2_prec", FieldStyle::Decimal, 0, kPrecNames},
    {Field::Opd0Const, "opd0_const"},
    {Field::Opd1Const, "opd1_const"},
    {Field::Opd2Const, "opd2_const"},
    {Field::Res0Str, "res0_str"},
    {Field::Opd0Str, "opd0_str"},
    {Field::Opd1Str, "opd1_str"},
    {Field::Opd2Str, "opd2_str"},
    {Field::ResAddSign, "res_add_sign"},
    {Field::Opd3Const, "opd3_const"},
    {Field::Opd0XIns0, "opd0_x_ins0"},
    {Field::Opd0YIns0, "opd0_y_ins0"},
    {Field::Opd1XIns0, "opd1_x_ins0"},
    {Field::Opd1YIns0, "opd1_y_ins0"},
    {Field::Opd0UpPad, "opd0_up_pad"},
    {Field::Opd0DnPad, "opd0_dn_pad"},
    {Field::Opd0LfPad, "opd0_lf_pad"},
    {Field::Opd0RtPad, "opd0_rt_pad"},
    {Field::ResOpXStr, "res_op_x_str"},
    {Field::ResOpYStr, "res_op_y_str"},
    {Field::Res0HShift, "res0_h_shift"},
    {Field::Res0WShift, "res0_w_shift"},
    {Field::Opd0HShift, "opd0_h_shift"},
    {Field::Opd0WShift, "opd0_w_shift"},
    {Field::Opd1HShift, "opd1_h_shift"},
    {Field::Opd1WShift, "opd1_w_shift"},
    {Field::LaneMask, "lane_mask", FieldStyle::Hex, kAllOnes},
    {Field::Res0N, "res0_n"},
    {Field::Res0C, "res0_c"},
    {Field::Res0H, "res0_h"},
    {Field::Res0W, "res0_w"},
    {Field::Opd0N, "opd0_n"},
    {Field::Opd0C, "opd0_c"},
    {Field::Opd0H, "opd0_h"},
    {Field::Opd0W, "opd0_w"},
    {Field::Opd1N, "opd1_n"},
    {Field::Opd1C, "opd1_c"},
    {Field::Opd1H, "opd1_h"},
    {Field::Opd1W, "opd1_w"},
    {Field::Res0NStr, "res0_n_str"},
    {Field::Res0CStr, "res0_c_str"},
    {Field::Opd0NStr, "opd0_n_str"},
    {Field::Opd0CStr, "opd0_c_str"},
    {Field::Opd1NStr, "opd1_n_str"},
    {Field::Opd1CStr, "opd1_c_str"},
    {Field::Round, "round"},
    {Field::Opd2CStr, "opd2_c_str"},
    {Field::Res0Addr, "res0_addr", FieldStyle::Hex},
    {Field::Opd0Addr, "opd0_addr", FieldStyle::Hex},
    {Field::Opd1Addr, "opd1_addr", FieldStyle::Hex},
    {Field::Opd2Addr, "opd2_addr", FieldStyle::Hex},
    {Field::Res0HStr, "res0_h_str"},
    {Field::Res0WStr, "res0_w_str"},
    {Field::Opd0HStr, "opd0_h_str"},
    {Field::Opd0WStr, "opd0_w_str"},
    {Field::Opd1HStr, "opd1_h_str"},
    {Field::Opd1WStr, "opd1_w_str"},
    {Field::Opd2HStr, "opd2_h_str"},
    {Field::Opd2WStr, "opd2_w_str"},
    {Field::Res1Addr, "res1_addr", FieldStyle::Hex},
    {Field::Opd3Addr, "opd3_addr", FieldStyle::Hex},
    {Field::StartTid, "start_tid"},
    {Field::CmdIdEng1, "cmd_id_eng1"},
    {Field::CmdIdEng2, "cmd_id_eng2"},
    {Field::CmdIdEng3, "cmd_id_eng3"},
    {Field::StrideEnable, "stride_enable"},
    {Field::NchwCopy, "nchw_copy"},
    {Field::DecompressEnable, "decompress_enable"},
    {Field::FillConstantEn, "fill_constant_en"},
    {Field::SrcPrec, "src_prec", FieldStyle::Decimal, 0, kPrecNames},
    {Field::ConstantValue, "constant_value", FieldStyle::Hex},
    {Field::SrcNstride, "src_nstride"},
    {Field::SrcCstride, "src_cstride"},
    {Field::SrcHstride, "src_hstride"},
    {Field::SrcWstride, "src_wstride"},
    {Field::DstNstride, "dst_nstride"},
    {Field::DstCstride, "dst_cstride"},
    {Field::DstHstride, "dst_hstride"},
    {Field::DstWstride, "dst_wstride"},
    {Field::SrcNsize, "src_nsize"},
    {Field::SrcCsize, "src_csize"},
    {Field::SrcHsize, "src_hsize"},
    {Field::SrcWsize, "src_wsize"},
    {Field::DstNsize, "dst_nsize"},
    {Field::DstCsize, "dst_csize"},
    {Field::DstHsize, "dst_hsize"},
    {Field::DstWsize, "dst_wsize"},
    {Field::SrcAddrL32, "src_addr_l32"},
    {Field::SrcAddrH8, "src_addr_h8"},
    {Field::DstAddrL32, "dst_addr_l32"},
    {Field::DstAddrH8, "dst_addr_h8"},
    {Field::LanesL32, "lanes_l32", FieldStyle::Decimal, kAllOnes},
    {Field::LanesH32, "lanes_h32", FieldStyle::Decimal, kAllOnes},
    {Field::IndexCstride, "index_cstride"},
    {Field::IndexHstride, "index_hstride"},
    {Field::IndexCsize, "index_csize"},
    {Field::IndexHsize, "index_hsize"},
    {Field::IndexAddrL32, "index_addr_l32"},
    {Field::IndexAddrH8, "index_addr_h8"},
    {Field::IndexPrec, "index_prec", FieldStyle::Decimal, 0, kPrecNames},
    {Field::MaskPrec, "mask_prec", FieldStyle::Decimal, 0, kPrecNames},
    {Field::MaskAddrL32, "mask_addr_l32"},
    {Field::MaskAddrH8, "mask_addr_h8"},
    {Field::RegValid, "reg_valid"},
    {Field::RegIndex, "reg_index"},
    {Field::RegValue, "reg_value", FieldStyle::Hex},
    {Field::CmdEn, "cmd_en", FieldStyle::Decimal, 1},
    {Field::CmdEnd, "cmd_end"},
    {Field::CmdKeep, "cmd_keep"},
    {Field::RightShift, "right_shift"},
    {Field::LeftShift, "left_shift"},
    {Field::ShiftTyp, "shift_typ", FieldStyle::Decimal, 1},
    {Field::Winograd, "winograd"},
    {Field::Opd0Neq1, "opd0_neq1"},
    {Field::Opd1Neq1, "opd1_neq1"},
    {Field::Opd2NStr, "opd2_n_str"},
    {Field::PioEnable, "pio_enable", FieldStyle::Decimal, 1},
    {Field::DesType, "des_type"},
    {Field::ChainEnd, "chain_end"},
    {Field::BarrierEnable, "barrier_enable", FieldStyle::Decimal, 1},
    {Field::Direction, "direction", FieldStyle::Decimal, 0, kDirectionNames},
    {Field::AccWriteEnable, "acc_write_enable"},
    {Field::CommonMode, "common_mode"},
    {Field::PrefetchDisable, "prefetch_disable", FieldStyle::Decimal, 1},
    {Field::HoldDesValue, "hold_des_value"},
    {Field::SrcFormat, "src_format"},
    {Field::DstFormat, "dst_format"},
    {Field::ChwCopy, "chw_copy"},
    {Field::LrnShiftNum, "lrn_shift_num", FieldStyle::Decimal, 1},
    {Field::LrnShiftDir, "lrn_shift_dir"},
    {Field::SrcHshift, "src_hshift"},
    {Field::SrcWshift, "src_wshift"},
    {Field::DstHshift, "dst_hshift"},
    {Field::DstWshift, "dst_wshift"},
    {Field::SingleStep, "single_step"},
    {Field::DebugMode, "debug_mode"},
};
static_assert(std::size(kFields) == kNumFields);

inline constexpr FieldGroup::Member kRes0[] = {
    {Field::Res0N, "n"}, {Field::Res0C, "c"}, {Field::Res0H, "h"}, {Field::Res0W, "w"}};
inline constexpr FieldGroup::Member kOpd0[] = {
    {Field::Opd0N, "n"}, {Field::Opd0C, "c"}, {Field::Opd0H, "h"}, {Field::Opd0W, "w"}};
inline constexpr FieldGroup::Member kOpd1[] = {
    {Field::Opd1N, "n"}, {Field::Opd1C, "c"}, {Field::Opd1H, "h"}, {Field::Opd1W, "w"}};
inline constexpr FieldGroup::Member kRes0Stride[] = {
    {Field::Res0NStr, "n"}, {Field::Res0CStr, "c"}, {Field::Res0HStr, "h"}, {Field::Res0WStr, "w"}};
inline constexpr FieldGroup::Member kOpd0Stride[] = {
    {Field::Opd0NStr, "n"}, {Field::Opd0CStr, "c"}, {Field::Opd0HStr, "h"}, {Field::Opd0WStr, "w"}};
inline constexpr FieldGroup::Member kOpd1Stride[] = {
    {Field::Opd1NStr, "n"}, {Field::Opd1CStr, "c"}, {Field::Opd1HStr, "h"}, {Field::Opd1WStr, "w"}};
inline constexpr FieldGroup::Member kOpd2Stride[] = {
    {Field::Opd2CStr, "c"}, {Field::Opd2HStr, "h"}, {Field::Opd2WStr, "w"}};
inline constexpr FieldGroup::Member kPad[] = {{Field::Opd0UpPad, "u"},
                                              {Field::Opd0DnPad, "d"},
                                              {Field::Opd0LfPad, "l"},
                                              {Field::Opd0RtPad, "r"}};
inline constexpr FieldGroup::Member kStride[] = {{Field::ResOpYStr, "h"}, {Field::ResOpXStr, "w"}};
inline constexpr FieldGroup::Member kInsert[] = {{Field::Opd0YIns0, "h"}, {Field::Opd0XIns0, "w"}};
inline constexpr FieldGroup::Member kKernelInsert[] = {{Field::Opd1YIns0, "h"},
                                                       {Field::Opd1XIns0, "w"}};
inline constexpr FieldGroup::Member kSrc[] = {
    {Field::SrcNsize, "n"}, {Field::SrcCsize, "c"}, {Field::SrcHsize, "h"}, {Field::SrcWsize, "w"}};
inline constexpr FieldGroup::Member kDst[] = {
    {Field::DstNsize, "n"}, {Field::DstCsize, "c"}, {Field::DstHsize, "h"}, {Field::DstWsize, "w"}};
inline constexpr FieldGroup::Member kIndex[] = {{Field::IndexCsize, "c"}, {Field::IndexHsize, "h"}};
inline constexpr FieldGroup::Member kSrcStride[] = {{Field::SrcNstride, "n"},
                                                    {Field::SrcCstride, "c"},
                                                    {Field::SrcHstride, "h"},
                                                    {Field::SrcWstride, "w"}};
inline constexpr FieldGroup::Member kDstStride[] = {{Field::DstNstride, "n"},
                                                    {Field::DstCstride, "c"},
                                                    {Field::DstHstride, "h"},
                                                    {Field::DstWstride, "w"}};
inline constexpr FieldGroup::Member kIndexStride[] = {{Field::IndexCstride, "c"},
                                                      {Field::IndexHstride, "h"}};
inline constexpr FieldGroup::Member kSrcAddr[] = {{Field::SrcAddrL32, ""}, {Field::SrcAddrH8, ""}};
inline constexpr FieldGroup::Member kDstAddr[] = {{Field::DstAddrL32, ""}, {Field::DstAddrH8, ""}};
inline constexpr FieldGroup::Member kIndexAddr[] = {{Field::IndexAddrL32, ""},
                                                    {Field::IndexAddrH8, ""}};
inline constexpr FieldGroup::Member kMaskAddr[] = {{Field::MaskAddrL32, ""},
                                                   {Field::MaskAddrH8, ""}};
inline constexpr FieldGroup::Member kLanesMask[] = {{Field::LanesL32, ""}, {Field::LanesH32, ""}};

inline constexpr FieldGroup kGroups[] = {
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

} // namespace tpuc::bm168x::fieldtable

#endif // TPUC_TARGET_BM168X_FIELDTABLE_H
