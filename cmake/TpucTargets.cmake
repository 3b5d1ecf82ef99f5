# How the components declare what they build.

# tpuc_add_library(Name SOURCES a.cpp ... [LINK lib ...])
#   A static library that includes no MLIR header.
function(tpuc_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  tpuc_use_std_pch(${name})
endfunction()

# tpuc_compile_together(target n): up to n files of the target are compiled as one,
#   which takes a third less in all, but longer after a change of one of them. For components in which
#   files are not changed one at a time, as those with an op each are. Names in anonymous namespaces
#   differ within the target.
function(tpuc_compile_together target size)
  if(CMAKE_UNITY_BUILD OR NOT TPUC_COMPILE_TOGETHER)
    return()
  endif()
  get_target_property(has_mlir ${target} TPUC_MLIR)
  if(TPUC_SANITIZE_MLIR AND has_mlir)
    # A tree of the night, in which nobody changes single files.
    set(size 12)
  elseif(size EQUAL 1)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
endfunction()

# tpuc_compile_lightly(target): less optimization, for code that runs a few times per process: it is
#   compiled in a tenth less. A release has all of it.
function(tpuc_compile_lightly target)
  if(NOT CMAKE_BUILD_TYPE STREQUAL Release)
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# tpuc_use_std_pch(target): the headers of the standard library, compiled once for all targets without
#   MLIR. Not under the sanitizers: there every file must include what it uses.
function(tpuc_use_std_pch target)
  if(TPUC_ENABLE_SANITIZERS)
    return()
  endif()
  if(NOT TARGET tpuc_std_pch)
    add_library(tpuc_std_pch OBJECT ${CMAKE_SOURCE_DIR}/cmake/Pch.cpp)
    target_link_libraries(tpuc_std_pch PRIVATE fmt::fmt tl::expected)
    target_precompile_headers(tpuc_std_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/StdPch.h)
  endif()
  target_precompile_headers(${target} REUSE_FROM tpuc_std_pch)
endfunction()

# tpuc_add_tool(name [MLIR] SOURCES a.cpp ... [LINK lib ...])
#   A program in build/bin, also reachable as name.py, the name that the TPU-MLIR manual uses. With
#   MLIR it uses that.
function(tpuc_add_tool name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  if(ARG_MLIR)
    tpuc_use_mlir(${name})
  else()
    tpuc_use_std_pch(${name})
  endif()
  tpuc_compile_lightly(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  add_custom_command(TARGET ${name} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E create_symlink ${name} ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name}.py)
  add_dependencies(programs ${name})
  install(TARGETS ${name} RUNTIME DESTINATION bin)
  install(FILES ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name}.py DESTINATION bin)
endfunction()

# tpuc_add_plugin(name SOURCES a.cpp ... [LINK lib ...] [NO_INSTALL])
#   The library build/lib/tpuc/name.so, which a program opens on first use (Support/Plugin.h). Only
#   what its sources declare with default visibility is seen from outside. The library that opens it
#   says add_dependencies(Library name), so that building a program builds its plugins.
function(tpuc_add_plugin name)
  cmake_parse_arguments(ARG "NO_INSTALL" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} MODULE ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES
    PREFIX "" CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/tpuc)
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  target_link_options(${name} PRIVATE -Wl,--exclude-libs,ALL)
  if(NOT ARG_NO_INSTALL)
    add_dependencies(programs ${name})
    install(TARGETS ${name} LIBRARY DESTINATION lib/tpuc)
  endif()
endfunction()

# tpuc_add_unittest(NameTests [MLIR] [HOT] SOURCES a.cpp ... [LINK lib ...])
#   A GoogleTest program; ctest counts each of its cases. With MLIR it uses that. Tests are compiled
#   more than run, so they are not optimized; HOT ones are, those whose own loops take their time, and
#   all of them under the sanitizers, where loops take several times longer.
set(TPUC_TEST_OPTIONS -O0)
if(TPUC_ENABLE_SANITIZERS)
  set(TPUC_TEST_OPTIONS "")
endif()
function(tpuc_add_unittest name)
  cmake_parse_arguments(ARG "MLIR;HOT" "" "SOURCES;LINK" ${ARGN})
  find_package(GTest REQUIRED CONFIG)
  include(GoogleTest)
  add_executable(${name} ${ARG_SOURCES})
  set(pch "")
  if(NOT ARG_HOT)
    target_compile_options(${name} PRIVATE ${TPUC_TEST_OPTIONS})
    set(pch UNOPTIMIZED)
  endif()
  if(ARG_MLIR)
    tpuc_use_mlir(${name} ${pch})
  elseif(NOT ARG_HOT)
    tpuc_use_gtest_pch(${name})
  endif()
  # Several files are compiled as one: names in anonymous namespaces differ within a program.
  set_target_properties(${name} PROPERTIES
    UNITY_BUILD ${TPUC_COMPILE_TOGETHER} UNITY_BUILD_BATCH_SIZE 6
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/unittests)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gmock GTest::gtest_main)
  if(TPUC_SANITIZE_MLIR AND NOT ARG_MLIR)
    # It stands under the sanitizers elsewhere.
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()
  gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS unit)
endfunction()

# tpuc_use_gtest_pch(target): GoogleTest's headers, compiled once for all tests
#   that are not optimized.
function(tpuc_use_gtest_pch target)
  if(NOT TARGET tpuc_gtest_pch)
    add_library(tpuc_gtest_pch OBJECT ${CMAKE_SOURCE_DIR}/cmake/Pch.cpp)
    target_compile_options(tpuc_gtest_pch PRIVATE ${TPUC_TEST_OPTIONS})
    target_link_libraries(tpuc_gtest_pch PRIVATE GTest::gtest GTest::gmock fmt::fmt tl::expected)
    target_precompile_headers(tpuc_gtest_pch PRIVATE
      ${CMAKE_SOURCE_DIR}/cmake/StdPch.h <gmock/gmock.h> <gtest/gtest.h>)
  endif()
  target_precompile_headers(${target} REUSE_FROM tpuc_gtest_pch)
endfunction()

# tpuc_add_fuzzer( SOURCES a.cpp ... [LINK lib ...] [SEEDS dir])
#   A libFuzzer program in build/fuzz and, as a test, a short run over its seeds and from there. The
#   run begins with one seed, so that a test repeats: longer runs with others are done by hand.
function(tpuc_add_fuzzer name)
  if(NOT TPUC_ENABLE_FUZZERS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "SEEDS" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set(work ${CMAKE_BINARY_DIR}/fuzz/${name}.corpus)
  file(MAKE_DIRECTORY ${work})
  add_test(NAME fuzz.${name}
    COMMAND ${name} -seed=1 -max_total_time=8 -timeout=10 -rss_limit_mb=2048 -verbosity=0
            ${work} ${ARG_SEEDS})
  set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz)
endfunction()

# tpuc_flatbuffers(folder headers schema.fbs ...)
#   Has flatc write the headers of these schemas: `folder` is where, `headers` are sources of a target.
#   They are not ours to lint: the target includes the folder as one of the system.
macro(tpuc_flatbuffers folder headers)
  find_package(FlatBuffers REQUIRED CONFIG)
  set(${folder} ${CMAKE_CURRENT_BINARY_DIR}/schema)
  set(${headers} "")
  foreach(_schema ${ARGN})
    cmake_path(GET _schema STEM _name)
    add_custom_command(OUTPUT ${${folder}}/${_name}_generated.h
      COMMAND flatbuffers::flatc --cpp --scoped-enums -o ${${folder}}
              ${CMAKE_CURRENT_SOURCE_DIR}/${_schema}
      DEPENDS ${_schema})
    list(APPEND ${headers} ${${folder}}/${_name}_generated.h)
  endforeach()
endmacro()

# tpuc_add_oracle_test(name script.py argument ...)
#   A Python test that compares with packages of utils/requirements.txt; skipped without them.
function(tpuc_add_oracle_test name)
  add_test(NAME ${name} COMMAND ${CMAKE_SOURCE_DIR}/utils/oracle_python ${TPUC_PYTHON} ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS oracle SKIP_RETURN_CODE 77 TIMEOUT 300)
endfunction()

# tpuc_add_bench(name SOURCES a.cpp ... [LINK lib ...])
#   The program build/bin/bench-name, part of the target benches. bench/name/run is what ./dev bench
#   calls, and with --smoke the test bench.name, which finds in its output what bench/name/smoke.txt says.
function(tpuc_add_bench name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(bench-${name} ${ARG_SOURCES})
  add_dependencies(benches bench-${name})
  target_link_libraries(bench-${name} PRIVATE ${ARG_LINK})
endfunction()

# tpuc_embed_script(script.py Script.inc)
#   Script.inc of the build folder: the text of script.py as a string of C++, to be included.
function(tpuc_embed_script script output)
  cmake_path(ABSOLUTE_PATH script)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${script})
  file(READ ${script} text)
  file(CONFIGURE OUTPUT ${output} CONTENT "R\"script(${text})script\"\n" @ONLY)
endfunction()

# tpuc_add_components(): every folder beside the caller's CMakeLists.txt that has one of its own.
function(tpuc_add_components)
  file(GLOB components CONFIGURE_DEPENDS LIST_DIRECTORIES false
       ${CMAKE_CURRENT_SOURCE_DIR}/*/CMakeLists.txt)
  foreach(component ${components})
    cmake_path(GET component PARENT_PATH folder)
    add_subdirectory(${folder})
  endforeach()
endfunction()
