// Builds programs: macros in front of the embedded text, so that nothing needs quoting as an
// option.
#include <algorithm>
#include <cstring>
#include <memory>

#include "backends/gpu/specialization.hpp"
#include "backends/kit/handlers.hpp"
#include "opencl/objects.hpp"
#include "opencl/retarget.hpp"
#include "opencl_sources.h"

namespace trine::opencl {
namespace {

const trine_embedded_file& source_of(const char* file) {
  const std::size_t length = std::strlen(file);
  for (std::size_t i = 0; i < opencl_sources_count; ++i) {
    const char* name = opencl_sources[i].name;
    if (std::strncmp(name, file, length) == 0 && std::strcmp(name + length, ".cl") == 0) {
      return opencl_sources[i];
    }
  }
  kit::fail(TRINE_INTERNAL, "opencl: %s.cl is not in this build", file);
}

kit::String defines_of(const Device& device, const gpu::Variant& variant, const int* macro) {
  kit::String text;
  const auto define = [&](const kit::String& name, const kit::String& value) {
    text += "#define " + name + " " + value + "\n";
  };
  const auto flag = [&](const char* name, uint64_t capability) {
    define(name, device.target.has(capability) ? "1" : "0");
  };
  flag("HAVE_F64", TRINE_CAN_F64);
  flag("HAVE_ATOMIC_64", TRINE_CAN_ATOMIC_64);
  flag("HAVE_PTX", TRINE_CAN_INLINE_PTX);
  flag("HAVE_WARPS", TRINE_CAN_INLINE_PTX);
  define("HAVE_LOCAL_48K", device.target.facts->local_memory_bytes >= 48 << 10 ? "1" : "0");
  gpu::visit_macros<kit::String>(variant, macro, define);
  return text;
}

}  // namespace

Program& Context::program(const gpu::Variant& variant, const int* macro, int queue) {
  const kit::String defines = defines_of(device_, variant, macro);
  // Without -w PoCL prints how many warnings there are on the program's stderr.
  kit::String options("-cl-std=CL1.2 -w");
  if (variant.options) options.append(" ").append(variant.options);
  // The driver tells programs apart by what is left of them without comments, and by their options.
  if (queue > 0) options.append(" -DQUEUE=").append(std::to_string(queue).c_str());
  std::lock_guard lock(mutex_);
  for (const auto& known : programs_) {
    if (std::strcmp(known->file, variant.file) == 0 && known->defines == defines &&
        known->options == options)
      return *known;
  }

  const kit::HandlersKept handlers;  // a compiler may begin its work here
  const trine_embedded_file& source = source_of(variant.file);
  const auto* text = reinterpret_cast<const char*>(source.data);
  std::unique_ptr<Program> fresh(new Program);
  fresh->file = variant.file;
  fresh->defines = defines;
  fresh->options = options;
  if (device_.is_pocl) {
    build_from_source(*fresh, text, source.size);
  } else {
    CacheKey key;
    key.add(device_.facts.name);
    key.add(device_.facts.driver);
    key.add(defines);
    key.add(options);
    key.add({text, source.size});
    if (!build_from_binary(*fresh, key)) {
      build_from_source(*fresh, text, source.size);
      store(*fresh, key);
    }
  }
  programs_.push_back(std::move(fresh));
  return *programs_.back();
}

cl_int Context::build(Program& program) {
  return driver().clBuildProgram(program.program.get(), 1, &device_.where.device,
                                 program.options.c_str(), nullptr, nullptr);
}

bool Context::build_from_binary(Program& program, const CacheKey& key) {
  const auto binary = load_binary(key);
  if (binary.empty()) return false;
  program.program = from_binary(binary.data(), binary.size());
  return program.program && build(program) == CL_SUCCESS;
}

/// A program that isn't built yet; nullptr if the driver doesn't take the binary.
HeldProgram Context::from_binary(const unsigned char* data, std::size_t bytes) {
  cl_int status = CL_SUCCESS, code = CL_SUCCESS;
  HeldProgram fresh(driver().clCreateProgramWithBinary(native(), 1, &device_.where.device, &bytes,
                                                       &data, &status, &code));
  if (code != CL_SUCCESS || status != CL_SUCCESS) fresh.reset();
  return fresh;
}

void Context::build_from_source(Program& program, const char* source, std::size_t bytes) {
  const char* texts[] = {program.defines.c_str(), source};
  const std::size_t lengths[] = {program.defines.size(), bytes};
  cl_int code = CL_SUCCESS;
  program.program.reset(driver().clCreateProgramWithSource(native(), 2, texts, lengths, &code));
  device_.check(code, "clCreateProgramWithSource");
  code = build(program);
  // PoCL 3.1 gives up where another process builds the same program for the same folder: each takes
  // the other's file away.
  if (code == CL_BUILD_PROGRAM_FAILURE && device_.is_pocl) code = build(program);
  if (code != CL_SUCCESS) fail_build(program, code);
  if (device_.is_nvidia) retarget(program);
}

/// Has the driver build the program for sm_90a if it asks for that; else all stays as it is.
void Context::retarget(Program& program) {
  try {
    const kit::Vector<unsigned char> binary = binary_of(program);
    const kit::String ptx =
        retargeted({reinterpret_cast<const char*>(binary.data()), binary.size()});
    if (ptx.empty()) return;
    const auto* data = reinterpret_cast<const unsigned char*>(ptx.data());
    HeldProgram source = std::move(program.program);
    program.program = from_binary(data, ptx.size());
    if (!program.program || build(program) != CL_SUCCESS) program.program = std::move(source);
  } catch (const std::bad_alloc&) {  // then it is only slower
  }
}

void Context::fail_build(Program& program, cl_int code) {
  char log[700] = "";
  kit::Vector<char> whole;
  std::size_t bytes = 0;
  const auto ask = [&](std::size_t most, void* text, std::size_t* needed) {
    return driver().clGetProgramBuildInfo(program.program.get(), device_.where.device,
                                          CL_PROGRAM_BUILD_LOG, most, text, needed);
  };
  ask(0, nullptr, &bytes);
  try {
    whole.resize(bytes + 1);
    if (bytes && ask(bytes, whole.data(), nullptr) == CL_SUCCESS)
      std::snprintf(log, sizeof log, "%s", whole.data());
  } catch (const std::bad_alloc&) {  // the code alone must do
  }
  if (code != CL_BUILD_PROGRAM_FAILURE) device_.check(code, "clBuildProgram");
  // The variant's refusal has looked at the device before: that it doesn't build is a defect, of
  // the kernel or of the driver's compiler, and must not pass for a rung that refuses.
  kit::fail(TRINE_BACKEND_ERROR, "opencl:%d: %s.cl doesn't build (%s): %s", device_.index,
            program.file, error_name(code), log);
}

/// Empty if the driver gives none.
kit::Vector<unsigned char> Context::binary_of(const Program& program) {
  std::size_t bytes = 0;
  if (driver().clGetProgramInfo(program.program.get(), CL_PROGRAM_BINARY_SIZES, sizeof bytes,
                                &bytes, nullptr) != CL_SUCCESS)
    return {};
  kit::Vector<unsigned char> binary(bytes);
  unsigned char* data = binary.data();
  if (bytes == 0 || driver().clGetProgramInfo(program.program.get(), CL_PROGRAM_BINARIES,
                                              sizeof data, &data, nullptr) != CL_SUCCESS)
    return {};
  return binary;
}

void Context::store(const Program& program, const CacheKey& key) {
  try {
    const kit::Vector<unsigned char> binary = binary_of(program);
    if (!binary.empty()) store_binary(key, binary.data(), binary.size());
  } catch (const std::bad_alloc&) {  // then it is compiled again in the next process
  }
}

}  // namespace trine::opencl
