# How much the compiler optimizes each folder, where that is not -O2: measured times and sizes say where it pays.
# -O3 where loops over elements are: at -O2 a quantized MobileNet v2 takes a fifth longer and the reference's MatMul two thirds. The other
# folders would be 445 KB larger for it and load no model faster. So would the two files that have a loop for every operator and type:
# they are 450 KB at -O2 and 1570 KB at -O3.
foreach(folder kernels cpu image quantize)
  target_compile_options(mete_${folder} PRIVATE $<$<CONFIG:Release>:-O3>)
endforeach()
set_source_files_properties(src/base/boxes.cc PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O3>)  # loops over scores and boxes
set_source_files_properties(src/processor/cpu/executor.cc src/kernels/reference/elementwise_binary.cc src/kernels/reference/reduction_reduce.cc
                            PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O2>)
# The graph with its rules for shapes, the importers of Caffe and TensorFlow Lite, partition, and dispatch are smaller at -Os, Caffe's and partition by 155 KB, dispatch by 29. `mete plan resnet50.onnx --processors rk3399x6` took 118 and 121 ms with it, 118 and
# 116 ms without, Inception v3 175 and 177 ms with it, 172 and 174 ms without.
foreach(folder dispatch graph import_caffe import_tflite partition)
  target_compile_options(mete_${folder} PRIVATE $<$<CONFIG:Release>:-Os>)
endforeach()
# Code of GPUs writes texts and calls a driver: kernels run on the device.
foreach(folder opencl_info opencl_api opencl_find opencl_kernels opencl_share opencl_gpu)
  target_compile_options(mete_${folder} PRIVATE $<$<CONFIG:Release>:-Os>)
endforeach()
# What reads the nodes of a model and rewrites a few of them, once, or reads and checks a file, is smaller at -Os: the files of the loop by 213 KB, the
# others by 118 KB, and loop_invariants, stack_sequences and write_einsums by 60 KB. DenseNet 121 loads as soon.
foreach(rewrites byte_tables concat_in_place depth_taps fold_blocks fuse_elementwise fuse_epilogues fuse_matmul fuse_patterns fuse_quantized fuse_scaled_sums
        inline_bodies inline_sequences layout line_convolutions loop_invariants move_dequantize open_graph pass pattern quantization slice_convolution slice_resize
        stack_sequences transposed_convolutions transposes volume_convolutions write_einsums)
  set_source_files_properties(src/passes/${rewrites}.cc PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-Os>)
endforeach()
foreach(reads attributes bodies composed composed_fourier composed_signal external flex_attention functions importer microsoft microsoft_attended microsoft_attention microsoft_build
        microsoft_embedding microsoft_few_bits microsoft_fused microsoft_group_query microsoft_images onnx shapes upgrade upgrade_attributes
        upgrade_meaning upgrade_old)
  set_source_files_properties(src/import/onnx/${reads}.cc PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-Os>)
endforeach()
set_source_files_properties(src/base/attributes.cc src/base/einsum.cc src/base/few_bit_matrix.cc src/base/tensor_source.cc src/import/problems.cc src/passes/simplify.cc
                            PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-Os>)
# What reads settings, makes text for people and viewers, or wires others together is half as large at -Os: 450 KB instead of 800.
set_source_files_properties(src/base/nearest.cc src/base/table.cc src/base/timeline.cc src/engine/model.cc src/engine/session.cc
                            src/engine/binding.cc src/engine/memory_model.cc src/engine/named_run.cc src/engine/session_pool.cc src/base/log.cc src/base/custom_operators.cc
                            src/kernels/reference/custom.cc
                            src/engine/pool/kernel_names.cc src/engine/pool/stored_profile.cc src/engine/pool/pool.cc src/processor/make/make_processor.cc src/processor/emulated/read_emulation.cc
                            src/base/file_kind.cc src/base/open_problem.cc src/costs/profile.cc src/engine/precisions.cc src/image/preprocess_file.cc src/import/caffe/builder.cc src/import/onnx/inputs.cc
                            src/plan/plan.cc src/plan/plan_json.cc src/plan/plan_text.cc src/plan/plan_verify.cc src/plan/placement.cc src/plan/threads/thread_plan.cc src/plan/threads/thread_plan_json.cc src/plan/cores/cores.cc src/processor/cpu/cpu.cc src/processor/cpu/environment.cc src/processor/cpu/explain.cc src/processor/cpu/kernels_of.cc src/processor/memory/memory_plan.cc
                            src/processor/cpu/ready_on_cpu.cc src/processor/cpu/ready_on_cpu_text.cc src/processor/cpu/stored_profile.cc src/processor/cpu/prepare/choice.cc src/processor/cpu/prepare/conv_ways.cc src/processor/cpu/prepare/packed_file.cc src/engine/device.cc src/engine/npy.cc src/plan/pool/program_verify.cc src/processor/cpu/prepare/packed_in_use.cc src/processor/cpu/prepare/packer.cc src/processor/tuning/tuner.cc src/base/trace.cc
                            src/run/keeper.cc src/run/pool_members.cc src/run/trial.cc src/run/corrected_plans.cc src/run/compare_plans.cc src/run/member_processor.cc src/plan/pool/program.cc
                            src/base/child.cc src/costs/describe.cc src/costs/energy_curves.cc src/costs/gpu_estimate.cc src/costs/link_json.cc src/costs/starts.cc src/plan/pool/chip_planners.cc src/plan/pool/instead.cc src/plan/pool/named.cc src/plan/pool/regression.cc src/simulate/pool/estimate_pool.cc
                            PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-Os>)
# Readers of files and of /sys, and what opens and measures pools, are 344 KB smaller at -Os.
foreach(folder machine engine_pool profile_pool answer)
  target_compile_options(mete_${folder} PRIVATE $<$<CONFIG:Release>:-Os>)
endforeach()
