// The calls of the CUDA driver API that the program makes itself, with its handles as plain
// pointers: found at run time, as the backend finds its own.
#pragma once

#include <trine/trine.hpp>

namespace trine::bench {

struct CudaDriver {
  int (*push)(void*);
  int (*pop)(void**);
  int (*load)(void**, const void*);
  int (*unload)(void*);
  int (*function)(void**, void*, const char*);
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                void**, void**);
  int (*make_stream)(void**, unsigned);
  int (*destroy_stream)(void*);
  int (*begin_capture)(void*, int);
  int (*end_capture)(void*, void**);
  int (*instantiate)(void**, void*, unsigned long long);
  int (*launch_graph)(void*, void*);
  int (*destroy_exec)(void*);
  int (*destroy_graph)(void*);
};
/// Null without a driver that has them all; `reason` then says why.
const CudaDriver* cuda_driver(const char** reason);

/// While it lives, the device's context is the calling thread's.
class CurrentContext {
 public:
  CurrentContext(const CudaDriver& driver, const Device& device) : driver_(driver) {
    is_current = driver.push(device.native().context) == 0;
  }
  ~CurrentContext() {
    void* ours = nullptr;
    if (is_current) driver_.pop(&ours);
  }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

  bool is_current = false;

 private:
  const CudaDriver& driver_;
};

}  // namespace trine::bench
