# METE_DEMO: examples/demo and the libraries that it needs, in as little time as possible. Headers take most of the time of most files, so that some 20
# files of a library are compiled as one (CMAKE_UNITY_BUILD, which the preset demo sets). These are compiled by themselves: the fast kernels, each of which
# Highway includes once for each target, and files with a name that another file of the library has in its anonymous namespace, too. The test `demo`
# finds such names.
file(GLOB_RECURSE fast_kernels CONFIGURE_DEPENDS src/kernels/fast/*.cc)
set_source_files_properties(${fast_kernels} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON COMPILE_OPTIONS -O2)
set_source_files_properties(src/costs/fit.cc src/costs/gpu_estimate.cc src/costs/link_json.cc src/costs/profile.cc src/costs/starts.cc src/engine/session_pool.cc
                            src/graph/ops/quantized.cc src/image/png.cc src/import/onnx/inputs.cc src/import/onnx/microsoft.cc src/import/onnx/microsoft_attended.cc
                            src/import/onnx/microsoft_attention.cc src/import/onnx/microsoft_build.cc src/import/onnx/microsoft_codes.cc src/import/onnx/microsoft_embedding.cc
                            src/import/onnx/microsoft_few_bits.cc src/import/onnx/microsoft_fused.cc src/import/onnx/microsoft_group_query.cc src/import/onnx/microsoft_images.cc
                            src/import/onnx/ml.cc src/import/onnx/upgrade.cc src/import/tflite/file.cc src/import/tflite/shape_arithmetic.cc src/import/tflite/tflite.cc
                            src/kernels/reference/index.cc src/kernels/reference/index_detection.cc src/kernels/reference/index_scatter.cc src/kernels/reference/index_unique.cc
                            src/kernels/reference/normalization_channel.cc src/kernels/reference/tensor_random.cc src/machine/file.cc src/machine/frequency_policy.cc
                            src/machine/gpu_entry.cc src/machine/meters.cc src/machine/pool_file.cc src/machine/sysfs.cc src/machine/toml_keys.cc src/passes/fold_blocks.cc
                            src/passes/fold_dilation.cc src/passes/fuse_epilogues.cc src/passes/fuse_matmul.cc src/passes/fuse_quantized.cc src/passes/fuse_scaled_sums.cc
                            src/passes/inline_bodies.cc src/passes/slice_convolution.cc src/processor/cpu/prepare/choice.cc src/processor/cpu/prepare/conv.cc
                            src/processor/cpu/prepare/convert.cc src/processor/cpu/prepare/elementwise.cc src/processor/cpu/prepare/normalization.cc
                            src/processor/cpu/prepare/pooling.cc src/processor/cpu/prepare/reduction.cc src/processor/cpu/prepare/sequences.cc src/schedule/two_ways.cc
                            src/schedule/worth.cc
                            PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
# What runs for each block of a run: the rest is not optimized at all.
foreach(library kernels cpu schedule)
  target_compile_options(mete_${library} PRIVATE -O1)
endforeach()
add_executable(demo examples/demo/main.cc)
target_link_libraries(demo PRIVATE mete_engine mete_image)
