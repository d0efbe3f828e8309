# Decides which backends are built. TRINE_CUDA, TRINE_OPENCL, TRINE_CPU are ON, OFF or AUTO: AUTO
# builds what the machine can and says what it left out, ON fails with the reason.
#
# Sets TRINE_BUILD_<BACKEND>, and what the backends need: TRINE_NVCC, TRINE_CUDA_INCLUDE;
# TRINE_OPENCL_INCLUDE; the targets Kokkos::kokkos and hwy::hwy.

include(TrineKokkos)

# Each finder leaves `missing` empty, or a sentence that says what is absent and what would help.
function(trine_find_cuda)
  find_program(TRINE_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH ENV CUDAToolkit_ROOT
    PATH_SUFFIXES bin PATHS /usr/local/cuda /opt/cuda DOC "CUDA's compiler")
  if(NOT TRINE_NVCC)
    set(missing "no nvcc on PATH, in CUDA_HOME or in /usr/local/cuda" PARENT_SCOPE)
    return()
  endif()
  file(REAL_PATH "${TRINE_NVCC}" nvcc)
  cmake_path(GET nvcc PARENT_PATH folder)
  find_path(TRINE_CUDA_INCLUDE cuda.h HINTS "${folder}/../include"
    "${folder}/../targets/x86_64-linux/include" DOC "Folder of cuda.h")
  if(NOT TRINE_CUDA_INCLUDE)
    set(missing "${TRINE_NVCC} has no cuda.h beside it" PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND "${TRINE_NVCC}" --version OUTPUT_VARIABLE text ERROR_QUIET)
  string(REGEX MATCH "release ([0-9.]+)" release "${text}")
  set(detail "nvcc ${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

function(trine_find_opencl)
  # The loader, libOpenCL.so.1, is found at run time; only its headers are needed here.
  find_path(TRINE_OPENCL_INCLUDE CL/cl.h HINTS "${TRINE_CUDA_INCLUDE}" DOC "Folder of CL/cl.h")
  if(NOT TRINE_OPENCL_INCLUDE)
    set(missing "no CL/cl.h (Debian: opencl-headers)" PARENT_SCOPE)
    return()
  endif()
  set(detail "headers in ${TRINE_OPENCL_INCLUDE}" PARENT_SCOPE)
endfunction()

# A macro, because the imported targets of find_package belong to the calling scope.
macro(trine_find_cpu)
  find_package(hwy QUIET)
  trine_find_kokkos(kokkos_missing)
  if(NOT TARGET hwy::hwy)
    set(missing "no Google Highway (Debian: libhwy-dev)")
  elseif(kokkos_missing)
    set(missing "${kokkos_missing}")
  else()
    set(detail "${TRINE_KOKKOS_FOUND}, Highway ${hwy_VERSION}")
  endif()
endmacro()

set(TRINE_BACKEND_REPORT "")
foreach(backend CPU OPENCL CUDA)
  set(TRINE_${backend} AUTO CACHE STRING "Build the ${backend} backend: ON, OFF or AUTO")
  set_property(CACHE TRINE_${backend} PROPERTY STRINGS AUTO ON OFF)
  string(TOUPPER "${TRINE_${backend}}" wanted)
  string(TOLOWER "${backend}" name)
  set(missing "")
  set(detail "")
  set(TRINE_BUILD_${backend} OFF)
  if(NOT wanted MATCHES "^(AUTO|ON|OFF|TRUE|FALSE|YES|NO|1|0)$")
    message(FATAL_ERROR "TRINE_${backend} is '${wanted}'; it can be ON, OFF or AUTO")
  elseif(NOT wanted STREQUAL "AUTO" AND NOT wanted)
    set(report "left out, TRINE_${backend}=OFF")
  else()
    cmake_language(CALL trine_find_${name})
    if(NOT missing)
      set(TRINE_BUILD_${backend} ON)
      set(report "built, ${detail}")
    elseif(wanted STREQUAL "AUTO")
      set(report "left out, ${missing}")
    else()
      message(FATAL_ERROR "TRINE_${backend}=ON, but it can't be built: ${missing}")
    endif()
  endif()
  string(REPLACE ";" "\\;" report "${report}")
  list(APPEND TRINE_BACKEND_REPORT "trine: backend ${name}: ${report}")
endforeach()

# The last lines of a configuration, where they are seen.
function(trine_report_backends)
  message(STATUS "trine ${PROJECT_VERSION}: ${CMAKE_BUILD_TYPE}, in ${PROJECT_BINARY_DIR}")
  foreach(line IN LISTS TRINE_BACKEND_REPORT)
    message(STATUS "${line}")
  endforeach()
endfunction()
