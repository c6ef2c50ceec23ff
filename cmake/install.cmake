# What `cmake --install` gives: one shared library of all folders, the public headers, the program with its
# man page and completions, and how to find them (find_package(mete), pkg-config).
include(CMakePackageConfigHelpers)

# The folders that define what the public headers declare; of the others comes what these need.
set(parts base image answer engine engine_pool)
list(TRANSFORM parts REPLACE "(.+)" "$<TARGET_OBJECTS:mete_\\1>" OUTPUT_VARIABLE objects)
add_library(mete_shared SHARED ${objects})
target_link_libraries(mete_shared PRIVATE mete_engine_pool mete_answer)
target_include_directories(mete_shared INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(mete_shared INTERFACE cxx_std_20)
set_target_properties(mete_shared PROPERTIES OUTPUT_NAME mete EXPORT_NAME mete VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE CXX)

install(TARGETS mete_shared EXPORT mete_targets)
set(network_header PATTERN network.h EXCLUDE)
if(METE_NETWORK)
  # The workers of pools (docs/decisions/network-is-a-library-of-its-own.md). mete_shared comes first: what it exports is taken from there.
  add_library(mete_network_shared SHARED $<TARGET_OBJECTS:mete_network_pool>)
  target_link_libraries(mete_network_shared PUBLIC mete_shared PRIVATE mete_network_pool)
  set_target_properties(mete_network_shared PROPERTIES OUTPUT_NAME mete_network EXPORT_NAME network VERSION ${PROJECT_VERSION}
                        SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE CXX)
  install(TARGETS mete_network_shared EXPORT mete_targets)
  set(network_header)
endif()
if(METE_PROGRAMS)
  install(TARGETS mete_cli RUNTIME)
endif()
install(TARGETS mete_gpus RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR})
install(DIRECTORY bench/peers bench/common DESTINATION ${CMAKE_INSTALL_DATADIR}/mete USE_SOURCE_PERMISSIONS
        PATTERN "__pycache__" EXCLUDE PATTERN "*_test.py" EXCLUDE PATTERN "CMakeLists.txt" EXCLUDE)
install(DIRECTORY boards DESTINATION ${CMAKE_INSTALL_DATADIR}/mete)
install(DIRECTORY include/mete TYPE INCLUDE ${network_header})
install(EXPORT mete_targets NAMESPACE mete:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mete)

file(WRITE ${CMAKE_BINARY_DIR}/mete-config.cmake "include(\${CMAKE_CURRENT_LIST_DIR}/mete_targets.cmake)\n")
write_basic_package_version_file(${CMAKE_BINARY_DIR}/mete-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/mete-config.cmake ${CMAKE_BINARY_DIR}/mete-config-version.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mete)

# Relative to the file, so that the whole prefix may be moved.
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/mete.pc.in ${CMAKE_BINARY_DIR}/mete.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/mete.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(METE_PROGRAMS)
  install(FILES ${CMAKE_BINARY_DIR}/mete.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${CMAKE_BINARY_DIR}/mete.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME mete)
  install(FILES ${CMAKE_BINARY_DIR}/_mete DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${CMAKE_BINARY_DIR}/mete.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
