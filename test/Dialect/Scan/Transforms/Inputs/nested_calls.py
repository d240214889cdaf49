"""A step that calls the last of COUNT functions; each calls the one before TIMES times: nested_calls.py COUNT TIMES."""

import sys

count, times = int(sys.argv[1]), int(sys.argv[2])
S = "tensor<1x4xf32>"
print(f"func.func private @f1(%x: {S}) -> {S} {{\n  %y = arith.addf %x, %x : {S}\n  return %y : {S}\n}}")
for i in range(2, count + 1):
    print(f"func.func private @f{i}(%x0: {S}) -> {S} {{")
    for k in range(times):
        print(f"  %x{k + 1} = func.call @f{i - 1}(%x{k}) : ({S}) -> {S}")
    print(f"  return %x{times} : {S}\n}}")
print(f"""func.func @forward(%v: tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x1x4xf32>)
    attributes {{scan.entry = "forward"}} {{
  %o, %f = scan.recurrence ins(%v as "bthv" : tensor<?x?x2x4xf32>) outs("bthv") finals("nhkv") {{
  ^bb0(%S: {S}, %v_t: tensor<4xf32>):
    %one = arith.constant dense<1.0> : tensor<1xf32>
    %T = func.call @f{count}(%S) : ({S}) -> {S}
    %next = scan.inject %T key %one value %v_t : {S}, tensor<1xf32>, tensor<4xf32>
    scan.yield %next, %v_t : {S}, tensor<4xf32>
  }} -> (tensor<?x?x2x4xf32>), (tensor<?x2x1x4xf32>)
  return %o, %f : tensor<?x?x2x4xf32>, tensor<?x2x1x4xf32>
}}""")
