// What a receipt adds to memory-bound calls on host data: each call with and without, in turns, the best of
// many rounds.
//
// usage: receipt_cost [ROUNDS [EXPONENT [DEVICE]]]   arrays of 2^EXPONENT f32, half as many f64
#include <trine/trine.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>

int main(int argc, char** argv) {
  using namespace trine;
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 40,
            exponent = argc > 2 ? std::atoi(argv[2]) : 26;
  const char* const device = argc > 3 ? argv[3] : "cpu";
  const int64_t size = int64_t{1} << exponent, rows = size >> 13, side = int64_t{1} << exponent / 2;
  std::vector<float> x(static_cast<size_t>(size)), turned(x.size()), results(x.size() >> 4);
  for (size_t i = 0; i < x.size(); ++i) x[i] = float(i * 7919 % 1000) * 0.37f;
  std::vector<double> d(x.begin(), x.begin() + size / 2), e(d.rbegin(), d.rend());
  const std::span<const int32_t> integers(reinterpret_cast<const int32_t*>(x.data()), x.size());
  const ConstHostView matrix = host_row_major(x.data(), Dtype::f32, rows, 8192);
  const auto over = [&](Axis axis, int64_t count, const HostOptions& o) {
    reduce(Function::sum, Map::identity, axis, matrix,
           host_vector(results.data(), Dtype::f32, count), o);
  };
  const std::pair<const char*, std::function<void(const HostOptions&)>> calls[] = {
      {"sum f32", [&](const HostOptions& o) { sum(x, o); }},
      {"sum f64", [&](const HostOptions& o) { sum(d, o); }},
      {"sum i32", [&](const HostOptions& o) { sum(integers, o); }},
      {"max f32", [&](const HostOptions& o) { max(x, o); }},
      {"dot f64", [&](const HostOptions& o) { dot(d, e, o); }},
      {"sum f32 of each row", [&](const HostOptions& o) { over(Axis::each_row, rows, o); }},
      {"sum f32 of each column", [&](const HostOptions& o) { over(Axis::each_column, 8192, o); }},
      {"transpose b32",
       [&](const HostOptions& o) { transpose(side, side, x.data(), turned.data(), o); }}};
  const auto seconds = [](auto&& call, const HostOptions& options) {
    const auto start = std::chrono::steady_clock::now();
    call(options);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::printf("2^%d f32 or half as many f64 on %s, %u units\n", exponent, device,
              open(device).facts().compute_units);
  for (const auto& [name, call] : calls) {
    Receipt receipt;
    double without = 1e9, with = 1e9;
    for (int i = 0; i < rounds; ++i) {
      without = std::min(without, seconds(call, {.device = device}));
      with = std::min(with, seconds(call, {.device = device, .receipt = &receipt}));
    }
    std::printf("%-24s %8.3f ms, with a receipt %8.3f ms: %+.0f %%\n", name, without * 1e3,
                with * 1e3, (with / without - 1) * 100);
  }
}
