# Finds the Kokkos (3.4 to 5, with OpenMP) that drives the cpu backend's threads: Kokkos::kokkos.
#
# TRINE_KOKKOS=private (the default) wants a static, position independent one, which the backend
# hides inside itself, so that a program may bring any Kokkos of its own. TRINE_KOKKOS=shared takes
# the program's. Looked for in this order: find_package, which also looks where `./dev` keeps its
# own; the tree TRINE_KOKKOS_SOURCE; the pinned upstream commit, which needs the internet.

set(TRINE_KOKKOS private CACHE STRING "Kokkos inside the cpu backend: private or shared")
set_property(CACHE TRINE_KOKKOS PROPERTY STRINGS private shared)
if(NOT TRINE_KOKKOS MATCHES "^(private|shared)$")
  message(FATAL_ERROR "TRINE_KOKKOS is '${TRINE_KOKKOS}'; it can be private or shared")
endif()
set(TRINE_KOKKOS_SOURCE "" CACHE PATH "A Kokkos source tree to build for the cpu backend")
option(TRINE_FETCH "Fetch Kokkos from its upstream where nothing else provides it" ON)
set(TRINE_KOKKOS_URL "https://github.com/kokkos/kokkos.git")
set(TRINE_KOKKOS_COMMIT "175257a51ff29a0059ec48bcd233ee096b2c0438")  # 4.5.01

# Why the Kokkos that find_package found can't be used, or nothing.
function(trine_judge_kokkos unfit)
  set(reason "")
  if(Kokkos_VERSION VERSION_LESS 3.4 OR Kokkos_VERSION VERSION_GREATER_EQUAL 6)
    set(reason "version ${Kokkos_VERSION} is not 3.4 to 5")
  elseif(NOT "OPENMP" IN_LIST Kokkos_DEVICES)
    set(reason "it was built without OpenMP")
  elseif(TRINE_KOKKOS STREQUAL "private")
    get_target_property(type Kokkos::kokkoscore TYPE)
    if(NOT type STREQUAL "STATIC_LIBRARY")
      set(reason "it is a shared library, and TRINE_KOKKOS=private hides a static one")
    endif()
  endif()
  set(${unfit} "${reason}" PARENT_SCOPE)
endfunction()

# Fetches the pinned commit once. Not FetchContent, which ends the configuration when a machine has
# no network, where AUTO must go on without the cpu backend.
function(trine_fetch_kokkos tree)
  set(folder "${PROJECT_BINARY_DIR}/kokkos-source")
  if(NOT EXISTS "${folder}/CMakeLists.txt")
    find_package(Git QUIET)
    message(STATUS "trine: fetching Kokkos ${TRINE_KOKKOS_COMMIT}")
    file(REMOVE_RECURSE "${folder}")
    foreach(command "init --quiet ${folder}"
        "-C ${folder} fetch --quiet --depth 1 ${TRINE_KOKKOS_URL} ${TRINE_KOKKOS_COMMIT}"
        "-C ${folder} checkout --quiet FETCH_HEAD")
      separate_arguments(command)
      execute_process(COMMAND "${GIT_EXECUTABLE}" ${command} RESULT_VARIABLE failed
        OUTPUT_QUIET ERROR_QUIET TIMEOUT 120)
      if(failed)
        file(REMOVE_RECURSE "${folder}")
        set(${tree} "" PARENT_SCOPE)
        return()
      endif()
    endforeach()
  endif()
  set(${tree} "${folder}" PARENT_SCOPE)
endfunction()

# Builds a source tree as part of this build: hidden, silent, nothing of it installed.
function(trine_build_kokkos tree)
  set(BUILD_SHARED_LIBS OFF)
  set(CMAKE_CXX_VISIBILITY_PRESET hidden)
  set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
  # Kokkos reads its options from the cache alone.
  set(Kokkos_ENABLE_OPENMP ON CACHE BOOL "The cpu backend's threads")
  set(Kokkos_ENABLE_SERIAL ON CACHE BOOL "Kokkos wants a serial space too")
  set(Kokkos_ENABLE_LIBDL OFF CACHE BOOL "A private copy loads no tools")
  set(CMAKE_CXX_FLAGS "${CMAKE_CXX_FLAGS} -w -ffp-contract=off")
  add_subdirectory("${tree}" "${PROJECT_BINARY_DIR}/kokkos" EXCLUDE_FROM_ALL)
  # The warnings of Kokkos's headers are not ours to mend.
  foreach(target kokkoscore kokkoscontainers kokkosalgorithms kokkossimd)
    if(TARGET ${target})
      get_target_property(folders ${target} INTERFACE_INCLUDE_DIRECTORIES)
      set_property(TARGET ${target} PROPERTY INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${folders}")
    endif()
  endforeach()
endfunction()

# Makes Kokkos::kokkos and sets TRINE_KOKKOS_FOUND, or leaves a sentence in `missing`. A macro,
# because imported targets belong to the scope that finds them.
macro(trine_find_kokkos missing)
  set(${missing} "")
  set(trine_unfit "")
  set(trine_kokkos_tree "${TRINE_KOKKOS_SOURCE}")
  if(DEFINED ENV{XDG_CACHE_HOME})
    set(trine_cache "$ENV{XDG_CACHE_HOME}/trine")
  else()
    set(trine_cache "$ENV{HOME}/.cache/trine")
  endif()
  if(NOT trine_kokkos_tree)
    find_package(Kokkos QUIET CONFIG HINTS "${trine_cache}/kokkos-3.4.01")
    if(Kokkos_FOUND)
      trine_judge_kokkos(trine_unfit)
    endif()
    if(Kokkos_FOUND AND NOT trine_unfit)
      set(TRINE_KOKKOS_FOUND "Kokkos ${Kokkos_VERSION} in ${Kokkos_DIR}")
    elseif(Kokkos_FOUND)
      # Its targets exist now and would collide with those of a source tree.
      set(${missing} "the Kokkos in ${Kokkos_DIR} can't be used: ${trine_unfit}; `./dev setup` \
builds one that can, and Kokkos_ROOT names another")
    elseif(TRINE_FETCH)
      trine_fetch_kokkos(trine_kokkos_tree)
    endif()
  endif()
  if(trine_kokkos_tree)
    trine_build_kokkos("${trine_kokkos_tree}")
    set(TRINE_KOKKOS_FOUND "Kokkos from ${trine_kokkos_tree}")
  elseif(NOT TRINE_KOKKOS_FOUND AND NOT ${missing})
    set(${missing} "no Kokkos; `./dev setup` builds one, or name an installed one by Kokkos_ROOT \
or a source tree by TRINE_KOKKOS_SOURCE")
  endif()
endmacro()
