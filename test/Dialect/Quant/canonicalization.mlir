// RUN: tpuc-opt %s --canonicalize --split-input-file | FileCheck %s
// RUN: tpuc-opt %s --cse --split-input-file | FileCheck %s --check-prefix=CSE
// Only --canonicalize cancels: folding must not drop a rounding.
// RUN: tpuc-opt %s --sccp --split-input-file | FileCheck %s --check-prefix=SCCP

!q = !quant.uniform<i8:f32, 2.0>

// dcast(qcast(x)) -> x; the qcast is dead.
// CHECK-LABEL: @dcast_of_qcast
// CHECK-SAME: (%[[X:.*]]: tensor<3xf32>)
// CHECK-NEXT: return %[[X]]
// SCCP-LABEL: @dcast_of_qcast
// SCCP: quant.qcast
// SCCP: quant.dcast
func.func @dcast_of_qcast(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = quant.qcast %x : tensor<3xf32> to tensor<3x!q>
  %1 = quant.dcast %0 : tensor<3x!q> to tensor<3xf32>
  return %1 : tensor<3xf32>
}

// The qcast that someone else reads stays.
// CHECK-LABEL: @dcast_of_used_qcast
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK: %[[Q:.*]] = quant.qcast %[[X]]
// CHECK-NEXT: return %[[Q]], %[[X]]
func.func @dcast_of_used_qcast(%x: f32) -> (!q, f32) {
  %0 = quant.qcast %x : f32 to !q
  %1 = quant.dcast %0 : !q to f32
  return %0, %1 : !q, f32
}

// CHECK-LABEL: @qcast_of_dcast
// CHECK-SAME: (%[[X:.*]]: tensor<*x
// CHECK-NEXT: return %[[X]]
func.func @qcast_of_dcast(%x: tensor<*x!q>) -> tensor<*x!q> {
  %0 = quant.dcast %x : tensor<*x!q> to tensor<*xf32>
  %1 = quant.qcast %0 : tensor<*xf32> to tensor<*x!q>
  return %1 : tensor<*x!q>
}

// Another scale: a requantization, which stays.
// CHECK-LABEL: @requantize
// CHECK: quant.dcast
// CHECK: quant.qcast
func.func @requantize(%x: !q) -> !quant.uniform<i8:f32, 3.0> {
  %0 = quant.dcast %x : !q to f32
  %1 = quant.qcast %0 : f32 to !quant.uniform<i8:f32, 3.0>
  return %1 : !quant.uniform<i8:f32, 3.0>
}

// CHECK-LABEL: @scast_of_scast
// CHECK-SAME: (%[[X:.*]]: i8, %[[Q:.*]]: !q
// CHECK-NEXT: return %[[X]], %[[Q]]
func.func @scast_of_scast(%x: i8, %q: !q) -> (i8, !q) {
  %0 = quant.scast %x : i8 to !q
  %1 = quant.scast %0 : !q to i8
  %2 = quant.scast %q : !q to i8
  %3 = quant.scast %2 : i8 to !q
  return %1, %3 : i8, !q
}

// Through the integer into another quantized type: no pair.
// CHECK-LABEL: @scast_to_other
// CHECK: quant.scast
// CHECK: quant.scast
func.func @scast_to_other(%q: !q) -> !quant.uniform<u8:f32, 3.0> {
  %0 = quant.scast %q : !q to i8
  %1 = quant.scast %0 : i8 to !quant.uniform<u8:f32, 3.0>
  return %1 : !quant.uniform<u8:f32, 3.0>
}

// No pair is looked for through other casts.
// CHECK-LABEL: @dcast_of_scast
// CHECK: quant.scast
// CHECK: quant.dcast
func.func @dcast_of_scast(%x: i8) -> f32 {
  %0 = quant.scast %x : i8 to !q
  %1 = quant.dcast %0 : !q to f32
  return %1 : f32
}

// Pure: unused casts go, equal ones are one.
// CHECK-LABEL: @unused
// CHECK-NEXT: return
func.func @unused(%x: f32, %q: !q) {
  %0 = quant.qcast %x : f32 to !q
  %1 = quant.dcast %q : !q to f32
  %2 = quant.scast %q : !q to i8
  return
}

// CSE-LABEL: @equal
// CSE-COUNT-3: quant.{{[qds]}}cast
// CSE-NOT: quant.{{[qds]}}cast
// CSE: return
func.func @equal(%x: f32, %q: !q) -> (!q, !q, f32, f32, i8, i8) {
  %0 = quant.qcast %x : f32 to !q
  %1 = quant.qcast %x : f32 to !q
  %2 = quant.dcast %q : !q to f32
  %3 = quant.dcast %q : !q to f32
  %4 = quant.scast %q : !q to i8
  %5 = quant.scast %q : !q to i8
  return %0, %1, %2, %3, %4, %5 : !q, !q, f32, f32, i8, i8
}
