// Attention becomes products, sums with what hides keys, and a softmax; where steps would round to
// other types it stays, and is refused later. That keys are kept leaves no chip a kernel for it.
// RUN: sed s/bm1684x/%chip/ %s | tpuc-opt --decompose-attention --mlir-print-debuginfo --mlir-print-local-scope -o %t.mlir
// RUN: FileCheck %s --input-file %t.mlir

// Scores are f32 from the product on, and weights are two numbers of f16.
// CHECK: %[[T:.*]] = "tpu.Permute"(%{{.*}}) {order = [0, 1, 3, 2]} : (tensor<1x2x7x16xf16>) -> tensor<1x2x16x7xf16>
// CHECK: %[[S:.*]] = "tpu.MatMul"(%{{.*}}, %[[T]], %{{.*}} -> tensor<1x2x5x7xf32>
// CHECK: %[[C:.*]] = "tpu.MulConst"(%[[S]]) {const_val = 2.500000e-01 : f64
// CHECK: %[[P:.*]] = "tpu.Softmax"(%[[C]]) {axis = 3 : i64
// CHECK: "tpu.Sub"(%[[P]], %{{.*}} loc("attended_weights_rest")
// CHECK: "tpu.MatMul"({{.*}} -> tensor<1x2x5x12xf32>
// CHECK: "tpu.MatMul"({{.*}} -> tensor<1x2x5x12xf32>
// CHECK: "tpu.Cast"({{.*}} -> tensor<1x2x5x12xf16> loc("attended")

// Every query sees a key: -inf need not be taken out of the scores.
// CHECK: %[[P:.*]] = "top.Weight"() : () -> tensor<5x7xf32> loc("causal_places")
// CHECK: %[[B:.*]] = "tpu.Add"(%{{.*}}, %[[P]]) {{.*}} -> tensor<1x2x5x7xf32>
// CHECK: "tpu.Softmax"(%[[B]])
// CHECK: loc("causal")

// A mask of booleans, and two heads of queries for each of keys.
// CHECK: "tpu.Reshape"{{.*}} -> tensor<1x1x10x16xf16> loc("masked_query_rows")
// CHECK: %[[M:.*]] = "tpu.Where"(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<5x4xi1>, tensor<1xf32>, tensor<1xf32>) -> tensor<5x4xf32> loc("masked_mask")
// CHECK: %[[A:.*]] = "tpu.Pad"(%[[M]]{{.*}}paddings = [0, 0, 0, 3], val = 0xFFF0000000000000 : f64{{.*}} -> tensor<5x7xf32>
// CHECK: %[[B:.*]] = "tpu.Add"(%{{.*}}, %[[A]])
// CHECK: %[[MOST:.*]] = "tpu.Reduce"(%[[B]], {{.*}}mode = "ReduceMax"{{.*}} -> tensor<1x2x5x1xf32>
// CHECK: "tpu.CompareConst"(%[[MOST]]) {const_val = {{-3.40282.*}} : f64{{.*}}mode = "GreaterOrEqual"
// CHECK: %[[SEES:.*]] = "tpu.DtypeCast"{{.*}} -> tensor<1x2x5x1xf32>
// CHECK: %[[L:.*]] = "tpu.MaxConst"(%[[B]]) {const_val = {{-3.40282.*}} : f64
// CHECK: "tpu.Softmax"(%[[L]])
// CHECK: "tpu.Mul"(%{{.*}}, %[[SEES]]){{.*}} loc("masked_seen")

// Every step rounds to f16.
// CHECK: %[[D:.*]] = "tpu.Sub"{{.*}} loc("rounded_distances")
// CHECK: %[[E:.*]] = "tpu.Exp"(%[[D]])
// CHECK: "tpu.Reduce"(%{{.*}}mode = "ReduceSum"{{.*}} -> tensor<1x2x5x1xf32>
// CHECK: %[[T:.*]] = "tpu.Cast"{{.*}} -> tensor<1x2x5x1xf16>
// CHECK: "tpu.Div"(%[[E]], %[[T]])

// CHECK: "tpu.ScaleDotProductAttention"{{.*}}softmax_type = bf16
module attributes {module.name = "net", module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x2x5x16xf16>, %arg1: tensor<1x2x7x16xf16>, %arg2: tensor<1x2x7x12xf16>, %arg3: tensor<5x4xf32>) -> (tensor<1x2x5x12xf16>, tensor<1x2x5x12xf16>, tensor<1x2x5x12xf16>, tensor<1x2x5x12xf16>, tensor<1x2x5x12xf16>) {
    %none = "top.None"() : () -> none
    %q = "top.Input"(%arg0) : (tensor<1x2x5x16xf16>) -> tensor<1x2x5x16xf16> loc("q")
    %k = "top.Input"(%arg1) : (tensor<1x2x7x16xf16>) -> tensor<1x2x7x16xf16> loc("k")
    %v = "top.Input"(%arg2) : (tensor<1x2x7x12xf16>) -> tensor<1x2x7x12xf16> loc("v")
    %m = "top.Input"(%arg3) : (tensor<5x4xf32>) -> tensor<5x4xf32> loc("m")
    %0:4 = "tpu.ScaleDotProductAttention"(%q, %k, %v, %none, %none, %none, %none) {softmax_type = f32} : (tensor<1x2x5x16xf16>, tensor<1x2x7x16xf16>, tensor<1x2x7x12xf16>, none, none, none, none) -> (tensor<1x2x5x12xf16>, tensor<1x2x7x16xf16>, none, none) loc("attended")
    %1:4 = "tpu.ScaleDotProductAttention"(%q, %k, %v, %none, %none, %none, %none) {is_causal = true, softmax_type = f32} : (tensor<1x2x5x16xf16>, tensor<1x2x7x16xf16>, tensor<1x2x7x12xf16>, none, none, none, none) -> (tensor<1x2x5x12xf16>, tensor<1x2x7x16xf16>, none, none) loc("causal")
    %sees = "tpu.CompareConst"(%m) {mode = "Greater", const_val = 0.3 : f64} : (tensor<5x4xf32>) -> tensor<5x4xi1> loc("sees")
    %k1 = "tpu.Slice"(%k, %none, %none, %none, %none) {axes = [1], offset = [0], ends = [1], steps = [1]} : (tensor<1x2x7x16xf16>, none, none, none, none) -> tensor<1x1x7x16xf16> loc("k1")
    %v1 = "tpu.Slice"(%v, %none, %none, %none, %none) {axes = [1], offset = [0], ends = [1], steps = [1]} : (tensor<1x2x7x12xf16>, none, none, none, none) -> tensor<1x1x7x12xf16> loc("v1")
    %2:4 = "tpu.ScaleDotProductAttention"(%q, %k1, %v1, %sees, %none, %none, %none) {softmax_type = f32} : (tensor<1x2x5x16xf16>, tensor<1x1x7x16xf16>, tensor<1x1x7x12xf16>, tensor<5x4xi1>, none, none, none) -> (tensor<1x2x5x12xf16>, tensor<1x1x7x16xf16>, none, none) loc("masked")
    %3:4 = "tpu.ScaleDotProductAttention"(%q, %k, %v, %none, %none, %none, %none) {softmax_type = f16} : (tensor<1x2x5x16xf16>, tensor<1x2x7x16xf16>, tensor<1x2x7x12xf16>, none, none, none, none) -> (tensor<1x2x5x12xf16>, none, none, none) loc("rounded")
    %4:4 = "tpu.ScaleDotProductAttention"(%q, %k, %v, %none, %none, %none, %none) {softmax_type = bf16} : (tensor<1x2x5x16xf16>, tensor<1x2x7x16xf16>, tensor<1x2x7x12xf16>, none, none, none, none) -> (tensor<1x2x5x12xf16>, none, none, none) loc("other")
    return %4#0, %0#0, %1#0, %2#0, %3#0 : tensor<1x2x5x12xf16>, tensor<1x2x5x12xf16>, tensor<1x2x5x12xf16>, tensor<1x2x5x12xf16>, tensor<1x2x5x12xf16>
  }
}
