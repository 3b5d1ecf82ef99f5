// The filters of a cell that do not fit the lanes are loaded step by step, by rows whose products are added up. States
// that are 0 are none.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/net.npz gru_filter=2,576,24 gru_recurrence=2,576,192 gru_bias=2,1152 zeros:zero=2,2,192 odd_filter=1,300,96 odd_recurrence=1,300,100 odd_bias=1,600 lstm_filter=1,256,300 lstm_recurrence=1,256,64 lstm_bias=1,512
// RUN: %python %S/../../Codegen/Inputs/ramp.py %t.dir/in.npz x=5,2,24 w=4,1,96 z=6,1,300
// RUN: cp %s %t.dir/net.mlir
// RUN: model_deploy --mlir %t.dir/net.mlir --chip cv180x --quantize BF16 --skip_validation --model %t.dir/net.cvimodel
// RUN: FileCheck %s --implicit-check-not=CPU < %t.dir/net_cv180x_bf16_final.mlir
// CHECK-DAG: "tpu.GRU"{{.*}}direction = "forward"{{.*}}hidden_size = 192{{.*}}streamed
// CHECK-DAG: "tpu.GRU"{{.*}}direction = "reverse"{{.*}}hidden_size = 192{{.*}}streamed
// CHECK-DAG: "tpu.GRU"{{.*}}hidden_size = 100{{.*}}streamed
// CHECK-DAG: "tpu.LSTM"{{.*}}hidden_size = 64{{.*}}streamed
// RUN: model_runner --model %t.dir/net_cv180x_bf16_tpu.mlir --input %t.dir/in.npz --output %t.dir/lowered.npz
// RUN: model_runner --model %t.dir/net.cvimodel --input %t.dir/in.npz --output %t.dir/file.npz
// RUN: npz_tool compare %t.dir/file.npz %t.dir/lowered.npz --tolerance 0.999,0.97
!x = tensor<5x2x24xf32>
!y = tensor<5x2x2x192xf32>
!w = tensor<4x1x96xf32>
!odd = tensor<4x1x1x100xf32>
!z = tensor<6x1x300xf32>
!long = tensor<6x1x1x64xf32>
!cell = tensor<1x1x64xf32>
module attributes {module.name = "net", module.chip = "ALL", module.state = "TOP_F32", module.weight_file = "net.npz"} {
  func.func @main(%arg0: !x, %arg1: !w, %arg2: !z) -> (!y, !odd, !long, !cell) {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg0) : (!x) -> !x loc("x")
    %w = "top.Input"(%arg1) : (!w) -> !w loc("w")
    %z = "top.Input"(%arg2) : (!z) -> !z loc("z")
    %gf = "top.Weight"() : () -> tensor<2x576x24xf32> loc("gru_filter")
    %gr = "top.Weight"() : () -> tensor<2x576x192xf32> loc("gru_recurrence")
    %gb = "top.Weight"() : () -> tensor<2x1152xf32> loc("gru_bias")
    %zeros = "top.Weight"() : () -> tensor<2x2x192xf32> loc("zeros")
    %y, %yh = "top.GRU"(%x, %gf, %gr, %gb, %none, %zeros) {direction = "bidirectional", hidden_size = 192, linear_before_reset = true} : (!x, tensor<2x576x24xf32>, tensor<2x576x192xf32>, tensor<2x1152xf32>, none, tensor<2x2x192xf32>) -> (!y, none) loc("y")
    %of = "top.Weight"() : () -> tensor<1x300x96xf32> loc("odd_filter")
    %or = "top.Weight"() : () -> tensor<1x300x100xf32> loc("odd_recurrence")
    %ob = "top.Weight"() : () -> tensor<1x600xf32> loc("odd_bias")
    %odd, %oddh = "top.GRU"(%w, %of, %or, %ob, %none, %none) {direction = "forward", hidden_size = 100, linear_before_reset = false} : (!w, tensor<1x300x96xf32>, tensor<1x300x100xf32>, tensor<1x600xf32>, none, none) -> (!odd, none) loc("odd")
    %lf = "top.Weight"() : () -> tensor<1x256x300xf32> loc("lstm_filter")
    %lr = "top.Weight"() : () -> tensor<1x256x64xf32> loc("lstm_recurrence")
    %lb = "top.Weight"() : () -> tensor<1x512xf32> loc("lstm_bias")
    %long, %lh, %lc = "top.LSTM"(%z, %lf, %lr, %lb, %none, %none, %none, %none) {direction = "forward", hidden_size = 64} : (!z, tensor<1x256x300xf32>, tensor<1x256x64xf32>, tensor<1x512xf32>, none, none, none, none) -> (!long, none, !cell) loc("long")
    return %y, %odd, %long, %lc : !y, !odd, !long, !cell
  }
}
