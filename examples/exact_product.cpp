// A product whose elements are exact and rounded once, on every device there is: one digest.
//
//   exact_product [DEVICE]…     "cpu", "cpu:threads=1", "cuda:0"; without any: all devices
//
// Exit code 1: the digests differ, or no device computes it.
#include <trine/trine.hpp>

#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

namespace {

constexpr std::int64_t kSize = 301;

// Elements of many sizes, the same on every machine. Where every step is rounded, the rest of large
// terms that cancel is lost.
std::vector<float> matrix(std::uint32_t seed) {
  std::vector<float> all(kSize * kSize);
  for (float& x : all) {
    seed = seed * 1664525 + 1013904223;
    const bool is_large = seed >> 30 == 0;
    x = static_cast<float>(static_cast<std::int32_t>(seed)) * (is_large ? 1.0F : 0x1p-24F);
  }
  return all;
}

std::string product(const std::string& device) {
  const std::vector<float> a = matrix(1), b = matrix(2);
  std::vector<float> c(a.size());
  const auto view = [](auto& values) {
    return trine::host_row_major(values.data(), trine::Dtype::f32, kSize, kSize);
  };
  trine::Choice choice;
  trine::gemm(1, view(a), view(b), 0, view(c),
              {.device = device, .numerics = trine::Numerics::exact, .choice = &choice});
  std::string digest = trine::digest(view(c));
  std::printf("%s %s\n", digest.c_str(), choice.sentence().c_str());
  return digest;
}

}  // namespace

int main(int count, char** arguments) try {
  std::vector<std::string> devices(arguments + 1, arguments + count);
  if (devices.empty())
    for (const trine::Facts& device : trine::devices()) devices.push_back(device.id);
  std::set<std::string> digests;
  for (const std::string& device : devices) {
    try {
      digests.insert(product(device));
    } catch (const trine::Error& error) {  // a device may lack what exact products need
      if (error.status() != trine::Status::unsupported) throw;
      std::printf("%s: left out: %s\n", device.c_str(), error.what());
    }
  }
  if (digests.size() == 1) return std::printf("%s\n", digests.begin()->c_str()), 0;
  std::fprintf(stderr, "exact_product: %s\n",
               digests.empty() ? "no device computes it" : "the digests differ");
  return 1;
} catch (const trine::Error& error) {
  std::fprintf(stderr, "exact_product: %s\n", error.what());
  return 1;
}
