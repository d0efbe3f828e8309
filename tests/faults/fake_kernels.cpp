// The fake driver's modules and launches: names looked up, grids and arguments recorded.
#include <cmath>
#include <cstring>

#include "fake_state.hpp"

namespace fake_cuda {

Result load(Module* module, const void* image) {
  const Lock lock(state.mutex);
  if (const Result code = ready_beside_captures()) return code;
  auto fresh = std::make_unique<CUmod_st>();
  fresh->names = std::string("\n") + static_cast<const char*>(image);
  *module = fresh.get();
  state.modules[*module] = std::move(fresh);
  return kSuccess;
}
Result unload(Module module) {
  const Lock lock(state.mutex);
  return state.modules.erase(module) ? kSuccess : kInvalidHandle;
}
Result get_function(Function* function, Module module, const char* wanted) {
  const Lock lock(state.mutex);
  if (const Result code = ready()) return code;
  if (!state.modules.contains(module)) return kInvalidHandle;
  const std::string line = std::string(1, '\n').append(wanted).append(1, '\n');
  if (module->names.find(line) == std::string::npos) return kNotFound;
  auto& entry = module->functions[wanted];
  if (!entry) entry.reset(new CUfunc_st{wanted});
  return *function = entry.get(), kSuccess;
}
Result set_attribute(Function function, int which, int value) {
  if (which != kMaxDynamicShared || value > state.shared) return kInvalidValue;
  return function->dynamic_limit = value, ready();
}

template <class Float>
static void probe(const Float* in, Float* out) {
  for (int i = 0; i < 64; ++i) {
    const volatile Float a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
    const Float product = a * b;
    out[4 * i] = std::fma(Float(a), Float(b), Float(c));
    out[4 * i + 1] = state.contracts ? out[4 * i] : product + c;
    out[4 * i + 2] = product;
    out[4 * i + 3] = a + c;
  }
}

static void compute(const Launch& launch) {
  if (launch.name == "probe__") {
    const auto* in = reinterpret_cast<const float*>(launch.arguments[0]);
    auto* out = reinterpret_cast<float*>(launch.arguments[1]);
    probe(in, out);
    probe(reinterpret_cast<const double*>(in + 192), reinterpret_cast<double*>(out + 256));
  } else if (launch.name == "fill__") {
    const auto& a =
        launch.arguments;  // memory, offset, units, bytes, shift, cols, rows, steps, words
    int32_t words[4];
    for (int w = 0; w < 4; ++w) words[w] = launch.i32(10 + static_cast<std::size_t>(w));
    const auto bytes = static_cast<std::size_t>(launch.i32(3));
    for (uint64_t e = 0; e < a[2] >> launch.i32(4); ++e) {
      const uint64_t col = e % a[5], row = e / a[5] % a[6], batch = e / a[5] / a[6];
      std::memcpy(reinterpret_cast<char*>(a[0] + a[1] + col * a[7] + row * a[8] + batch * a[9]),
                  words, bytes);
    }
  }
}

Result launch_kernel(Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                     unsigned by, unsigned bz, unsigned dynamic, Stream stream, void** arguments,
                     void**) {
  const Lock lock(state.mutex);
  if (const Result code = ready()) return code;
  if (!gx || !gy || !gz || !bx || !by || !bz || bx * by * bz > 1024 || gy > 65535 || gz > 65535 ||
      static_cast<int>(dynamic) > function->dynamic_limit) {
    return kInvalidValue;
  }
  Launch launch{function->name, {gx, gy, gz}, {bx, by, bz}, dynamic, {}, false};
  for (; *arguments; ++arguments) {
    uint64_t value;
    std::memcpy(&value, *arguments, sizeof value);
    launch.arguments.push_back(value);
  }
  state.launches.push_back(launch);
  note(Enqueued::kLaunch, stream);
  return enqueue_at_once(stream, [launch] { compute(launch); });
}

Result launch_kernel_ex(const LaunchConfig* config, Function function, void** arguments,
                        void** extra) {
  const Lock lock(state.mutex);  // recursive: the last launch stays ours
  const auto& [x, y, z] = config->grid;
  const auto& [bx, by, bz] = config->block;
  const Result code = launch_kernel(function, x, y, z, bx, by, bz, config->dynamic_bytes,
                                    config->stream, arguments, extra);
  for (unsigned a = 0; code == kSuccess && a < config->attribute_count; ++a) {
    if (config->attributes[a].id == kBeginsEarly)
      state.launches.back().begins_early = config->attributes[a].value != 0;
  }
  return code;
}

}  // namespace fake_cuda
