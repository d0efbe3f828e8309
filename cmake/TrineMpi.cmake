# Decides whether trine_mpi is built, the reductions over the ranks of MPI. TRINE_MPI is ON, OFF or AUTO:
# AUTO builds it where there is an MPI of version 3 or later. A subproject is asked for it.
#
# Sets TRINE_BUILD_MPI; MPI::MPI_C is then there.
if(PROJECT_IS_TOP_LEVEL)
  set(default AUTO)
else()
  set(default OFF)
endif()
set(TRINE_MPI ${default} CACHE STRING "Build the reductions over MPI: ON, OFF or AUTO")
set_property(CACHE TRINE_MPI PROPERTY STRINGS AUTO ON OFF)
set(TRINE_BUILD_MPI OFF)
set(report "left out, TRINE_MPI=OFF")
if(TRINE_MPI)  # AUTO counts as true
  find_package(MPI 3.0 QUIET COMPONENTS C)
  if(MPI_C_FOUND)
    set(TRINE_BUILD_MPI ON)
    set(report "built, MPI ${MPI_C_VERSION} by ${MPI_C_COMPILER}")
  else()
    set(report "left out, no MPI of version 3 or later for C (Debian: libopenmpi-dev)")
    if(NOT TRINE_MPI STREQUAL "AUTO")
      message(FATAL_ERROR "TRINE_MPI=ON, but it is ${report}")
    endif()
  endif()
endif()
list(APPEND TRINE_BACKEND_REPORT "trine: mpi: ${report}")
