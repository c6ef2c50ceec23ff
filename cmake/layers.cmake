# The house: which folder may include which (docs/design.md has the reasons).
mete_library(base src/base LINKS fmt::fmt nlohmann_json::nlohmann_json)
mete_library(graph src/graph LAYERS base WITHOUT src/graph/node_text)
mete_library(node_text src/graph/node_text LAYERS graph)  # only for tests and benchmarks
mete_library(kernels src/kernels LAYERS base LINKS PkgConfig::HWY TEST_LAYERS graph)
if(METE_FUZZ)
  # clang takes ten minutes over the unrolled kernels with every check in them. The fuzzers look for faults before the kernels; these
  # are tested under the sanitizers by the presets asan and tsan.
  file(GLOB_RECURSE fast_kernels CONFIGURE_DEPENDS src/kernels/fast/*.cc)
  set_source_files_properties(${fast_kernels} PROPERTIES COMPILE_OPTIONS -fno-sanitize=all)
endif()
# Operators on bytes round after each product and each sum, as ONNX Runtime's do, and on every processor alike.
set_property(SOURCE src/kernels/fast/bytes/byte_convert.cc src/kernels/fast/bytes/byte_elementwise.cc src/kernels/fast/bytes/byte_pool.cc
             src/kernels/reference/convolution_pool.cc src/kernels/reference/quantized_elementwise.cc
             src/kernels/reference/quantized_products.cc
             APPEND PROPERTY COMPILE_OPTIONS -ffp-contract=off)
mete_library(dispatch src/dispatch LAYERS graph kernels)
mete_library(import src/import LAYERS graph WITHOUT src/import/[^/]+)  # each format is a library
mete_library(import_onnx src/import/onnx LAYERS import LINKS onnx_proto protobuf::libprotobuf)
mete_library(import_caffe src/import/caffe LAYERS import LINKS protobuf::libprotobuf)
mete_protobuf(import_caffe src/import/caffe/caffe.proto)
mete_library(import_tflite src/import/tflite LAYERS import TEST_LAYERS kernels passes)
mete_flatbuffers(import_tflite src/import/tflite/tflite.fbs)
target_compile_definitions(mete_import_tflite PUBLIC FLATBUFFERS_LOCALE_INDEPENDENT=0)  # texts are not read as numbers: headers are enough
mete_library(image src/image LAYERS base LINKS PNG::PNG JPEG::JPEG PkgConfig::TOMLPP)
mete_library(answer src/answer LAYERS image)
mete_library(passes src/passes LAYERS graph kernels)
mete_library(partition src/partition LAYERS graph TEST_LAYERS passes)
mete_library(machine src/machine LAYERS base LINKS nlohmann_json::nlohmann_json Threads::Threads PkgConfig::TOMLPP)
mete_library(schedule src/schedule LAYERS base)
mete_library(costs src/costs LAYERS dispatch graph kernels machine schedule LINKS nlohmann_json::nlohmann_json TEST_LAYERS node_text)
mete_library(profile_energy src/profile/energy LAYERS costs kernels LINKS Threads::Threads)
mete_library(plan_threads src/plan/threads LAYERS graph machine schedule LINKS nlohmann_json::nlohmann_json)
mete_library(plan_cores src/plan/cores LAYERS costs plan_threads)
mete_library(plan src/plan LAYERS partition plan_threads LINKS nlohmann_json::nlohmann_json TEST_LAYERS plan_pool passes
             WITHOUT src/plan/threads src/plan/cores src/plan/pool src/plan/site)
mete_library(plan_pool src/plan/pool LAYERS costs plan TEST_LAYERS passes)
mete_library(simulate src/simulate LAYERS costs plan_cores WITHOUT src/simulate/pool src/simulate/site)
mete_library(simulate_pool src/simulate/pool LAYERS simulate plan_pool passes LINKS nlohmann_json::nlohmann_json)
if(METE_SERVE)
  # Boost.Graph is a header; only the command line is linked with it
  mete_library(plan_site src/plan/site LAYERS plan_pool LINKS Boost::headers TEST_LAYERS cpu passes processor run)
  # g++ 12 sees an empty boost::optional as read in Boost.Graph's iterators
  set_property(SOURCE src/plan/site/min_cut.cc APPEND PROPERTY COMPILE_OPTIONS $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  mete_library(simulate_site src/simulate/site LAYERS plan_site simulate_pool LINKS PkgConfig::TOMLPP TEST_LAYERS passes)
endif()
mete_library(processor src/processor LAYERS graph WITHOUT src/processor/[^/]+)  # each kind is a library
mete_library(memory_plan src/processor/memory LAYERS graph)
mete_library(tuning src/processor/tuning LAYERS kernels machine LINKS nlohmann_json::nlohmann_json)
target_compile_definitions(mete_tuning PRIVATE METE_VERSION="${PROJECT_VERSION}")
mete_library(cpu src/processor/cpu LAYERS processor memory_plan tuning dispatch plan_cores kernels passes LINKS Threads::Threads
             nlohmann_json::nlohmann_json PkgConfig::XXHASH TEST_LAYERS node_text)
target_compile_definitions(mete_cpu PRIVATE METE_VERSION="${PROJECT_VERSION}")
file(GLOB_RECURSE kernel_sources CONFIGURE_DEPENDS src/kernels/fast/*.h src/kernels/fast/*.cc src/processor/cpu/prepare/*.h
     src/processor/cpu/prepare/*.cc src/processor/cpu/threads/*.h src/processor/cpu/threads/*.cc src/processor/tuning/*.h src/processor/tuning/*.cc src/dispatch/*.h src/dispatch/*.cc src/schedule/*.h src/schedule/*.cc src/base/few_bit_matrix.*)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/sources_digest.cc
                   COMMAND ${CMAKE_COMMAND} -D SOURCE=${CMAKE_SOURCE_DIR} -D OUT=${CMAKE_BINARY_DIR}/sources_digest.cc
                           "-DBUILD=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_BUILD_TYPE} ${CMAKE_CXX_FLAGS} ${METE_SANITIZE}"
                           -P ${CMAKE_SOURCE_DIR}/cmake/sources_digest.cmake
                   DEPENDS ${kernel_sources} cmake/sources_digest.cmake VERBATIM)
target_sources(mete_cpu PRIVATE ${CMAKE_BINARY_DIR}/sources_digest.cc)
mete_library(export_onnx src/export/onnx LAYERS graph import_onnx LINKS onnx_proto protobuf::libprotobuf)
mete_library(quantize src/quantize LAYERS graph passes processor TEST_LAYERS cpu)
mete_library(emulated src/processor/emulated LAYERS cpu)
mete_library(opencl_info src/processor/opencl/info LAYERS base)
set(opencl_other src/processor/opencl/api/without)
if(NOT METE_OPENCL)
  set(opencl_other src/processor/opencl/api/loaded)
endif()
mete_library(opencl_api src/processor/opencl/api LAYERS opencl_info LINKS ${CMAKE_DL_LIBS} WITHOUT ${opencl_other})
if(METE_OPENCL)
  target_include_directories(mete_opencl_api SYSTEM PRIVATE ${METE_OPENCL_HEADERS})
  if(TARGET opencl_api_test)
    target_include_directories(opencl_api_test SYSTEM PRIVATE ${METE_OPENCL_HEADERS})
  endif()
endif()
mete_library(opencl_probe src/processor/opencl/probe LAYERS opencl_api)
mete_library(opencl_find src/processor/opencl/find LAYERS opencl_info LINKS PkgConfig::XXHASH ${CMAKE_DL_LIBS} TEST_LAYERS opencl_api
             WITHOUT src/processor/opencl/find/crashing)
target_compile_definitions(mete_opencl_find PRIVATE METE_LIBEXEC="${CMAKE_INSTALL_LIBEXECDIR}")
if(TARGET opencl_find_test)
  add_library(opencl_crashing_driver MODULE src/processor/opencl/find/crashing/crashing_driver.cc)
  add_dependencies(opencl_find_test mete_gpus opencl_crashing_driver)  # which it runs and loads
  target_compile_definitions(opencl_find_test PRIVATE $<$<BOOL:${CMAKE_CROSSCOMPILING}>:METE_EMULATED>
                                              METE_CRASHING_DRIVER="$<TARGET_FILE:opencl_crashing_driver>")
endif()
mete_library(opencl_kernels src/processor/opencl/kernels LAYERS kernels LINKS PkgConfig::XXHASH TEST_LAYERS opencl_api)
mete_library(opencl_share src/processor/opencl/share LAYERS opencl_kernels dispatch memory_plan passes TEST_LAYERS opencl_api node_text partition import_onnx zoo)
if(NOT METE_OPENCL)
  set(opencl_faults src/processor/opencl/gpu/faults)  # tests with a driver that fails, which need its headers
endif()
mete_library(opencl_gpu src/processor/opencl/gpu LAYERS processor tuning passes schedule opencl_api opencl_find opencl_share LINKS PkgConfig::XXHASH TEST_LAYERS cpu run WITHOUT ${opencl_faults})
if(METE_OPENCL AND TARGET opencl_gpu_test)
  target_include_directories(opencl_gpu_test SYSTEM PRIVATE ${METE_OPENCL_HEADERS})
  add_test(NAME opencl_gpu_lost_often COMMAND opencl_gpu_test --gtest_filter=SessionWithGpu.LosesNoRequest*)
  set_tests_properties(opencl_gpu_lost_often PROPERTIES LABELS long ENVIRONMENT METE_TEST_REQUESTS=10000 TIMEOUT ${METE_TEST_TIMEOUT})
endif()
find_path(METE_CLBLAST_HEADERS clblast_c.h)
find_library(METE_CLBLAST clblast)
find_library(METE_OPENCL_LOADER NAMES OpenCL libOpenCL.so.1)
if(METE_OPENCL AND METE_CLBLAST_HEADERS AND METE_CLBLAST AND METE_OPENCL_LOADER)  # compared with, and linked by nothing else
  add_executable(opencl_bench EXCLUDE_FROM_ALL bench/opencl/opencl_bench.cc bench/opencl/clblast.cc)
  target_link_libraries(opencl_bench PRIVATE ${METE_CLBLAST} ${METE_OPENCL_LOADER})
  target_include_directories(opencl_bench SYSTEM PRIVATE ${METE_CLBLAST_HEADERS} ${METE_OPENCL_HEADERS})
else()
  add_executable(opencl_bench EXCLUDE_FROM_ALL bench/opencl/opencl_bench.cc bench/opencl/without_clblast.cc)
endif()
target_link_libraries(opencl_bench PRIVATE mete_opencl_kernels mete_opencl_probe)
mete_library(make_processor src/processor/make LAYERS cpu emulated opencl_gpu)
mete_library(run src/run LAYERS processor plan_pool simulate_pool TEST_LAYERS cpu emulated passes)
mete_library(engine src/engine LAYERS cpu passes plan import_onnx import_caffe import_tflite WITHOUT src/engine/pool src/engine/operators)
target_compile_definitions(mete_engine PRIVATE METE_VERSION="${PROJECT_VERSION}")
if(TARGET engine_test)
  add_library(engine_operators MODULE src/engine/operators/operators_library.cc)  # a library of operators, which the test loads
  target_include_directories(engine_operators PRIVATE include)
  add_dependencies(engine_test engine_operators)
  target_compile_definitions(engine_test PRIVATE METE_OPERATORS_LIBRARY="$<TARGET_FILE:engine_operators>")
  set_target_properties(engine_test PROPERTIES ENABLE_EXPORTS ON)
endif()
add_executable(opencl_ready_bench EXCLUDE_FROM_ALL bench/opencl/ready_bench.cc)
target_link_libraries(opencl_ready_bench PRIVATE mete_engine mete_opencl_gpu)
mete_bench(kernels_bench bench/kernels cpu)
mete_bench(pool_bench bench/pool run)
if(METE_TESTS)
  mete_bench(decode_bench bench/shapes engine)
endif()
if(TARGET pool_bench)
  target_link_libraries(kernels_bench PRIVATE mete_node_text)
  target_link_libraries(pool_bench PRIVATE mete_cpu)
endif()
if(TARGET decode_bench)
  target_link_libraries(decode_bench PRIVATE onnx_proto protobuf::libprotobuf GTest::gtest)  # the decoder of the engine's tests
endif()
mete_library(zoo zoo LAYERS base LINKS onnx_proto protobuf::libprotobuf)
target_compile_options(mete_zoo PRIVATE -ffp-contract=off)  # the same weights on processors with fused multiply-adds
mete_library(profile src/profile LAYERS engine zoo WITHOUT src/profile/energy src/profile/pool src/profile/starts)
mete_library(profile_starts src/profile/starts LAYERS costs LINKS nlohmann_json::nlohmann_json PkgConfig::XXHASH)
mete_library(profile_pool src/profile/pool LAYERS run LINKS nlohmann_json::nlohmann_json PkgConfig::XXHASH TEST_LAYERS passes)
mete_library(text src/text LAYERS base)
if(METE_NORMAL_FORMS)
  target_link_libraries(mete_text PRIVATE PkgConfig::UTF8PROC)
  target_compile_definitions(mete_text PUBLIC METE_NORMAL_FORMS)  # tests ask for it, too
endif()
mete_library(generate src/generate LAYERS engine)
mete_library(engine_pool src/engine/pool LAYERS engine make_processor profile_pool)
mete_bench(branches_bench bench/pool engine_pool)
if(METE_NETWORK)
  mete_library(keys src/network/keys LAYERS base LINKS OpenSSL::Crypto)
  mete_library(discovery src/network/discovery LAYERS base)
  mete_library(wire src/network/wire LAYERS partition LINKS protobuf::libprotobuf OpenSSL::Crypto TEST_LAYERS passes)
  mete_protobuf(wire src/network/wire/graph.proto)
  mete_library(protocol src/network/protocol LAYERS run wire LINKS gRPC::grpc++ protobuf::libprotobuf OpenSSL::Crypto
               PkgConfig::XXHASH TEST_LAYERS passes)
  mete_protobuf(protocol src/network/protocol/worker.proto SERVICES)
  mete_library(worker src/network/worker LAYERS protocol cpu LINKS gRPC::grpc++ gRPC::grpc++_reflection TEST_LAYERS passes)
  target_compile_definitions(mete_worker PRIVATE METE_VERSION="${PROJECT_VERSION}")
  mete_library(remote src/network/remote LAYERS protocol LINKS gRPC::grpc++ TEST_LAYERS worker cpu engine passes profile_pool)
  target_compile_definitions(mete_remote PRIVATE METE_VERSION="${PROJECT_VERSION}")
  mete_library(network_pool src/network/pool LAYERS remote keys engine_pool)
  mete_bench(chunk_bench bench/network protocol)
endif()
if(METE_SERVE)
  # Written on the public headers and on scaled pictures (image), as the command line is, and linked with it alone: libmete.so has nothing of it.
  mete_library(serve_protocol src/serve/protocol LAYERS base)
  mete_bench(request_bench bench/serve serve_protocol)
  mete_library(serve_grpc_values src/serve/grpc_values LAYERS serve_protocol LINKS protobuf::libprotobuf)
  mete_protobuf(serve_grpc_values src/serve/grpc_values/open_inference.proto)
  mete_library(serve_queue src/serve/queue LAYERS base)
  mete_library(serve_metrics src/serve/metrics LAYERS base LINKS prometheus-cpp::core)
  mete_library(serve_repository src/serve/repository LAYERS machine LINKS PkgConfig::TOMLPP)
  mete_library(serve_server src/serve/server LAYERS serve_protocol serve_queue serve_repository serve_metrics image LINKS mete_engine)
  mete_library(serve_shares src/serve/shares LAYERS serve_server processor TEST_LAYERS cpu partition passes remote run worker)
  mete_library(serve_http src/serve/http LAYERS serve_server keys LINKS Boost::headers OpenSSL::SSL)
  mete_text_file(serve_http src/serve/http/page/page.html kPage)
  mete_text_file(serve_http src/serve/http/openapi.json kOpenApi)
  mete_library(serve_client src/serve/client LAYERS serve_protocol LINKS Boost::headers OpenSSL::SSL TEST_LAYERS serve_http)
  mete_library(serve_site src/serve/site LAYERS plan_site TEST_LAYERS passes)
  mete_library(serve_grpc src/serve/grpc LAYERS serve_server serve_grpc_values protocol keys LINKS gRPC::grpc++ gRPC::grpc++_reflection)
  mete_protobuf(serve_grpc src/serve/grpc/inference_service.proto SERVICES)
endif()
mete_library(top src/top LAYERS base LINKS nlohmann_json::nlohmann_json)
mete_library(slowcore tools/slowcore/control LAYERS base)
mete_library(delayline tools/delayline/line LAYERS base)
# The command line (apps/mete) is written on the public headers and on base, whose tables, JSON, units and errors are functions without
# state. tools/check_layers.py refuses all other includes of its files but these, also those through other headers of apps/mete.
mete_exceptions("they describe or read machines, which no program needs to run a model"
  apps/mete/cluster_flags.cc LAYERS costs machine
  apps/mete/cluster_flags.h LAYERS machine
  apps/mete/installed_files.cc LAYERS machine
  apps/mete/machine.cc LAYERS machine opencl_info
  apps/mete/machine_gpus.cc LAYERS opencl_find opencl_info
  apps/mete/machine_gpus.h LAYERS opencl_info
  apps/mete/trace_counters.cc LAYERS machine)
mete_exceptions("they choose frequencies and measure energy before a session is made, with curves and locks of their own"
  apps/mete/energy_choice.cc LAYERS costs
  apps/mete/energy_choice.h LAYERS costs
  apps/mete/left_frequencies.cc LAYERS machine
  apps/mete/objective.cc LAYERS costs engine machine
  apps/mete/profile_energy.cc LAYERS profile_energy)
mete_exceptions("it measures the kernels of this machine, a step of every user that the public headers lack: a session reads the result from the cache"
  apps/mete/profile.cc LAYERS cpu machine profile
  apps/mete/profile_starts.cc LAYERS cpu opencl_find profile_starts)
mete_exceptions("it plans for machines that are not there and shows rejected choices, where a session has the plan for this machine alone"
  apps/mete/plan.cc LAYERS costs cpu engine machine plan plan_cores simulate)
mete_exceptions("it compares predicted with measured times of kernels, for work on the predictions"
  apps/mete/profile_check.cc LAYERS cpu profile)
mete_exceptions("they simulate in virtual time or compare planners, which are experiments"
  apps/mete/pool_compare.cc LAYERS engine_pool plan_pool run
  apps/mete/plan_site.cc LAYERS engine partition plan_site simulate_site
  apps/mete/simulate.cc LAYERS costs engine machine schedule simulate
  apps/mete/simulate_pool.cc LAYERS engine engine_pool plan_pool simulate_pool)
mete_exceptions("it shows a plan in virtual time, which the public headers give no events of"
  apps/mete/report/pool.cc LAYERS engine engine_pool plan simulate_pool)
mete_exceptions("they make or recognize models with made-up weights, which are for measuring"
  apps/mete/run_style.cc LAYERS zoo
  apps/mete/zoo.cc LAYERS zoo)
mete_exceptions("they make text of tokens, which sessions take and give"
  apps/mete/chat.cc LAYERS generate text
  apps/mete/show_text.cc LAYERS text)
mete_exceptions("they are the worker's side, ask workers for their state, or manage keys, which are no part of running a model"
  apps/mete/network/devices.cc LAYERS discovery machine make_processor remote
  apps/mete/network/keys.cc LAYERS keys
  apps/mete/network/worker.cc LAYERS discovery machine make_processor remote worker
  apps/mete/network/listen.cc LAYERS machine remote
  apps/mete/network/listen.h LAYERS machine remote
  apps/mete/network/workers.cc LAYERS machine network_pool remote
  apps/mete/network/workers.h LAYERS machine remote)
mete_exceptions("they watch servers, workers and sessions from outside, and draw what they see"
  apps/mete/top/screen.cc LAYERS top
  apps/mete/top/screen.h LAYERS top
  apps/mete/top/server_source.cc LAYERS machine remote serve_client top
  apps/mete/top/session_source.cc LAYERS top
  apps/mete/top/source.h LAYERS top
  apps/mete/top/top.cc LAYERS top
  apps/mete/top/watch.cc LAYERS top
  apps/mete/top/watch.h LAYERS top
  apps/mete/top/worker_source.cc LAYERS machine remote top
  apps/mete/without_network/without_network.cc LAYERS top
  apps/mete/without_serve/without_serve.cc LAYERS top
  apps/mete/without_top/screen.cc LAYERS top)
mete_exceptions("it is the server's side"
  apps/mete/serve/serve.cc LAYERS machine remote serve_grpc serve_http serve_server worker
  apps/mete/serve/serve_text.cc LAYERS serve_grpc serve_http serve_server
  apps/mete/serve/serve_text.h LAYERS serve_grpc serve_http serve_server
  apps/mete/serve/serve_worker.cc LAYERS cpu serve_server serve_shares worker
  apps/mete/serve/serve_worker.h LAYERS serve_server worker)
mete_exceptions("they choose between a session and a server before there is a session, and keep what they have seen"
  apps/mete/at_site.cc LAYERS engine image machine plan_site processor remote run serve_client serve_site simulate_site
  apps/mete/at_site.h LAYERS plan_site processor remote run serve_client serve_site simulate_site
  apps/mete/site_cut.cc LAYERS cpu engine engine_pool make_processor plan_site processor remote run serve_client serve_site simulate_site
  apps/mete/site_cut.h LAYERS plan_site processor remote run serve_client serve_site simulate_site
  apps/mete/site_device.cc LAYERS image plan_site profile_starts serve_client serve_site
  apps/mete/site_files.cc LAYERS plan_site profile_starts serve_site
  apps/mete/site_files.h LAYERS plan_site serve_site
  apps/mete/site_kept.cc LAYERS cpu machine plan_site profile_starts serve_site
  apps/mete/site_kept.h LAYERS plan_site serve_site
  apps/mete/site_parts.h LAYERS serve_client serve_site plan_site
  apps/mete/site_report.cc LAYERS serve_client serve_site plan_site
  apps/mete/site_run.cc LAYERS plan_site processor remote run serve_client serve_site simulate_site
  apps/mete/site_server.cc LAYERS image serve_client serve_site plan_site)
mete_exceptions("it makes a model of another one, and runs graphs that no file has on the way"
  apps/mete/quantize.cc LAYERS cpu engine export_onnx graph passes quantize
  apps/mete/quantize_report.cc LAYERS quantize
  apps/mete/quantize_report.h LAYERS quantize)
if(METE_TESTS)
  add_subdirectory(tests)
endif()
