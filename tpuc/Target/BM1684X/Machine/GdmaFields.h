//===- GdmaFields.h - Bit positions of the GDMA's forms -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_MACHINE_GDMAFIELDS_H
#define TPUC_TARGET_BM1684X_MACHINE_GDMAFIELDS_H

#include "tpuc/Target/BM1684X/Machine/CommandTable.h"

namespace tpuc::bm1684x::gdmafields {

inline constexpr FieldSpec kDmaTensor[] = {
    {Field::IntrEn, 0, 1},          {Field::StrideEnable, 1, 1},     {Field::NchwCopy, 2, 1},
    {Field::CmdShort, 3, 1},        {Field::DecompressEnable, 4, 1}, {Field::CmdIdEn, 5, 4},
    {Field::CmdId, 9, 20},          {Field::Opcode, 32, 4},          {Field::SubOpcode, 36, 3},
    {Field::FillConstantEn, 39, 1}, {Field::SrcPrec, 40, 3},         {Field::CmdIdDep, 64, 20},
    {Field::ConstantValue, 96, 32}, {Field::SrcNstride, 128, 32},    {Field::SrcCstride, 160, 32},
    {Field::SrcHstride, 192, 32},   {Field::SrcWstride, 224, 32},    {Field::DstNstride, 256, 32},
    {Field::DstCstride, 288, 32},   {Field::DstHstride, 320, 32},    {Field::DstWstride, 352, 32},
    {Field::SrcNsize, 384, 16},     {Field::SrcCsize, 400, 16},      {Field::SrcHsize, 416, 16},
    {Field::SrcWsize, 432, 16},     {Field::DstNsize, 448, 16},      {Field::DstCsize, 464, 16},
    {Field::DstHsize, 480, 16},     {Field::DstWsize, 496, 16},      {Field::SrcAddrL32, 512, 32},
    {Field::SrcAddrH8, 544, 8},     {Field::DstAddrL32, 576, 32},    {Field::DstAddrH8, 608, 8},
    {Field::LanesL32, 704, 32},     {Field::LanesH32, 736, 32}};

inline constexpr FieldSpec kDmaGather[] = {
    {Field::IntrEn, 0, 1},          {Field::StrideEnable, 1, 1},     {Field::NchwCopy, 2, 1},
    {Field::CmdShort, 3, 1},        {Field::DecompressEnable, 4, 1}, {Field::CmdIdEn, 5, 4},
    {Field::CmdId, 9, 20},          {Field::Opcode, 32, 4},          {Field::SubOpcode, 36, 3},
    {Field::FillConstantEn, 39, 1}, {Field::SrcPrec, 40, 3},         {Field::CmdIdDep, 64, 20},
    {Field::ConstantValue, 96, 32}, {Field::SrcCstride, 128, 32},    {Field::SrcHstride, 160, 32},
    {Field::DstCstride, 192, 32},   {Field::DstHstride, 224, 32},    {Field::IndexCstride, 256, 32},
    {Field::IndexHstride, 288, 32}, {Field::SrcCsize, 336, 16},      {Field::SrcHsize, 352, 32},
    {Field::SrcWsize, 384, 16},     {Field::DstCsize, 400, 16},      {Field::DstHsize, 416, 32},
    {Field::DstWsize, 448, 16},     {Field::IndexCsize, 464, 16},    {Field::IndexHsize, 480, 32},
    {Field::SrcAddrL32, 512, 32},   {Field::SrcAddrH8, 544, 8},      {Field::DstAddrL32, 576, 32},
    {Field::DstAddrH8, 608, 8},     {Field::IndexAddrL32, 640, 32},  {Field::IndexAddrH8, 672, 8},
    {Field::LanesL32, 704, 32},     {Field::LanesH32, 736, 32}};

inline constexpr FieldSpec kDmaSys[] = {
    {Field::IntrEn, 0, 1},          {Field::StrideEnable, 1, 1},     {Field::NchwCopy, 2, 1},
    {Field::CmdShort, 3, 1},        {Field::DecompressEnable, 4, 1}, {Field::CmdIdEn, 5, 4},
    {Field::CmdId, 9, 20},          {Field::Opcode, 32, 4},          {Field::SubOpcode, 36, 3},
    {Field::FillConstantEn, 39, 1}, {Field::SrcPrec, 40, 3},         {Field::CmdIdDep, 64, 20},
    {Field::ConstantValue, 96, 32}};

inline constexpr FieldSpec kDmaShortMatrix[] = {
    {Field::IntrEn, 0, 1},          {Field::StrideEnable, 1, 1},     {Field::NchwCopy, 2, 1},
    {Field::CmdShort, 3, 1},        {Field::DecompressEnable, 4, 1}, {Field::CmdIdEn, 5, 4},
    {Field::CmdId, 9, 20},          {Field::Opcode, 32, 4},          {Field::SubOpcode, 36, 3},
    {Field::FillConstantEn, 39, 1}, {Field::SrcPrec, 40, 3},         {Field::CmdIdDep, 64, 20},
    {Field::SrcHstride, 96, 32},    {Field::DstNstride, 128, 32},    {Field::DstCstride, 160, 32},
    {Field::SrcHsize, 192, 16},     {Field::SrcWsize, 208, 16},      {Field::DstNsize, 224, 16},
    {Field::DstCsize, 240, 16},     {Field::DstWsize, 256, 16},      {Field::SrcAddrL32, 288, 32},
    {Field::SrcAddrH8, 320, 8},     {Field::DstAddrL32, 352, 32},    {Field::DstAddrH8, 384, 8},
    {Field::LanesL32, 448, 32},     {Field::LanesH32, 480, 32}};

inline constexpr FieldSpec kDmaShortGeneral[] = {
    {Field::IntrEn, 0, 1},          {Field::StrideEnable, 1, 1},     {Field::NchwCopy, 2, 1},
    {Field::CmdShort, 3, 1},        {Field::DecompressEnable, 4, 1}, {Field::CmdIdEn, 5, 4},
    {Field::CmdId, 9, 20},          {Field::Opcode, 32, 4},          {Field::SubOpcode, 36, 3},
    {Field::FillConstantEn, 39, 1}, {Field::SrcPrec, 40, 3},         {Field::CmdIdDep, 64, 20},
    {Field::ConstantValue, 96, 32}, {Field::SrcCstride, 128, 32},    {Field::DstCsize, 160, 16},
    {Field::SrcAddrL32, 192, 32},   {Field::SrcAddrH8, 224, 8},      {Field::DstAddrL32, 256, 32},
    {Field::DstAddrH8, 288, 8},     {Field::LanesL32, 320, 32},      {Field::LanesH32, 352, 32}};

inline constexpr FieldSpec kDmaShortNonzero[] = {
    {Field::IntrEn, 0, 1},          {Field::StrideEnable, 1, 1},     {Field::NchwCopy, 2, 1},
    {Field::CmdShort, 3, 1},        {Field::DecompressEnable, 4, 1}, {Field::CmdIdEn, 5, 4},
    {Field::CmdId, 9, 20},          {Field::Opcode, 32, 4},          {Field::SubOpcode, 36, 3},
    {Field::FillConstantEn, 39, 1}, {Field::SrcPrec, 40, 3},         {Field::IndexPrec, 43, 3},
    {Field::CmdIdDep, 64, 20},      {Field::DstNstride, 96, 32},     {Field::SrcNsize, 128, 16},
    {Field::SrcCsize, 144, 16},     {Field::SrcHsize, 160, 16},      {Field::SrcWsize, 176, 16},
    {Field::SrcAddrL32, 192, 32},   {Field::SrcAddrH8, 224, 8},      {Field::DstAddrL32, 256, 32},
    {Field::DstAddrH8, 288, 8}};

inline constexpr FieldSpec kDmaShortSelect[] = {
    {Field::IntrEn, 0, 1},          {Field::StrideEnable, 1, 1},     {Field::NchwCopy, 2, 1},
    {Field::CmdShort, 3, 1},        {Field::DecompressEnable, 4, 1}, {Field::CmdIdEn, 5, 4},
    {Field::CmdId, 9, 20},          {Field::Opcode, 32, 4},          {Field::SubOpcode, 36, 3},
    {Field::FillConstantEn, 39, 1}, {Field::SrcPrec, 40, 3},         {Field::MaskPrec, 43, 3},
    {Field::CmdIdDep, 64, 20},      {Field::SrcNsize, 96, 16},       {Field::SrcCsize, 112, 16},
    {Field::SrcHsize, 128, 16},     {Field::SrcWsize, 144, 16},      {Field::DstNsize, 160, 16},
    {Field::DstCsize, 176, 16},     {Field::DstHsize, 192, 16},      {Field::DstWsize, 208, 16},
    {Field::SrcAddrL32, 224, 32},   {Field::SrcAddrH8, 256, 8},      {Field::DstAddrL32, 288, 32},
    {Field::DstAddrH8, 320, 8},     {Field::MaskAddrL32, 352, 32},   {Field::MaskAddrH8, 384, 8}};

inline constexpr FieldSpec kDmaNonzero[] = {
    {Field::IntrEn, 0, 1},          {Field::StrideEnable, 1, 1},     {Field::NchwCopy, 2, 1},
    {Field::CmdShort, 3, 1},        {Field::DecompressEnable, 4, 1}, {Field::CmdIdEn, 5, 4},
    {Field::CmdId, 9, 20},          {Field::Opcode, 32, 4},          {Field::SubOpcode, 36, 3},
    {Field::FillConstantEn, 39, 1}, {Field::SrcPrec, 40, 3},         {Field::IndexPrec, 43, 3},
    {Field::CmdIdDep, 64, 20},      {Field::ConstantValue, 96, 32},  {Field::SrcNstride, 128, 32},
    {Field::SrcCstride, 160, 32},   {Field::SrcHstride, 192, 32},    {Field::SrcWstride, 224, 32},
    {Field::DstNstride, 256, 32},   {Field::DstCstride, 288, 32},    {Field::DstHstride, 320, 32},
    {Field::DstWstride, 352, 32},   {Field::SrcNsize, 384, 16},      {Field::SrcCsize, 400, 16},
    {Field::SrcHsize, 416, 16},     {Field::SrcWsize, 432, 16},      {Field::DstNsize, 448, 16},
    {Field::DstCsize, 464, 16},     {Field::DstHsize, 480, 16},      {Field::DstWsize, 496, 16},
    {Field::SrcAddrL32, 512, 32},   {Field::SrcAddrH8, 544, 8},      {Field::DstAddrL32, 576, 32},
    {Field::DstAddrH8, 608, 8},     {Field::LanesL32, 704, 32},      {Field::LanesH32, 736, 32}};

inline constexpr FieldSpec kDmaSelect[] = {
    {Field::IntrEn, 0, 1},          {Field::StrideEnable, 1, 1},     {Field::NchwCopy, 2, 1},
    {Field::CmdShort, 3, 1},        {Field::DecompressEnable, 4, 1}, {Field::CmdIdEn, 5, 4},
    {Field::CmdId, 9, 20},          {Field::Opcode, 32, 4},          {Field::SubOpcode, 36, 3},
    {Field::FillConstantEn, 39, 1}, {Field::SrcPrec, 40, 3},         {Field::MaskPrec, 43, 3},
    {Field::CmdIdDep, 64, 20},      {Field::ConstantValue, 96, 32},  {Field::SrcNstride, 128, 32},
    {Field::SrcCstride, 160, 32},   {Field::SrcHstride, 192, 32},    {Field::SrcWstride, 224, 32},
    {Field::DstNstride, 256, 32},   {Field::DstCstride, 288, 32},    {Field::DstHstride, 320, 32},
    {Field::DstWstride, 352, 32},   {Field::SrcNsize, 384, 16},      {Field::SrcCsize, 400, 16},
    {Field::SrcHsize, 416, 16},     {Field::SrcWsize, 432, 16},      {Field::DstNsize, 448, 16},
    {Field::DstCsize, 464, 16},     {Field::DstHsize, 480, 16},      {Field::DstWsize, 496, 16},
    {Field::SrcAddrL32, 512, 32},   {Field::SrcAddrH8, 544, 8},      {Field::DstAddrL32, 576, 32},
    {Field::DstAddrH8, 608, 8},     {Field::MaskAddrL32, 640, 32},   {Field::MaskAddrH8, 672, 8},
    {Field::LanesL32, 704, 32},     {Field::LanesH32, 736, 32}};

} // namespace tpuc::bm1684x::gdmafields

#endif // TPUC_TARGET_BM1684X_MACHINE_GDMAFIELDS_H
