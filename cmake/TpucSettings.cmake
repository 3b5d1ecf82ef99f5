# Compiler settings that hold for every target.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
# One code model everywhere: precompiled headers cannot be shared between -fPIC and -fPIE.
add_compile_options(-fPIC)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# Installed programs find LLVM where they were linked with it.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

# The same bits on every machine: no contraction of a*b+c, no reassociation.
add_compile_options(-ffp-contract=off)
add_compile_options(-Wall -Wextra -Wno-unused-parameter -Werror=return-type)
# libstdc++ 12 uses in its own stable_sort what C++17 deprecates.
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-Wno-deprecated-declarations>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # So that ccache can reuse precompiled headers.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  add_link_options(-fuse-ld=lld)
endif()

set(TPUC_SANITIZERS -fsanitize=address,undefined -fno-sanitize-recover=undefined
    -fno-omit-frame-pointer)
if(TPUC_ENABLE_SANITIZERS)
  add_compile_options(${TPUC_SANITIZERS})
  # -O1 makes no vectors of the loops that ask for it.
  add_compile_options(-Wno-pass-failed)
  add_link_options(-fsanitize=address,undefined)
endif()
# What targets with MLIR are compiled with besides (tpuc_use_mlir). Components without MLIR stand under
# the sanitizers in a tree of their own, so here they are compiled as for dev: the cache has them. There
# are no assertions, as in a release: they would end a run before a sanitizer sees what follows. The check
# of vptr is left out: it reports objects of Debian's LLVM whose classes have no type information.
set(TPUC_MLIR_OPTIONS "")
if(TPUC_SANITIZE_MLIR)
  set(TPUC_MLIR_OPTIONS ${TPUC_SANITIZERS} -fno-sanitize=vptr -gline-tables-only -DNDEBUG)
  add_link_options(-fsanitize=address,undefined)
endif()
if(TPUC_ENABLE_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# The settings under which ccache finds precompiled headers, and objects of other checkouts, again.
find_program(TPUC_CCACHE ccache)
if(TPUC_CCACHE)
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${TPUC_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

include_directories(${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})

find_package(fmt REQUIRED)
find_package(tl-expected REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(libisal REQUIRED IMPORTED_TARGET libisal)

set(TPUC_PYTHON ${CMAKE_SOURCE_DIR}/.venv/bin/python3 CACHE FILEPATH
    "Python with the test oracles (utils/requirements.txt); tests that need it are skipped without")

# The levels of instructions that the tests run at: those of this processor, lowest first, by the
# names of TPUC_CPU (Support/SimdLevel.h). A level that the processor lacks would be its highest again.
set(TPUC_CPU_LEVELS generic)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(TPUC_CPU_LEVELS x86-64)
  file(STRINGS /proc/cpuinfo flags REGEX "^flags" LIMIT_COUNT 1)
  foreach(level "avx2: avx2 fma f16c" "avx512: avx512f avx512bw avx512dq avx512vl"
                "avx512_vnni: avx512_vnni avx512vbmi" "avx512_bf16: avx512_bf16")
    string(REGEX MATCHALL "[a-z0-9_]+" needed "${level}")
    list(POP_FRONT needed name)
    foreach(flag ${needed})
      if(NOT "${flags} " MATCHES " ${flag} ")
        set(name "")
      endif()
    endforeach()
    if(NOT name)
      break()
    endif()
    list(APPEND TPUC_CPU_LEVELS ${name})
  endforeach()
endif()
