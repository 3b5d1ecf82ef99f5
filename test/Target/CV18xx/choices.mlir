// Comparisons, conditions, choices and places of extremes are computed on the chips: numbers that BF16 has give what
// the network gives.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/net.npz row:whole=1,16,1,1 three=1
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/in.npz a:whole=1,16,9,7 b:whole=1,16,9,7
// RUN: cp %s %t.dir/net.mlir
// DEFINE: %{chip} = cv183x
// DEFINE: %{deploy} = model_deploy --mlir %t.dir/net.mlir --chip %{chip} --quantize BF16 --skip_validation --model %t.dir/net.cvimodel && FileCheck %s --implicit-check-not=CPU < %t.dir/net_%{chip}_bf16_final.mlir && model_runner --model %t.dir/net.cvimodel --input %t.dir/in.npz --output %t.dir/file.npz && npz_tool compare %t.dir/file.npz %t.dir/float.npz --tolerance 1,1
// CHECK: "tpu.Compare"
// CHECK: "tpu.Where"
// RUN: model_runner --model %t.dir/net.mlir --input %t.dir/in.npz --output %t.dir/float.npz
// RUN: %{deploy} | FileCheck %s --check-prefix=EQUAL
// REDEFINE: %{chip} = cv180x
// RUN: %{deploy} | FileCheck %s --check-prefix=EQUAL
// EQUAL: 7 equal, 0 similar
!x = tensor<1x16x9x7xf32>
!c = tensor<1x16x9x7xi1>
!row = tensor<1x16x1x1xf32>
!places = tensor<1x9x7xi64>
!columns = tensor<1x16x9x1xi64>
module attributes {module.name = "net", module.chip = "ALL", module.state = "TOP_F32", module.weight_file = "net.npz"} {
  func.func @main(%arg0: !x, %arg1: !x) -> (!x, !x, !x, !x, !c, !places, !columns) {
    %none = "top.None"() : () -> none
    %a = "top.Input"(%arg0) : (!x) -> !x loc("a")
    %b = "top.Input"(%arg1) : (!x) -> !x loc("b")
    %row = "top.Weight"() : () -> !row loc("row")
    %three = "top.Weight"() : () -> tensor<1xf32> loc("three")
    %gt = "top.Compare"(%a, %b) {mode = "Greater"} : (!x, !x) -> !c loc("gt")
    %le = "top.Compare"(%a, %row) {mode = "LessOrEqual"} : (!x, !row) -> !c loc("le")
    %eq = "top.Compare"(%a, %b) {mode = "Equal"} : (!x, !x) -> !c loc("eq")
    %half = "top.CompareConst"(%b) {mode = "Less", const_val = 2.51, inversed = false} : (!x) -> !c loc("half")
    %not = "top.LogicalNot"(%le) : (!c) -> !c loc("not")
    %and = "top.LogicalBinary"(%gt, %not) {mode = "And"} : (!c, !c) -> !c loc("and")
    %or = "top.LogicalBinary"(%and, %eq) {mode = "Or"} : (!c, !c) -> !c loc("or")
    %xor = "top.LogicalBinary"(%or, %half) {mode = "Xor"} : (!c, !c) -> !c loc("xor")
    %y = "top.Where"(%gt, %a, %b) : (!c, !x, !x) -> !x loc("y")
    %z = "top.Where"(%xor, %a, %row) : (!c, !x, !row) -> !x loc("z")
    %numbers = "top.Cast"(%or) {to = f32} : (!c) -> !x loc("numbers")
    %v = "top.Mul"(%numbers, %b) : (!x, !x) -> !x loc("v")
    %w = "top.Where"(%half, %three, %a) : (!c, tensor<1xf32>, !x) -> !x loc("w")
    %places, %v0 = "top.Arg"(%a) {axis = 1 : i64, keepdims = false, mode = "ArgMax", select_last_index = false} : (!x) -> (!places, none) loc("places")
    %columns, %v1 = "top.Arg"(%b) {axis = 3 : i64, keepdims = true, mode = "ArgMin", select_last_index = true} : (!x) -> (!columns, none) loc("columns")
    return %y, %z, %v, %w, %xor, %places, %columns : !x, !x, !x, !x, !c, !places, !columns
  }
}
