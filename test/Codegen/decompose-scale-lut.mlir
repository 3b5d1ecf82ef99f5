// Tables of channels: one for all where they are equal, each by itself where no product gives them.
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=%chip --decompose --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK: "tpu.Lut"(%{{.*}}, %{{.*}}) : {{.*}} -> tensor<1x2x4x4x!quant.uniform<i8:f32, 5.000000e-01>> loc("equal")
// CHECK: %[[A:.*]] = "tpu.Slice"({{.*}}offset = [0]{{.*}} -> tensor<1x1x4x4x
// CHECK: %[[B:.*]] = "tpu.Lut"(%[[A]], {{.*}} -> tensor<1x1x4x4x
// CHECK: %[[C:.*]] = "tpu.Slice"({{.*}}offset = [1]{{.*}} -> tensor<1x1x4x4x
// CHECK: %[[D:.*]] = "tpu.Lut"(%[[C]], {{.*}} -> tensor<1x1x4x4x
// CHECK: "tpu.Concat"(%[[B]], %[[D]]) {axis = 1 : i64{{.*}} loc("steps")
// CHECK-NOT: tpu.ScaleLut
module attributes {module.name = "net", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x2x4x4x!quant.uniform<u8:f32, 1.0>>) -> (tensor<1x2x4x4x!quant.uniform<i8:f32, 0.5>>, tensor<1x2x4x4x!quant.uniform<i8:f32, 0.5>>) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (tensor<1x2x4x4x!quant.uniform<u8:f32, 1.0>>) -> tensor<1x2x4x4x!quant.uniform<u8:f32, 1.0>> loc("x")
    %low = "top.ConstantFill"(%none) {shape = [1, 128], value = 3 : i8} : (none) -> tensor<1x128xi8> loc("low")
    %high = "top.ConstantFill"(%none) {shape = [1, 128], value = 100 : i8} : (none) -> tensor<1x128xi8> loc("high")
    %up = "top.Concat"(%low, %high) {axis = 1 : i64} : (tensor<1x128xi8>, tensor<1x128xi8>) -> tensor<1x256xi8> loc("up")
    %down = "top.Concat"(%high, %low) {axis = 1 : i64} : (tensor<1x128xi8>, tensor<1x128xi8>) -> tensor<1x256xi8> loc("down")
    %same = "top.Concat"(%up, %up) {axis = 0 : i64} : (tensor<1x256xi8>, tensor<1x256xi8>) -> tensor<2x256xi8> loc("same")
    %other = "top.Concat"(%up, %down) {axis = 0 : i64} : (tensor<1x256xi8>, tensor<1x256xi8>) -> tensor<2x256xi8> loc("other")
    %1 = "tpu.ScaleLut"(%x, %same) : (tensor<1x2x4x4x!quant.uniform<u8:f32, 1.0>>, tensor<2x256xi8>) -> tensor<1x2x4x4x!quant.uniform<i8:f32, 0.5>> loc("equal")
    %2 = "tpu.ScaleLut"(%x, %other) : (tensor<1x2x4x4x!quant.uniform<u8:f32, 1.0>>, tensor<2x256xi8>) -> tensor<1x2x4x4x!quant.uniform<i8:f32, 0.5>> loc("steps")
    return %1, %2 : tensor<1x2x4x4x!quant.uniform<i8:f32, 0.5>>, tensor<1x2x4x4x!quant.uniform<i8:f32, 0.5>>
  }
}
