# Decides which backends are built, by TRINE_CUDA, TRINE_OPENCL and TRINE_CPU. Sets what the
# backends need: TRINE_NVCC, TRINE_NVCC_VERSION,
# TRINE_CUDA_INCLUDE, TRINE_CUDA_ARCHITECTURES; TRINE_OPENCL_INCLUDE; the targets Kokkos::kokkos and hwy::hwy.

include(TrineParts)
include(TrineKokkos)

# Each finder leaves `missing` empty, or a sentence that says what is absent and what would help.
function(trine_find_cuda)
  find_program(TRINE_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH ENV CUDAToolkit_ROOT
    PATH_SUFFIXES bin PATHS /usr/local/cuda /opt/cuda DOC "CUDA's compiler")
  if(NOT TRINE_NVCC)
    set(missing "no nvcc on PATH, in CUDA_HOME or in /usr/local/cuda" PARENT_SCOPE)
    return()
  endif()
  set(wrong ${CMAKE_CUDA_ARCHITECTURES})
  list(FILTER wrong EXCLUDE REGEX "^([89][0-9]|[1-9][0-9][0-9])[af]?(-real|-virtual)?$")
  if(wrong)
    set(missing "CMAKE_CUDA_ARCHITECTURES has '${wrong}'; write compute capabilities from 80 on, like 80;90" PARENT_SCOPE)
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
  set(TRINE_NVCC_VERSION "${CMAKE_MATCH_1}" PARENT_SCOPE)
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

foreach(backend CPU OPENCL CUDA)
  string(TOLOWER "${backend}" name)
  trine_decide(${backend} "backend ${name}" AUTO)
endforeach()

# The architectures of device code: code for 80 and 90a, PTX of 80 for all others. Tests have the
# host's code without nvcc.
set(TRINE_CUDA_ARCHITECTURES "${CMAKE_CUDA_ARCHITECTURES}")
if(NOT TRINE_CUDA_ARCHITECTURES OR NOT TRINE_BUILD_CUDA)
  set(TRINE_CUDA_ARCHITECTURES 80 90a-real)
endif()

# The same in nvcc's words.
function(trine_gencode result)
  set(words "")
  foreach(architecture IN LISTS TRINE_CUDA_ARCHITECTURES)
    string(REGEX MATCH "^[0-9]+[a-z]?" number "${architecture}")
    set(code "compute_${number},sm_${number}")
    if(architecture MATCHES "-virtual$")
      set(code "compute_${number}")
    elseif(architecture MATCHES "-real$")
      set(code "sm_${number}")
    endif()
    list(APPEND words "-gencode=arch=compute_${number},code=[${code}]")
  endforeach()
  set(${result} "${words}" PARENT_SCOPE)
endfunction()
