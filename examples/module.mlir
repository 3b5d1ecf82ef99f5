// A network of nothing but a cast, to the 16-bit type that a device stores.
module @demo attributes {module.state = "TOP_F32"} {
  func.func @main(%data: tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf16> {
    %0 = "top.None"() : () -> none loc("nothing_reads_this")
    %1 = "tpu.Cast"(%data) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf16> loc("data_f16")
    return %1 : tensor<1x3x8x8xf16> loc("result")
  } loc("main")
} loc("demo")
