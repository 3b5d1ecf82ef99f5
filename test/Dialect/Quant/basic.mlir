// Types and casts, printed and parsed back.
// RUN: tpuc-opt %s --mlir-print-local-scope | tpuc-opt --mlir-print-local-scope | FileCheck %s
// RUN: tpuc-opt %s --emit-bytecode | tpuc-opt --mlir-print-local-scope | FileCheck %s

!alias = !quant.uniform<i8:f32, 2.0>

// Storage types and bounds. A bound that is the type's own is not printed.
// CHECK-LABEL: @storage
// CHECK-SAME: (!quant.any<i8>, !quant.any<i8<-16:15>:f32>, !quant.any<u1>,
// CHECK-SAME: !quant.uniform<i1:f32, 1.000000e+00>, !quant.uniform<u32:f32, 1.000000e+00>,
// CHECK-SAME: !quant.uniform<i32<-2147483648:0>:f32, 1.000000e+00>,
// CHECK-SAME: !quant.uniform<u32<1:4294967295>:f32, 1.000000e+00:4294967295>,
// CHECK-SAME: !quant.uniform<i8:f32, 1.000000e+00>, !quant.uniform<i8<3:4>:f32, 1.000000e+00>,
// CHECK-SAME: !quant.uniform<i8<-127:127>:f32, 1.000000e+00>)
func.func private @storage(!quant.any<i8>, !quant.any<i8<-16:15>:f32>, !quant.any<u1<0:1>>,
    !quant.uniform<i1:f32, 1.0>, !quant.uniform<u32:f32, 1.0>,
    !quant.uniform<i32<-2147483648:0>:f32, 1.0>, !quant.uniform<u32<1:4294967295>:f32, 1.0:4294967295>,
    !quant.uniform<i8<-128:127>:f32, 1.0>, !quant.uniform<i8<3:4>:f32, 1.0>,
    !quant.uniform<i8<-127:127>:f32, 1.0>)

// CHECK-LABEL: @expressed
// CHECK-SAME: (!quant.uniform<i8:f16, 1.000000e+00>, !quant.uniform<i8:bf16, 1.000000e+00>, !quant.uniform<i8:f64, 1.000000e+00>)
func.func private @expressed(!quant.uniform<i8:f16, 1.0>, !quant.uniform<i8:bf16, 1.0>,
    !quant.uniform<i8:f64, 1.0>)

// A scale prints in short form where that is exact and with all its digits where not. The second
// parse reads what the first printed, so the check proves that no bit is lost.
// CHECK-LABEL: @scales
// CHECK-SAME: (!quant.uniform<i8:f32, 1.230000e+00>, !quant.uniform<i8:f64, 1.000000e-01>,
// CHECK-SAME: !quant.uniform<i8:f64, 0.10000000000000002>, !quant.uniform<i8:f64, 0.0039215686274509803>,
// CHECK-SAME: !quant.uniform<i8:f64, 1.000000e+300>, !quant.uniform<i8:f64, 4.940660e-324>)
func.func private @scales(!quant.uniform<i8:f32, 1.23>, !quant.uniform<i8:f64, 0.1000000000000000055>,
    !quant.uniform<i8:f64, 0.10000000000000002>, !quant.uniform<i8:f64, 0.00392156862745098>,
    !quant.uniform<i8:f64, 1.0e300>, !quant.uniform<i8:f64, 4.9406564584124654e-324>)

// A zero point may lie outside the storage bounds; a zero point of 0 is not printed.
// CHECK-LABEL: @zero_points
// CHECK-SAME: (!quant.uniform<i8<-8:7>:f32, 2.000000e+00:10>, !quant.uniform<i8:f32, 2.000000e+00:-128>,
// CHECK-SAME: tensor<2x!quant.uniform<i8:f32:0, {2.000000e+00, 3.000000e+00:-7}>>)
func.func private @zero_points(!quant.uniform<i8<-8:7>:f32, 2.0:10>, !quant.uniform<i8:f32, 2.0:-128>,
    tensor<2x!quant.uniform<i8:f32:0, {2.0:0, 3.0:-7}>>)

// CHECK-LABEL: @calibrated
// CHECK-SAME: (tensor<1x!quant.calibrated<f32<-0.998:1.232100e+00>>>, !quant.calibrated<bf16<0.000000e+00:0.000000e+00>>,
// CHECK-SAME: !quant.calibrated<f32<-0.000000e+00:1.000000e+00>>)
func.func private @calibrated(tensor<1x!quant.calibrated<f32<-0.998:1.2321>>>,
    !quant.calibrated<bf16<0.0:0.0>>, !quant.calibrated<f32<-0.0:1.0>>)

// CHECK-LABEL: @casts
func.func @casts(%s: f32, %r: tensor<?x3xf32>, %u: tensor<*xf32>) {
  // CHECK: quant.qcast %{{.*}} : f32 to !quant.uniform<i8:f32, 2.000000e+00>
  %0 = quant.qcast %s : f32 to !alias
  // CHECK: quant.dcast %{{.*}} : !quant.uniform<i8:f32, 2.000000e+00> to f32
  %1 = quant.dcast %0 : !alias to f32
  // CHECK: quant.scast %{{.*}} : !quant.uniform<i8:f32, 2.000000e+00> to i8
  %2 = quant.scast %0 : !alias to i8
  // CHECK: quant.scast %{{.*}} {note} : i8 to !quant.uniform<u8:f32, 1.000000e+00>
  %3 = quant.scast %2 {note} : i8 to !quant.uniform<u8:f32, 1.0>
  // CHECK: quant.qcast %{{.*}} : tensor<?x3xf32> to tensor<?x3x!quant.uniform<i8:f32:1,
  %4 = quant.qcast %r : tensor<?x3xf32> to tensor<?x3x!quant.uniform<i8:f32:1, {1.0, 2.0, 3.0}>>
  // A dynamic channel dimension may turn out right.
  %5 = quant.qcast %r : tensor<?x3xf32> to tensor<?x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  // CHECK: quant.qcast %{{.*}} : tensor<*xf32> to tensor<*x!quant.uniform<i8:f32:7, {
  %6 = quant.qcast %u : tensor<*xf32> to tensor<*x!quant.uniform<i8:f32:7, {1.0, 2.0}>>
  // The generic form is the same op.
  // CHECK: quant.dcast %{{.*}} : tensor<*x!quant.uniform<i8:f32:7,
  %7 = "quant.dcast"(%6) : (tensor<*x!quant.uniform<i8:f32:7, {1.0, 2.0}>>) -> tensor<*xf32>
  return
}
