# MLIR 19 from Debian: what the rooms that know it need.

find_package(MLIR 19.1 REQUIRED CONFIG PATHS /usr/lib/llvm-19/lib/cmake/mlir)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
# AddLLVM.cmake sets output folders and flags of its own; what it needs from there is TableGen.
set(LLVM_RUNTIME_OUTPUT_INTDIR ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# The headers that nearly every file of the MLIR rooms includes, compiled once.
add_library(tpuc_mlir_pch OBJECT ${CMAKE_SOURCE_DIR}/cmake/Pch.cpp)
target_include_directories(tpuc_mlir_pch SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_compile_definitions(tpuc_mlir_pch PUBLIC ${LLVM_DEFINITIONS_LIST})
target_precompile_headers(tpuc_mlir_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/Pch.h)

# tpuc_add_mlir_library(Name SOURCES a.cpp ... [FAMILIES Ops ...] [LINK lib ...] [DEPENDS t ...])
#   A static library of an MLIR room. For each family FOps it also compiles FOpsGen.cpp, which holds
#   what TableGen wrote; that is large and runs once per process, so it is not optimized.
function(tpuc_add_mlir_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;FAMILIES;LINK;DEPENDS" ${ARGN})
  list(TRANSFORM ARG_FAMILIES APPEND Gen.cpp OUTPUT_VARIABLE generated)
  add_library(${name} STATIC ${ARG_SOURCES} ${generated})
  tpuc_use_mlir(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(generated)
    set_source_files_properties(${generated} PROPERTIES COMPILE_OPTIONS -O1)
    list(TRANSFORM ARG_FAMILIES PREPEND ${name} OUTPUT_VARIABLE families)
    list(TRANSFORM families APPEND IncGen)
    add_dependencies(${name} ${families})
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# tpuc_op_families(Name FamilyOps ...): FamilyOps.h.inc and .cpp.inc from FamilyOps.td.
function(tpuc_op_families name)
  foreach(family ${ARGN})
    tpuc_tablegen(${name}${family}IncGen TD ${family}.td OUTPUTS
      "${family}.h.inc|-gen-op-decls" "${family}.cpp.inc|-gen-op-defs")
  endforeach()
endfunction()

# tpuc_use_mlir(target): MLIR's headers, the precompiled ones among them, and the shared libMLIR.
function(tpuc_use_mlir target)
  target_include_directories(${target} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_precompile_headers(${target} REUSE_FROM tpuc_mlir_pch)
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
