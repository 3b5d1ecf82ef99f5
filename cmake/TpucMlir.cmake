# MLIR 19 from Debian: what the components that know it need.

find_package(MLIR 19.1 REQUIRED CONFIG PATHS /usr/lib/llvm-19/lib/cmake/mlir)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
# AddLLVM.cmake sets output folders and flags of its own; what it needs from there is TableGen.
set(LLVM_RUNTIME_OUTPUT_INTDIR ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
# Its TableGen names outputs in dependency files from the top of the build tree, as Ninja does. CMake
# would put the folder of the caller before them, and Ninja run all of TableGen in every build.
cmake_policy(PUSH)
cmake_policy(SET CMP0116 OLD)
include(TableGen)
cmake_policy(POP)
include(AddLLVM)
include(AddMLIR)

# The headers that nearly every file of the MLIR components includes, compiled once with optimization and
# once without: clang refuses a precompiled header across that border.
foreach(pch tpuc_mlir_pch tpuc_mlir_pch_unoptimized)
  add_library(${pch} OBJECT ${CMAKE_SOURCE_DIR}/cmake/Pch.cpp)
  target_include_directories(${pch} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_compile_definitions(${pch} PUBLIC ${LLVM_DEFINITIONS_LIST})
  target_compile_options(${pch} PRIVATE ${TPUC_MLIR_OPTIONS})
  target_precompile_headers(${pch} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/Pch.h)
endforeach()
target_compile_options(tpuc_mlir_pch_unoptimized PRIVATE -O0)

# tpuc_add_mlir_library(Name SOURCES a.cpp ... [GENERATED b.cpp ...] [FAMILIES Ops ...] [LINK lib ...]
#                       [DEPENDS t ...])
#   A static library of an MLIR component. GENERATED files hold what TableGen wrote: large and run
#   once per process, so they are compiled lightly (-O0 would add a third to a small import). For each
#   family FOps of tpuc_op_families it also compiles FOpsGen.cpp of the calling folder.
function(tpuc_add_mlir_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;GENERATED;FAMILIES;LINK;DEPENDS" ${ARGN})
  foreach(family ${ARG_FAMILIES})
    list(APPEND ARG_GENERATED ${family}Gen.cpp)
    list(APPEND ARG_DEPENDS ${name}${family}IncGen)
  endforeach()
  add_library(${name} STATIC ${ARG_SOURCES})
  tpuc_use_mlir(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  set(targets ${name})
  if(ARG_GENERATED)
    tpuc_add_generated(${name}Generated SOURCES ${ARG_GENERATED} LINK ${ARG_LINK})
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:${name}Generated>)
    list(APPEND targets ${name}Generated)
  endif()
  if(ARG_DEPENDS)
    foreach(target ${targets})
      add_dependencies(${target} ${ARG_DEPENDS})
    endforeach()
  endif()
endfunction()

# tpuc_add_generated(Name SOURCES a.cpp ... [LINK lib ...]): objects of what TableGen wrote.
function(tpuc_add_generated name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} OBJECT ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  tpuc_compile_lightly(${name})
  tpuc_use_mlir(${name})
  tpuc_compile_together(${name} 3)
endfunction()

# tpuc_op_families(Name FamilyOps ...): FamilyOps.h.inc and .cpp.inc from FamilyOps.td.
function(tpuc_op_families name)
  foreach(family ${ARGN})
    tpuc_tablegen(${name}${family}IncGen TD ${family}.td OUTPUTS
      "${family}.h.inc|-gen-op-decls" "${family}.cpp.inc|-gen-op-defs")
  endforeach()
endfunction()

# tpuc_add_dialect(DIALECT Top NAMESPACE top LIBRARY TpucTop FAMILIES XOps ... LINK ... SOURCES ...)
#   The library of a dialect in the calling folder: TopBase.td defines the dialect, each XOps.td a
#   family of ops. A family has one generated header, XOps.h, so that a file includes only those it
#   uses; XOps.cpp, where it exists, holds verifiers and shape inference. TopDialect.cpp includes
#   TopFamilies.inc, which registers all families.
function(tpuc_add_dialect)
  cmake_parse_arguments(ARG "" "DIALECT;NAMESPACE;LIBRARY" "FAMILIES;SOURCES;LINK;DEPENDS" ${ARGN})
  tpuc_tablegen(${ARG_LIBRARY}DialectIncGen TD ${ARG_DIALECT}Base.td OUTPUTS
    "${ARG_DIALECT}Dialect.h.inc|-gen-dialect-decls|-dialect=${ARG_NAMESPACE}"
    "${ARG_DIALECT}Dialect.cpp.inc|-gen-dialect-defs|-dialect=${ARG_NAMESPACE}")
  set(depends ${ARG_LIBRARY}DialectIncGen ${ARG_DEPENDS})
  set(sources ${ARG_SOURCES})
  set(DIALECT ${ARG_DIALECT})
  set(NAMESPACE ${ARG_NAMESPACE})
  set(includes "")
  set(calls "")
  foreach(FAMILY ${ARG_FAMILIES})
    # A family's file may build on those of another dialect.
    set(only "-op-include-regex=^${ARG_NAMESPACE}[.]")
    tpuc_tablegen(${ARG_LIBRARY}${FAMILY}IncGen TD ${FAMILY}.td OUTPUTS
      "${FAMILY}.h.inc|-gen-op-decls|${only}" "${FAMILY}.cpp.inc|-gen-op-defs|${only}")
    list(APPEND depends ${ARG_LIBRARY}${FAMILY}IncGen)
    configure_file(${CMAKE_SOURCE_DIR}/cmake/OpFamily.h.in ${FAMILY}.h @ONLY)
    configure_file(${CMAKE_SOURCE_DIR}/cmake/OpFamily.cpp.in ${FAMILY}Gen.cpp @ONLY)
    list(APPEND generated ${CMAKE_CURRENT_BINARY_DIR}/${FAMILY}Gen.cpp)
    string(APPEND includes "#include \"tpuc/Dialect/${DIALECT}/${FAMILY}.h\"\n")
    string(APPEND calls "  add${FAMILY}(*this);\n")
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${FAMILY}.cpp)
      list(APPEND sources ${FAMILY}.cpp)
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${DIALECT}Families.inc @ONLY CONTENT
    "${includes}\nvoid tpuc::${NAMESPACE}::${DIALECT}Dialect::initialize() {\n${calls}}\n")
  tpuc_add_mlir_library(${ARG_LIBRARY} SOURCES ${sources} GENERATED ${generated}
    LINK ${ARG_LINK} DEPENDS ${depends})
  tpuc_compile_together(${ARG_LIBRARY} 5)
endfunction()

# tpuc_use_mlir(target [UNOPTIMIZED]): MLIR's headers, the precompiled ones among them, and the shared
#   libMLIR.
function(tpuc_use_mlir target)
  cmake_parse_arguments(ARG "UNOPTIMIZED" "" "" ${ARGN})
  set(pch tpuc_mlir_pch)
  if(ARG_UNOPTIMIZED)
    set(pch tpuc_mlir_pch_unoptimized)
  endif()
  target_include_directories(${target} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_compile_options(${target} PRIVATE ${TPUC_MLIR_OPTIONS})
  set_target_properties(${target} PROPERTIES TPUC_MLIR ON)
  tpuc_compile_together(${target} 1)
  target_precompile_headers(${target} REUSE_FROM ${pch})
  target_link_libraries(${target} PUBLIC MLIR LLVM)
endfunction()

# tpuc_tablegen(target TD file.td DEPENDS_DIR ... OUTPUTS "out.h.inc|-gen-op-decls" ...)
#   Runs mlir-tblgen on a .td of the calling folder into the mirrored folder of the build tree.
function(tpuc_tablegen target)
  cmake_parse_arguments(ARG "" "TD" "OUTPUTS" ${ARGN})
  set(LLVM_TARGET_DEFINITIONS ${ARG_TD})
  foreach(output ${ARG_OUTPUTS})
    string(REPLACE "|" ";" parts "${output}")
    list(POP_FRONT parts file)
    mlir_tablegen(${file} ${parts} -I${MLIR_INCLUDE_DIRS})
  endforeach()
  add_public_tablegen_target(${target})
endfunction()

# tpuc_dialect_doc(name TDS Ops.td ... [PASSES Passes.td])
#   Builds docs/dialects/NAME.md of the build tree from the definitions in the calling folder's .td
#   files (all families of the dialect NAME) and, behind them, the passes of PASSES. The target
#   docs-NAME, part of the target docs, copies it into the source tree, where it is committed; the
#   test docs.NAME.current fails when the committed page is another one, and docs.NAME.examples when
#   tpuc-opt rejects an example in it.
function(tpuc_dialect_doc name)
  cmake_parse_arguments(ARG "" "PASSES" "TDS" ${ARGN})
  set(parts ${CMAKE_CURRENT_BINARY_DIR}/${name}-doc)
  set(umbrella "")
  foreach(td ${ARG_TDS})
    string(APPEND umbrella "include \"${CMAKE_CURRENT_SOURCE_DIR}/${td}\"\n")
  endforeach()
  file(CONFIGURE OUTPUT ${parts}/${name}.td CONTENT "${umbrella}" @ONLY)
  # They include those of other dialects.
  file(GLOB_RECURSE definitions CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tpuc/Dialect/*.td)
  set(tblgen ${MLIR_TABLEGEN_EXE} -I ${MLIR_INCLUDE_DIRS} -I ${CMAKE_SOURCE_DIR})
  set(commands COMMAND ${tblgen} -gen-dialect-doc -dialect=${name} -op-include-regex=^${name}[.] ${parts}/${name}.td
                       -o ${parts}/dialect.md)
  set(pages ${parts}/dialect.md)
  if(ARG_PASSES)
    list(APPEND definitions ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_PASSES})
    list(APPEND commands COMMAND ${tblgen} -gen-pass-doc ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_PASSES}
                                 -o ${parts}/passes.md)
    list(APPEND pages ${parts}/passes.md)
  endif()
  set(join ${CMAKE_SOURCE_DIR}/cmake/JoinPages.cmake)
  set(built ${CMAKE_BINARY_DIR}/docs/dialects/${name}.md)
  set(committed ${CMAKE_SOURCE_DIR}/docs/dialects/${name}.md)
  add_custom_command(OUTPUT ${built}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/docs/dialects
    ${commands}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${built} "-DPAGES=${pages}" -P ${join}
    DEPENDS ${definitions} ${join} VERBATIM)
  add_custom_target(docs-${name}-page ALL DEPENDS ${built})
  add_custom_target(docs-${name}
    COMMAND ${CMAKE_COMMAND} -E copy ${built} ${committed} DEPENDS ${built})
  add_dependencies(docs docs-${name})
  if(TPUC_ENABLE_TESTS)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    add_test(NAME docs.${name}.current
      COMMAND ${CMAKE_COMMAND} -E compare_files ${built} ${committed})
    add_test(NAME docs.${name}.examples
      COMMAND sh -c "\"$1\" \"$2\" \"$3\" > \"$4\" && \"$5\" --split-input-file -o /dev/null \"$4\""
              sh ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/utils/doc_examples.py ${committed}
              ${parts}/examples.mlir $<TARGET_FILE:tpuc-opt>)
    set_tests_properties(docs.${name}.current docs.${name}.examples PROPERTIES LABELS docs)
  endif()
endfunction()
