# mete_library(NAME FOLDER [LINKS lib...] [LAYERS folder-library...] [WITHOUT folder...])
# One library for a folder under src/: all its .cc files but the tests, which become NAME_test, and but those of folders WITHOUT, which are
# libraries of their own.
# Each NAME_fuzz.cc becomes a libFuzzer target of that name where METE_FUZZ is on.
# LAYERS is the list of folders that it may include; tools/check_layers.py compares the real includes.
function(mete_library name folder)
  cmake_parse_arguments(ARG "" "" "LINKS;LAYERS;TEST_LAYERS;WITHOUT" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cc)
  foreach(other ${ARG_WITHOUT})
    list(FILTER sources EXCLUDE REGEX "/${other}/")
  endforeach()
  set(tests ${sources})
  set(fuzzers ${sources})
  list(FILTER sources EXCLUDE REGEX "_(test|fuzz)\\.cc$")
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  add_library(mete_${name} STATIC ${sources})
  target_include_directories(mete_${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/src> $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
                             $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>)
  list(TRANSFORM ARG_LAYERS PREPEND mete_)
  target_link_libraries(mete_${name} PUBLIC ${ARG_LAYERS} ${ARG_LINKS})
  if(METE_TESTS AND tests)
    list(TRANSFORM ARG_TEST_LAYERS PREPEND mete_)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE mete_${name} ${ARG_TEST_LAYERS} GTest::gtest GTest::gtest_main)
    gtest_discover_tests(${name}_test DISCOVERY_MODE PRE_TEST WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} PROPERTIES TIMEOUT ${METE_UNIT_TEST_TIMEOUT})
  endif()
  if(METE_FUZZ)
    foreach(fuzzer ${fuzzers})
      get_filename_component(target ${fuzzer} NAME_WE)
      add_executable(${target} ${fuzzer})
      target_link_libraries(${target} PRIVATE mete_${name})
      target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    endforeach()
  endif()
endfunction()

# mete_protobuf(NAME FILE.proto [SERVICES]): compiles it into mete_NAME; its header is included as "src/....pb.h", with SERVICES that of its
# services as "src/....grpc.pb.h".
function(mete_protobuf name proto)
  cmake_parse_arguments(ARG "SERVICES" "" "" ${ARGN})
  cmake_path(REMOVE_EXTENSION proto LAST_ONLY OUTPUT_VARIABLE base)
  set(out ${CMAKE_BINARY_DIR}/proto)
  file(MAKE_DIRECTORY ${out})
  set(made ${out}/${base}.pb)
  set(services)
  if(ARG_SERVICES)
    list(APPEND made ${out}/${base}.grpc.pb)
    find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)
    set(services --grpc_out=${out} --plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN})
  endif()
  list(TRANSFORM made APPEND .cc OUTPUT_VARIABLE sources)
  list(TRANSFORM made APPEND .h OUTPUT_VARIABLE headers)
  add_custom_command(OUTPUT ${sources} ${headers}
                     COMMAND protobuf::protoc --cpp_out=${out} ${services} --proto_path=${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/${proto}
                     DEPENDS ${CMAKE_SOURCE_DIR}/${proto} VERBATIM)
  target_sources(mete_${name} PRIVATE ${sources} ${headers})
  target_include_directories(mete_${name} SYSTEM PUBLIC $<BUILD_INTERFACE:${out}>)
  set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS -w)
endfunction()

# mete_flatbuffers(NAME FILE.fbs): compiles it into a header of mete_NAME, which is included as "src/..._generated.h".
function(mete_flatbuffers name schema)
  find_program(FLATC flatc REQUIRED)
  cmake_path(REMOVE_EXTENSION schema LAST_ONLY OUTPUT_VARIABLE base)
  cmake_path(GET base PARENT_PATH folder)
  set(out ${CMAKE_BINARY_DIR}/flatbuffers)
  add_custom_command(OUTPUT ${out}/${base}_generated.h
                     COMMAND ${FLATC} --cpp --scoped-enums -o ${out}/${folder} ${CMAKE_SOURCE_DIR}/${schema}
                     DEPENDS ${schema} VERBATIM)
  target_sources(mete_${name} PRIVATE ${out}/${base}_generated.h)
  target_include_directories(mete_${name} SYSTEM PUBLIC $<BUILD_INTERFACE:${out}>)
endfunction()

# mete_text_file(NAME FILE kConstant): mete_NAME gets a constant with the text of FILE, in namespace mete.
function(mete_text_file name file constant)
  set(out ${CMAKE_BINARY_DIR}/${constant}.cc)
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
  add_custom_command(OUTPUT ${out}
                     COMMAND ${CMAKE_COMMAND} -D IN=${file} -D OUT=${out} -D NAME=${constant} -P ${CMAKE_SOURCE_DIR}/cmake/text_file.cmake
                     DEPENDS ${file} ${CMAKE_SOURCE_DIR}/cmake/text_file.cmake VERBATIM)
  target_sources(mete_${name} PRIVATE ${out})
endfunction()

# mete_bench(NAME FOLDER LAYER): FOLDER/NAME.cc with Google Benchmark, where that is installed; built when it is asked for, beside mete.
function(mete_bench name folder layer)
  find_package(benchmark QUIET)
  if(benchmark_FOUND)
    add_executable(${name} EXCLUDE_FROM_ALL ${folder}/${name}.cc)
    target_link_libraries(${name} PRIVATE mete_${layer} benchmark::benchmark)
  endif()
endfunction()

# mete_exceptions("reason" FILE LAYERS layer... [FILE LAYERS layer...]...): files of the command line that include more than the public
# headers and base. tools/check_layers.py reads these lines; the build does not need them.
function(mete_exceptions reason)
endfunction()
