# A build folder is configured again without its backends: the registry must not find the old ones.
# The cuda backend is left out for architectures that aren't numbers, or too old.
file(REMOVE_RECURSE "${BUILD}")
set(folder "${BUILD}/lib/trine")
file(MAKE_DIRECTORY "${folder}/packs")
file(TOUCH "${folder}/trine_opencl.so" "${folder}/packs/trine_openblas.so" "${folder}/other.so")
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${SOURCE}" -B "${BUILD}" -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_C_COMPILER=${C}" -DTRINE_CPU=OFF -DTRINE_OPENCL=OFF
    -DTRINE_CUDA=AUTO -DTRINE_NVCC=/bin/true "-DCMAKE_CUDA_ARCHITECTURES=75;80;native"
    -DTRINE_BENCH=OFF -DTRINE_TESTS=OFF -DTRINE_EXAMPLES=OFF
  OUTPUT_VARIABLE output ERROR_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output MATCHES "backend cuda: left out, CMAKE_CUDA_ARCHITECTURES has '75;native'")
  message(FATAL_ERROR "the architectures 75 and 'native' aren't refused: ${output}")
endif()
foreach(stale trine_opencl.so packs/trine_openblas.so)
  if(EXISTS "${folder}/${stale}")
    message(FATAL_ERROR "${stale} is still there")
  endif()
endforeach()
if(NOT EXISTS "${folder}/other.so")
  message(FATAL_ERROR "a file that isn't a module of ours was removed")
endif()
file(REMOVE_RECURSE "${BUILD}")
