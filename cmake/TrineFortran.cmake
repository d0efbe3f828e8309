# Decides whether the Fortran module is built. TRINE_FORTRAN is ON, OFF or AUTO: AUTO builds it
# where there is a Fortran compiler, and the C compiler has the header of its array descriptors. A
# subproject is asked for it.
#
# Sets TRINE_BUILD_FORTRAN, and enables the language.
if(PROJECT_IS_TOP_LEVEL)
  set(default AUTO)
else()
  set(default OFF)
endif()
set(TRINE_FORTRAN ${default} CACHE STRING "Build the Fortran module: ON, OFF or AUTO")
set_property(CACHE TRINE_FORTRAN PROPERTY STRINGS AUTO ON OFF)
set(TRINE_BUILD_FORTRAN OFF)
set(report "left out, TRINE_FORTRAN=OFF")
if(TRINE_FORTRAN)  # AUTO counts as true
  include(CheckIncludeFile)
  include(CheckLanguage)
  check_language(Fortran)
  check_include_file(ISO_Fortran_binding.h TRINE_FORTRAN_BINDING)
  if(CMAKE_Fortran_COMPILER AND TRINE_FORTRAN_BINDING)
    enable_language(Fortran)
    set(TRINE_BUILD_FORTRAN ON)
    set(report "built, ${CMAKE_Fortran_COMPILER_ID} ${CMAKE_Fortran_COMPILER_VERSION}")
  else()
    set(report "left out, no Fortran compiler, or no ISO_Fortran_binding.h for the C compiler \
(Debian: gfortran has both)")
    if(NOT TRINE_FORTRAN STREQUAL "AUTO")
      message(FATAL_ERROR "TRINE_FORTRAN=ON, but the Fortran module is ${report}")
    endif()
  endif()
endif()
list(APPEND TRINE_BACKEND_REPORT "trine: Fortran module: ${report}")
