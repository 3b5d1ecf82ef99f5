// Places of extremes are below 2^24. Where they are results of the network, the chip gives them as
// integers of 32 bits; what is unknown stays long.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: sed s/bm1684x/%chip/ %s > %t.dir/net.mlir
// RUN: tpuc-opt %t.dir/net.mlir --decompose --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// CHECK: func.func @main({{.*}}) -> (tensor<1x6x7xi32>, tensor<1x5x6x7xi64>)
// CHECK-NOT: "tpu.Arg"
// CHECK: %[[A:.*]] = "tpu.DtypeCast"{{.*}} -> tensor<1x6x7xi32> loc("place")
// CHECK: return %[[A]], %{{.*}} : tensor<1x6x7xi32>, tensor<1x5x6x7xi64>
// RUN: %if model-file %{ tpuc-opt %t.dir/net.mlir --decompose --subnet-divide --weight-reorder --op-reorder --layer-group --address-assign --codegen=model=%t.dir/net.model -o %t.dir/none.mlir %}
// RUN: %python %S/Inputs/ramp.py %t.dir/in.npz x:whole=1,5,6,7 k:small=1,5,6,7
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: %if model-file %{ model_runner --model %t.dir/net.model --input %t.dir/in.npz --output %t.dir/file.npz %}
// RUN: %if model-file %{ npz_tool compare %t.dir/file.npz %t.dir/lowered.npz --tolerance 1,1 | FileCheck %s --check-prefix=EQUAL %}
// EQUAL: 2 equal
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x5x6x7xf32>, %arg1: tensor<1x5x6x7xi64>) -> (tensor<1x6x7xi64>, tensor<1x5x6x7xi64>) {
    %x = "top.Input"(%arg0) : (tensor<1x5x6x7xf32>) -> tensor<1x5x6x7xf32> loc("x")
    %k = "top.Input"(%arg1) : (tensor<1x5x6x7xi64>) -> tensor<1x5x6x7xi64> loc("k")
    %p, %v = "tpu.Arg"(%x) {axis = 1 : i64, keepdims = false, mode = "ArgMax"} : (tensor<1x5x6x7xf32>) -> (tensor<1x6x7xi64>, none) loc(fused["place", "value"])
    %s = "tpu.Add"(%k, %k) : (tensor<1x5x6x7xi64>, tensor<1x5x6x7xi64>) -> tensor<1x5x6x7xi64> loc("sum")
    return %p, %s : tensor<1x6x7xi64>, tensor<1x5x6x7xi64>
  }
}
