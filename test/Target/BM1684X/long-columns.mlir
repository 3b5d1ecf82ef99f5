// Columns of 64-bit integers are moved in global memory: local memory has no such transfers.
// RUN: tpuc-opt %s --shape-infer --chip-assign=chip=bm1684x --convert-top-to-tpu=mode=F16 --decompose --subnet-divide --weight-reorder --layer-group=opt=1 --address-assign | FileCheck %s
// CHECK-NOT: tpu.Group
// CHECK: "tpu.Concat"{{.*}}time = {{.*}} -> tensor<1x5000x2xi64
module attributes {module.name = "net"} {
  func.func @main(%arg0: tensor<1x5000x1xi64>, %arg1: tensor<1x5000x1xi64>) -> tensor<1x5000x2xi64> {
    %x = "top.Input"(%arg0) : (tensor<1x5000x1xi64>) -> tensor<1x5000x1xi64> loc("x")
    %y = "top.Input"(%arg1) : (tensor<1x5000x1xi64>) -> tensor<1x5000x1xi64> loc("y")
    %0 = "top.Concat"(%x, %y) {axis = 2 : i64} : (tensor<1x5000x1xi64>, tensor<1x5000x1xi64>) -> tensor<1x5000x2xi64> loc("joined")
    return %0 : tensor<1x5000x2xi64>
  }
}
