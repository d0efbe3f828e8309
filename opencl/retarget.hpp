// Programs with instructions of NVIDIA's target sm_90a (setmaxnreg), which the driver's OpenCL
// compiler doesn't name, but takes in PTX. In a kernel's text they are comments (FOR_SM_90A in
// prelude.cl), so a program that stays as it was compiled is right, too, only slower.
#pragma once

#include <string_view>

#include "backends/kit/host.hpp"

namespace trine::opencl {

/// The PTX of such a program, of one kernel, for that target, the comments taken away; empty if
/// there are none, or if this isn't the PTX that NVIDIA's compiler is known to make.
kit::String retargeted(std::string_view ptx);

}  // namespace trine::opencl
