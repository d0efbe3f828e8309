// What this backend was built with, in words; apart, so that the glue needs no Kokkos headers.
#pragma once

namespace trine::cpu {

const char* kokkos_version();  // "3.4.1"
const char* cpu_build_line();  // the library's and Kokkos's versions, one line

}  // namespace trine::cpu
