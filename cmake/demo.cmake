# METE_DEMO: examples/demo and the libraries that it needs, in as little time as possible. Headers take most of the time of most files, so that some 20
# files of a library are compiled as one (CMAKE_UNITY_BUILD, which the preset demo sets). The fast kernels are compiled by themselves, each of which
# Highway includes once for each target. Where two files of a library have the same name in their anonymous namespaces, the later one is below, in a second
# group of files, or in a third. The test `demo` finds such names.
set(second src/costs/profile.cc src/graph/ops/quantized.cc src/image/png.cc src/import/onnx/inputs.cc src/import/onnx/microsoft.cc
           src/import/onnx/microsoft_attended.cc src/import/onnx/microsoft_attention.cc src/import/onnx/microsoft_build.cc src/import/onnx/microsoft_codes.cc
           src/import/onnx/microsoft_embedding.cc src/import/onnx/microsoft_few_bits.cc src/import/onnx/microsoft_images.cc src/import/tflite/file.cc
           src/import/tflite/shape_arithmetic.cc src/kernels/reference/index.cc src/kernels/reference/index_detection.cc
           src/kernels/reference/index_scatter.cc src/kernels/reference/index_unique.cc src/kernels/reference/normalization_channel.cc src/machine/file.cc
           src/machine/frequency_policy.cc src/machine/meters.cc src/machine/sysfs.cc src/passes/fold_blocks.cc src/passes/inline_bodies.cc
           src/passes/slice_convolution.cc src/processor/cpu/prepare/choice.cc src/processor/cpu/prepare/conv.cc src/processor/cpu/prepare/convert.cc
           src/processor/cpu/prepare/sequences.cc src/schedule/two_ways.cc src/schedule/worth.cc)
set(third src/costs/gpu_estimate.cc src/costs/link_json.cc src/import/onnx/microsoft_fused.cc src/import/onnx/microsoft_group_query.cc
          src/import/onnx/ml.cc src/import/tflite/tflite.cc src/kernels/reference/tensor_random.cc src/machine/gpu_entry.cc src/machine/pool_file.cc src/machine/toml_keys.cc
          src/passes/fold_dilation.cc)
set(fourth src/costs/starts.cc src/import/onnx/upgrade.cc)
set(files_of_a_group 20)
file(GLOB_RECURSE fast_kernels CONFIGURE_DEPENDS src/kernels/fast/*.cc)
set_source_files_properties(${fast_kernels} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON COMPILE_OPTIONS -O2)
# It has a type of its own in one that its header declares, of which GCC warns where a file is included.
set_source_files_properties(src/engine/session_pool.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
foreach(library ${targets})
  get_target_property(type ${library} TYPE)
  if(NOT type STREQUAL STATIC_LIBRARY)
    continue()
  endif()
  set_target_properties(${library} PROPERTIES UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${library} SOURCES)
  set(first 0)  # files of the first groups
  foreach(source ${sources})
    file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR} ${source})
    set(group "")
    foreach(later second third fourth)
      if(name IN_LIST ${later})
        set(group ${later})
      endif()
    endforeach()
    if(NOT group)
      math(EXPR group "${first} / ${files_of_a_group}")
      math(EXPR first "${first} + 1")
    endif()
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endforeach()
# What runs for each block of a run: the rest is not optimized at all.
foreach(library kernels cpu schedule)
  target_compile_options(mete_${library} PRIVATE -O1)
endforeach()
add_executable(demo examples/demo/main.cc)
target_link_libraries(demo PRIVATE mete_engine mete_image)
