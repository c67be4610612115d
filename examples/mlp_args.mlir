// Written by export_torch.py with torch 2.13.0+cpu and torch-mlir 20261001; do not edit.
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
#map2 = affine_map<(d0, d1) -> (d0, 0)>
#map3 = affine_map<(d0, d1) -> (d0)>
module {
  func.func @mlp_args(%arg0: tensor<8x64xf32>, %arg1: tensor<128x64xf32>, %arg2: tensor<128xf32>, %arg3: tensor<128xf32>, %arg4: tensor<128xf32>, %arg5: tensor<64x128xf32>, %arg6: tensor<64xf32>, %arg7: tensor<10x64xf32>, %arg8: tensor<10xf32>) -> tensor<8x10xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 1.000000e+00 : f32
    %cst_1 = arith.constant 5.000000e-01 : f32
    %cst_2 = arith.constant 0.000000e+00 : f64
    %c0_i64 = arith.constant 0 : i64
    %cst_3 = arith.constant 0xFF800000 : f32
    %cst_4 = arith.constant 1.000000e-05 : f64
    %cst_5 = arith.constant 1.41421354 : f32
    %cst_6 = arith.constant 1.280000e+02 : f64
    %cst_7 = arith.constant 1.280000e+02 : f32
    %0 = tensor.empty() : tensor<64x128xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<128x64xf32>) outs(%0 : tensor<64x128xf32>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<8x128xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<8x128xf32>) -> tensor<8x128xf32>
    %3 = linalg.matmul ins(%arg0, %transposed : tensor<8x64xf32>, tensor<64x128xf32>) outs(%2 : tensor<8x128xf32>) -> tensor<8x128xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %arg2 : tensor<8x128xf32>, tensor<128xf32>) outs(%1 : tensor<8x128xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %47 = arith.addf %in, %in_10 : f32
      linalg.yield %47 : f32
    } -> tensor<8x128xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<8x128xf32>) outs(%1 : tensor<8x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %47 = arith.divf %in, %cst_5 : f32
      %48 = math.erf %47 : f32
      %49 = arith.addf %48, %cst_0 : f32
      %50 = arith.mulf %49, %cst_1 : f32
      %51 = arith.mulf %in, %50 : f32
      linalg.yield %51 : f32
    } -> tensor<8x128xf32>
    %6 = tensor.empty() : tensor<8x128xf64>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<8x128xf32>) outs(%6 : tensor<8x128xf64>) {
    ^bb0(%in: f32, %out: f64):
      %47 = arith.extf %in : f32 to f64
      linalg.yield %47 : f64
    } -> tensor<8x128xf64>
    %8 = tensor.empty() : tensor<8x1xf64>
    %9 = linalg.fill ins(%cst_2 : f64) outs(%8 : tensor<8x1xf64>) -> tensor<8x1xf64>
    %10 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "reduction"]} ins(%7 : tensor<8x128xf64>) outs(%9 : tensor<8x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %47 = arith.addf %in, %out : f64
      linalg.yield %47 : f64
    } -> tensor<8x1xf64>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%10 : tensor<8x1xf64>) outs(%8 : tensor<8x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %47 = arith.divf %in, %cst_6 : f64
      linalg.yield %47 : f64
    } -> tensor<8x1xf64>
    %12 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%7, %11 : tensor<8x128xf64>, tensor<8x1xf64>) outs(%6 : tensor<8x128xf64>) {
    ^bb0(%in: f64, %in_10: f64, %out: f64):
      %47 = arith.subf %in, %in_10 : f64
      linalg.yield %47 : f64
    } -> tensor<8x128xf64>
    %13 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%12, %12 : tensor<8x128xf64>, tensor<8x128xf64>) outs(%6 : tensor<8x128xf64>) {
    ^bb0(%in: f64, %in_10: f64, %out: f64):
      %47 = arith.mulf %in, %in_10 : f64
      linalg.yield %47 : f64
    } -> tensor<8x128xf64>
    %14 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "reduction"]} ins(%13 : tensor<8x128xf64>) outs(%9 : tensor<8x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %47 = arith.addf %in, %out : f64
      linalg.yield %47 : f64
    } -> tensor<8x1xf64>
    %15 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%14 : tensor<8x1xf64>) outs(%8 : tensor<8x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %47 = arith.divf %in, %cst_6 : f64
      linalg.yield %47 : f64
    } -> tensor<8x1xf64>
    %16 = tensor.empty() : tensor<8x1xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%15 : tensor<8x1xf64>) outs(%16 : tensor<8x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %47 = arith.truncf %in : f64 to f32
      linalg.yield %47 : f32
    } -> tensor<8x1xf32>
    %18 = linalg.fill ins(%cst : f32) outs(%16 : tensor<8x1xf32>) -> tensor<8x1xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "reduction"]} ins(%5 : tensor<8x128xf32>) outs(%18 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %47 = arith.addf %in, %out : f32
      linalg.yield %47 : f32
    } -> tensor<8x1xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%19 : tensor<8x1xf32>) outs(%16 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %47 = arith.divf %in, %cst_7 : f32
      linalg.yield %47 : f32
    } -> tensor<8x1xf32>
    %21 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%17 : tensor<8x1xf32>) outs(%16 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %47 = arith.truncf %cst_4 : f64 to f32
      %48 = arith.addf %in, %47 : f32
      linalg.yield %48 : f32
    } -> tensor<8x1xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%21 : tensor<8x1xf32>) outs(%16 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %47 = math.rsqrt %in : f32
      linalg.yield %47 : f32
    } -> tensor<8x1xf32>
    %23 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%5, %20 : tensor<8x128xf32>, tensor<8x1xf32>) outs(%1 : tensor<8x128xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %47 = arith.subf %in, %in_10 : f32
      linalg.yield %47 : f32
    } -> tensor<8x128xf32>
    %24 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%23, %22 : tensor<8x128xf32>, tensor<8x1xf32>) outs(%1 : tensor<8x128xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %47 = arith.mulf %in, %in_10 : f32
      linalg.yield %47 : f32
    } -> tensor<8x128xf32>
    %25 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%24, %arg3 : tensor<8x128xf32>, tensor<128xf32>) outs(%1 : tensor<8x128xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %47 = arith.mulf %in, %in_10 : f32
      linalg.yield %47 : f32
    } -> tensor<8x128xf32>
    %26 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%25, %arg4 : tensor<8x128xf32>, tensor<128xf32>) outs(%1 : tensor<8x128xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %47 = arith.addf %in, %in_10 : f32
      linalg.yield %47 : f32
    } -> tensor<8x128xf32>
    %27 = tensor.empty() : tensor<128x64xf32>
    %transposed_8 = linalg.transpose ins(%arg5 : tensor<64x128xf32>) outs(%27 : tensor<128x64xf32>) permutation = [1, 0] 
    %28 = tensor.empty() : tensor<8x64xf32>
    %29 = linalg.fill ins(%cst : f32) outs(%28 : tensor<8x64xf32>) -> tensor<8x64xf32>
    %30 = linalg.matmul ins(%26, %transposed_8 : tensor<8x128xf32>, tensor<128x64xf32>) outs(%29 : tensor<8x64xf32>) -> tensor<8x64xf32>
    %31 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%30, %arg6 : tensor<8x64xf32>, tensor<64xf32>) outs(%28 : tensor<8x64xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %47 = arith.addf %in, %in_10 : f32
      linalg.yield %47 : f32
    } -> tensor<8x64xf32>
    %32 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%31 : tensor<8x64xf32>) outs(%28 : tensor<8x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %47 = arith.cmpf ugt, %in, %cst : f32
      %48 = arith.select %47, %in, %cst : f32
      linalg.yield %48 : f32
    } -> tensor<8x64xf32>
    %33 = tensor.empty() : tensor<64x10xf32>
    %transposed_9 = linalg.transpose ins(%arg7 : tensor<10x64xf32>) outs(%33 : tensor<64x10xf32>) permutation = [1, 0] 
    %34 = tensor.empty() : tensor<8x10xf32>
    %35 = linalg.fill ins(%cst : f32) outs(%34 : tensor<8x10xf32>) -> tensor<8x10xf32>
    %36 = linalg.matmul ins(%32, %transposed_9 : tensor<8x64xf32>, tensor<64x10xf32>) outs(%35 : tensor<8x10xf32>) -> tensor<8x10xf32>
    %37 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%36, %arg8 : tensor<8x10xf32>, tensor<10xf32>) outs(%34 : tensor<8x10xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %47 = arith.addf %in, %in_10 : f32
      linalg.yield %47 : f32
    } -> tensor<8x10xf32>
    %38 = tensor.empty() : tensor<8xi64>
    %39 = linalg.fill ins(%c0_i64 : i64) outs(%38 : tensor<8xi64>) -> tensor<8xi64>
    %40 = tensor.empty() : tensor<8xf32>
    %41 = linalg.fill ins(%cst_3 : f32) outs(%40 : tensor<8xf32>) -> tensor<8xf32>
    %42:2 = linalg.generic {indexing_maps = [#map, #map3, #map3], iterator_types = ["parallel", "reduction"]} ins(%37 : tensor<8x10xf32>) outs(%41, %39 : tensor<8xf32>, tensor<8xi64>) {
    ^bb0(%in: f32, %out: f32, %out_10: i64):
      %47 = linalg.index 1 : index
      %48 = arith.index_cast %47 : index to i64
      %49 = arith.maximumf %in, %out : f32
      %50 = arith.cmpf ogt, %in, %out : f32
      %51 = arith.select %50, %48, %out_10 : i64
      linalg.yield %49, %51 : f32, i64
    } -> (tensor<8xf32>, tensor<8xi64>)
    %expanded = tensor.expand_shape %42#0 [[0, 1]] output_shape [8, 1] : tensor<8xf32> into tensor<8x1xf32>
    %43 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%37, %expanded : tensor<8x10xf32>, tensor<8x1xf32>) outs(%34 : tensor<8x10xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %47 = arith.subf %in, %in_10 : f32
      linalg.yield %47 : f32
    } -> tensor<8x10xf32>
    %44 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%43 : tensor<8x10xf32>) outs(%34 : tensor<8x10xf32>) {
    ^bb0(%in: f32, %out: f32):
      %47 = math.exp %in : f32
      linalg.yield %47 : f32
    } -> tensor<8x10xf32>
    %45 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "reduction"]} ins(%44 : tensor<8x10xf32>) outs(%18 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %47 = arith.addf %in, %out : f32
      linalg.yield %47 : f32
    } -> tensor<8x1xf32>
    %46 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%44, %45 : tensor<8x10xf32>, tensor<8x1xf32>) outs(%34 : tensor<8x10xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %47 = arith.divf %in, %in_10 : f32
      linalg.yield %47 : f32
    } -> tensor<8x10xf32>
    return %46 : tensor<8x10xf32>
  }
}
