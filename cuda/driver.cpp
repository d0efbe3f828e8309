// Finds CUDA's driver, and gives its errors their words.
#include "cuda/driver.hpp"

#include <cstdio>
#include <iterator>

#include "backends/kit/driver_table.hpp"
#include "backends/kit/error.hpp"

namespace trine::cuda {
namespace {

constexpr const char* kSymbols[] = {
#define TRINE_SYMBOL(name, symbol, parameters) #symbol,
    TRINE_CUDA_FUNCTIONS(TRINE_SYMBOL)
#undef TRINE_SYMBOL
};
constinit kit::DriverTable<Driver, std::size(kSymbols)> table(
    {"libcuda.so.1", "there is no CUDA driver", "", "CUDA 11.8"}, kSymbols);

}  // namespace

const Driver* find_driver(const char** reason) { return table.find(reason); }
bool has_driver() { return table.is_found(); }
const Driver& driver() { return table.get(); }
void replace_driver(const Driver* other) { table.replace(other); }

trine_status status_of(Result code) {
  if (code == kSuccess) return TRINE_OK;
  if (code == kOutOfMemory) return TRINE_OUT_OF_MEMORY;
  if (code == kNotReady) return TRINE_NOT_READY;
  if (code >= 900 && code <= 908) return TRINE_INVALID_ARGUMENT;  // not during a stream's capture
  return is_sticky(code) ? TRINE_DEVICE_LOST : TRINE_BACKEND_ERROR;
}

bool is_sticky(Result code) {
  switch (code) {
    case kDeinitialized:
    case 214:  // an uncorrectable ECC error
    case 220:  // an uncorrectable NVLink error
    case 226:  // contained ECC error
    case 700:  // an illegal address
    case 702:  // a launch timed out
    case 709:  // the context is destroyed
    case 710:  // a device-side assert
    case 714:  // a hardware stack error
    case 715:  // an illegal instruction
    case 716:  // a misaligned address
    case 717:  // an invalid address space
    case 718:  // an invalid program counter
    case 719:  // a launch failed
    case 721:  // a tensor memory leak
      return true;
    default: return false;
  }
}

ErrorText::ErrorText(Result code) {
  const char *name = nullptr, *words = nullptr;
  driver().cuGetErrorName(code, &name);
  driver().cuGetErrorString(code, &words);
  std::snprintf(text, sizeof text, "%s: %s (%d)", name ? name : "an error without a name",
                words ? words : "the driver doesn't say what it is", code);
}

void check(Result code, const char* call) {
  if (code == kSuccess) return;
  kit::fail(status_of(code), "cuda: %s failed: %s", call, ErrorText(code).text);
}

}  // namespace trine::cuda
