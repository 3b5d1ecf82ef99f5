//===- FieldPlaces.h - Bit positions of both engines' commands  -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_MACHINE_FIELDPLACES_H
#define TPUC_TARGET_BM1684_MACHINE_FIELDPLACES_H

#include "tpuc/Target/BM1684/Machine/CommandTable.h"

namespace tpuc::bm1684::places {

/// All classes of the TIU share one layout.
inline constexpr FieldSpec kTiu[] = {
    {Field::CmdEn, 0, 1},        {Field::CmdEnd, 1, 1},       {Field::CmdIdEn, 2, 1},
    {Field::CmdId, 3, 16},       {Field::CmdIdDep, 19, 16},   {Field::CmdKeep, 35, 1},
    {Field::IntrEn, 36, 1},      {Field::Opcode, 37, 4},      {Field::SubOpcode, 41, 5},
    {Field::OpdNum, 46, 2},      {Field::RightShift, 48, 5},  {Field::LeftShift, 53, 5},
    {Field::ShiftTyp, 58, 1},    {Field::ResAdd, 59, 1},      {Field::Relu, 60, 1},
    {Field::LeftTran, 61, 1},    {Field::Winograd, 62, 1},    {Field::KernelRotate, 63, 1},
    {Field::Opd0Sign, 64, 1},    {Field::Opd1Sign, 65, 1},    {Field::Opd2Sign, 66, 1},
    {Field::Res0Prec, 67, 3},    {Field::Opd0Prec, 70, 3},    {Field::Opd1Prec, 73, 3},
    {Field::Opd2Prec, 76, 3},    {Field::Opd0Const, 79, 1},   {Field::Opd1Const, 80, 1},
    {Field::Opd2Const, 81, 1},   {Field::Res0Str, 82, 3},     {Field::Opd0Str, 85, 3},
    {Field::Opd1Str, 88, 3},     {Field::Opd2Str, 91, 3},     {Field::Opd0XIns0, 94, 4},
    {Field::Opd0YIns0, 98, 4},   {Field::Opd1XIns0, 102, 4},  {Field::Opd1YIns0, 106, 4},
    {Field::Opd0UpPad, 110, 4},  {Field::Opd0DnPad, 114, 4},  {Field::Opd0LfPad, 118, 4},
    {Field::Opd0RtPad, 122, 4},  {Field::ResOpXStr, 126, 4},  {Field::ResOpYStr, 130, 4},
    {Field::LaneMask, 134, 64},  {Field::Res0N, 198, 16},     {Field::Res0C, 214, 12},
    {Field::Res0H, 226, 16},     {Field::Res0W, 242, 16},     {Field::Opd0N, 258, 16},
    {Field::Opd0C, 274, 12},     {Field::Opd0H, 286, 16},     {Field::Opd0W, 302, 16},
    {Field::Opd1N, 318, 12},     {Field::Opd1C, 330, 12},     {Field::Opd1H, 342, 16},
    {Field::Opd1W, 358, 16},     {Field::Res0HShift, 374, 4}, {Field::Res0WShift, 378, 4},
    {Field::Opd0HShift, 382, 4}, {Field::Opd0WShift, 386, 4}, {Field::Opd1HShift, 390, 4},
    {Field::Opd1WShift, 394, 4}, {Field::Res0NStr, 398, 19},  {Field::Res0CStr, 417, 19},
    {Field::Opd0NStr, 436, 19},  {Field::Opd0CStr, 455, 19},  {Field::Opd1NStr, 474, 19},
    {Field::Opd1CStr, 493, 19},  {Field::Opd2NStr, 512, 19},  {Field::Opd2CStr, 531, 19},
    {Field::ResAddSign, 550, 1}, {Field::Opd0Neq1, 551, 1},   {Field::Opd1Neq1, 552, 1},
    {Field::Opd3Const, 553, 1},  {Field::Res0Addr, 576, 32},  {Field::Opd0Addr, 608, 32},
    {Field::Opd1Addr, 640, 32},  {Field::Opd2Addr, 672, 32},  {Field::Res0HStr, 704, 32},
    {Field::Res0WStr, 736, 32},  {Field::Opd0HStr, 768, 32},  {Field::Opd0WStr, 800, 32},
    {Field::Opd1HStr, 832, 32},  {Field::Opd1WStr, 864, 32},  {Field::Opd2HStr, 896, 32},
    {Field::Opd2WStr, 928, 32},  {Field::Res1Addr, 960, 32},  {Field::Opd3Addr, 992, 32}};

/// So do all transfers.
inline constexpr FieldSpec kGdma[] = {
    {Field::PioEnable, 0, 1},        {Field::DesType, 1, 1},         {Field::ChainEnd, 2, 1},
    {Field::IntrEn, 3, 1},           {Field::BarrierEnable, 4, 1},   {Field::StrideEnable, 5, 1},
    {Field::Direction, 6, 2},        {Field::AccWriteEnable, 8, 1},  {Field::CommonMode, 9, 1},
    {Field::PrefetchDisable, 10, 1}, {Field::HoldDesValue, 11, 1},   {Field::CmdId, 16, 16},
    {Field::Opcode, 32, 3},          {Field::DstFormat, 35, 3},      {Field::ChwCopy, 38, 1},
    {Field::SubOpcode, 39, 1},       {Field::SrcFormat, 40, 3},      {Field::LrnShiftNum, 43, 4},
    {Field::LrnShiftDir, 47, 1},     {Field::CmdIdDep, 48, 16},      {Field::CmdIdEng1, 64, 16},
    {Field::CmdIdEng3, 80, 16},      {Field::ConstantValue, 96, 32}, {Field::SrcNstride, 128, 32},
    {Field::SrcCstride, 160, 32},    {Field::SrcHstride, 192, 32},   {Field::SrcWstride, 224, 32},
    {Field::DstNstride, 256, 32},    {Field::DstCstride, 288, 32},   {Field::DstHstride, 320, 32},
    {Field::DstWstride, 352, 32},    {Field::SrcNsize, 384, 16},     {Field::SrcCsize, 400, 16},
    {Field::SrcHsize, 416, 16},      {Field::SrcWsize, 432, 16},     {Field::DstNsize, 448, 16},
    {Field::DstCsize, 464, 16},      {Field::DstHsize, 480, 16},     {Field::DstWsize, 496, 16},
    {Field::SrcAddrL32, 512, 32},    {Field::DstAddrL32, 544, 32},   {Field::SrcAddrH8, 576, 8},
    {Field::DstAddrH8, 584, 8},      {Field::SrcHshift, 592, 24},    {Field::SrcWshift, 616, 8},
    {Field::DstHshift, 624, 8},      {Field::DstWshift, 632, 8},     {Field::LanesL32, 640, 32},
    {Field::LanesH32, 672, 32},      {Field::SingleStep, 704, 1},    {Field::DebugMode, 705, 1}};

} // namespace tpuc::bm1684::places

#endif // TPUC_TARGET_BM1684_MACHINE_FIELDPLACES_H
