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

# tpuc_add_mlir_library(Name SOURCES a.cpp ... [GENERATED b.cpp ...] [LINK lib ...] [DEPENDS t ...])
#   A static library of an MLIR room. GENERATED files hold what TableGen wrote; they are large and
#   run once per process, so they are hardly optimized.
function(tpuc_add_mlir_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;GENERATED;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES} ${ARG_GENERATED})
  tpuc_use_mlir(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(ARG_GENERATED)
    set_source_files_properties(${ARG_GENERATED} PROPERTIES COMPILE_OPTIONS -O1)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
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
    tpuc_tablegen(${ARG_LIBRARY}${FAMILY}IncGen TD ${FAMILY}.td OUTPUTS
      "${FAMILY}.h.inc|-gen-op-decls" "${FAMILY}.cpp.inc|-gen-op-defs")
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
