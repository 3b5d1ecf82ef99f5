// Commands are made for inputs of known shapes.
// REQUIRES: mlir
// RUN: rm -rf %t.dir && mkdir -p %t.dir/none
// RUN: not model_deploy --mlir %s --chip bm1684x --quantize F32 --model %t.dir/none/m.bmodel 2>&1 | FileCheck %s
// CHECK: model_deploy: error: {{.*}}unknown-shape.mlir: input 'x': has the shape [-1, 8], of which -1 is not known; expected the one that model_transform --input_shapes gives it
// RUN: %python -c "import os, sys; sys.exit(len(os.listdir(sys.argv[1])))" %t.dir/none

module @net attributes {module.name = "net", module.chip = "ALL", module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<?x8xf32>) -> tensor<?x8xf32> {
    %x = "top.Input"(%arg0) : (tensor<?x8xf32>) -> tensor<?x8xf32> loc("x")
    %y = "top.Relu"(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32> loc("y")
    return %y : tensor<?x8xf32>
  }
}
