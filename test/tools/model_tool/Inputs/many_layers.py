"""many_layers.py N: a Top module of N layers y0, y1, ... one behind the other."""

import sys

TYPE = "tensor<1x64x32x32xf32>"
count = int(sys.argv[1])
print('module attributes {module.name = "net"} {')
print(f"  func.func @main(%arg0: {TYPE}) -> {TYPE} {{")
print(f'    %x = "top.Input"(%arg0) : ({TYPE}) -> {TYPE} loc("x")')
for number in range(count):
    source = f"%{number - 1}" if number else "%x"
    print(f'    %{number} = "top.Sigmoid"({source}) : ({TYPE}) -> {TYPE} loc("y{number}")')
print(f"    return %{count - 1} : {TYPE}\n  }}\n}}")
