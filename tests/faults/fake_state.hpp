// The parts of the fake CUDA driver share these: its objects, and streams whose work runs when
// somebody looks.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "fake_cuda.hpp"

namespace trine::cuda {  // the driver's handles are pointers to these
/// What was enqueued, in the order of the calls, and when the host waited for a stream.
struct Enqueued {
  enum What { kCopyIn, kCopyOut, kRecord, kWait, kHostWaits, kLaunch } what;
  Stream stream;
  NativeEvent event;  // of a record or a wait
};
struct CUctx_st {
  std::vector<Enqueued> enqueued;  // of its streams
  int mapped = 0;                  // blocks that its pool had to get
};
struct CUfunc_st {
  std::string name;
  int dynamic_limit = 49152 - 48;  // three barriers lie beside it
};
struct CUmod_st {
  std::string names;  // of entries, one a line
  std::map<std::string, std::unique_ptr<CUfunc_st>> functions;
};
struct CUevent_st {
  long recorded = 0, passed = 0;  // records so far, and how many of them have been reached
  double time = 0;
};
struct CUstream_st {
  // Returns whether it could run; work that waits is asked again.
  std::deque<std::function<bool()>> work;
  bool destroyed = false;
  int captured = 0;  // CUstreamCaptureStatus: 1 into a graph, 2 into one that an error has spoilt
};
}  // namespace trine::cuda

namespace fake_cuda {

using namespace trine::cuda;

constexpr int kInvalidValue = 1, kInvalidHandle = 400, kNotFound = 500, kNoContext = 201,
              kNotWhileCaptured = 900, kCaptureSpoilt = 2;

constexpr std::size_t kTotalMemory = std::size_t{1} << 30;

struct State {
  std::recursive_mutex mutex;
  CUctx_st context;
  int retained = 0;
  bool has_pools = true, contracts = false, is_memory_late = false;
  int version = 13000, major = 9, minor = 0, shared = 232448, broken = 0;
  std::set<CUstream_st*> streams;
  std::set<CUevent_st*> events;
  std::vector<std::unique_ptr<CUevent_st>> destroyed_events;  // streams may still come to them
  std::map<char*, std::size_t> memory;                        // device and pinned
  std::multiset<std::size_t>
      unused;  // blocks of the pool, by size; it keeps them until somebody waits
  std::set<char*> pinned;
  std::map<char*, std::size_t> registered;
  std::map<CUmod_st*, std::unique_ptr<CUmod_st>> modules;
  std::vector<Launch> launches;
  double clock = 0;
};
extern State state;
extern thread_local std::vector<Context> current;

using Lock = std::lock_guard<std::recursive_mutex>;

inline char* host_of(Pointer pointer) { return reinterpret_cast<char*>(pointer); }
bool is_device(Pointer pointer, std::size_t bytes);
Result ready(bool needs_context = true);
// The same for what spoils a capture of any stream, unless the thread's mode is the relaxed one.
Result ready_beside_captures();
void pump();  // runs what can run in all streams, until nothing moves
Result enqueue(Stream stream, std::function<bool()> work);
Result enqueue_at_once(Stream stream, std::function<void()> work);
inline void note(Enqueued::What what, Stream stream, NativeEvent event = nullptr) {
  state.context.enqueued.push_back({what, stream, event});
}

// The functions of the table that fake_memory.cpp and fake_kernels.cpp hold.
Result allocate(Pointer* pointer, std::size_t bytes);
Result deallocate(Pointer pointer);
Result allocate_async(Pointer* pointer, std::size_t bytes, Stream);
Result deallocate_async(Pointer pointer, Stream);
Result host_allocate(void** host, std::size_t bytes, unsigned);
Result host_free(void* host);
Result host_register(void* host, std::size_t bytes, unsigned);
Result host_unregister(void* host);
Result device_pointer(Pointer* pointer, void* host, unsigned);
Result pointer_attributes(unsigned count, const int* which, void** answers, Pointer pointer);
Result copy_in(Pointer target, const void* source, std::size_t bytes, Stream stream);
Result copy_out(void* target, Pointer source, std::size_t bytes, Stream stream);
Result copy_across(Pointer target, Pointer source, std::size_t bytes, Stream stream);
Result copy_2d(const Copy2D* c, Stream stream);
Result fill_8(Pointer at, unsigned char value, std::size_t n, Stream stream);
Result fill_16(Pointer at, unsigned short value, std::size_t n, Stream stream);
Result fill_32(Pointer at, unsigned value, std::size_t n, Stream stream);
Result load(Module* module, const void* image);
Result unload(Module module);
Result get_function(Function* function, Module module, const char* wanted);
Result set_attribute(Function function, int which, int value);
Result launch_kernel(Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                     unsigned by, unsigned bz, unsigned dynamic, Stream stream, void** arguments,
                     void**);
Result launch_kernel_ex(const LaunchConfig* config, Function function, void** arguments, void**);

}  // namespace fake_cuda
