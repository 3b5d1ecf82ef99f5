"""first_layer.py: a convolution of 8 outputs, windows of 3 by 3 and steps of 2, as the text of an ONNX network."""


def tensor(name, dims, numbers):
    return (f'  initializer {{ name: "{name}" data_type: 1 {" ".join(f"dims: {dim}" for dim in dims)} '
            f'float_data: [{", ".join(map(str, numbers))}] }}')


def value(kind, name, dims):
    extents = " ".join(f"dim {{ dim_value: {dim} }}" for dim in dims)
    return f'  {kind} {{ name: "{name}" type {{ tensor_type {{ elem_type: 1 shape {{ {extents} }} }} }} }}'


def ints(name, numbers):
    return f'attribute {{ name: "{name}" type: 7 ints: [{", ".join(map(str, numbers))}] }}'


print(f"""ir_version: 8
opset_import {{ version: 13 }}
graph {{
  name: "g"
{value("input", "x", (1, 3, 48, 192))}
{value("output", "y", (1, 8, 24, 96))}
{tensor("w", (8, 3, 3, 3), [(i * 37 % 61 - 30) / 64 for i in range(216)])}
{tensor("b", (8,), [i / 8 for i in range(8)])}
  node {{ op_type: "Conv" input: "x" input: "w" input: "b" output: "y" {ints("pads", (1, 1, 1, 1))}
    {ints("strides", (2, 2))} {ints("kernel_shape", (3, 3))} }}
}}""")
