// The binary cache's files: a header with a checksum, then what the driver gave.
#include "cache.hpp"

#include <cstdio>
#include <cstring>

#include "backends/kit/files.hpp"

namespace trine::opencl {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;
constexpr char kMagic[8] = {'t', 'r', 'i', 'n', 'e', 'c', 'l', '1'};

struct Header {
  char magic[8];
  uint64_t high, low, bytes, checksum;
};

kit::String path_of(const CacheKey& key) {
  kit::String path = kit::user_folder<kit::String>("TRINE_CACHE_DIR", "XDG_CACHE_HOME", ".cache");
  if (path.empty()) return path;
  char name[64];
  std::snprintf(name, sizeof name, "/opencl/%016llx%016llx.bin",
                static_cast<unsigned long long>(key.high),
                static_cast<unsigned long long>(key.low));
  return path + name;
}

}  // namespace

void CacheKey::add(const char* text, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    high = (high ^ byte) * kit::kHashPrime;
    low = (low ^ byte ^ (high >> 56)) * kit::kHashPrime;
  }
  // The border between two pieces counts too.
  high = (high ^ bytes) * kit::kHashPrime;
  low = (low ^ bytes ^ 0xff) * kit::kHashPrime;
}

void CacheKey::add(const char* text) { add(text, std::strlen(text)); }

kit::Vector<unsigned char> load_binary(const CacheKey& key) {
  kit::Vector<unsigned char> binary;
  const kit::String path = path_of(key);
  Header header{};
  if (path.empty() || kit::read_file(path.c_str(), kMostBytes, binary) != 0 ||
      binary.size() <= sizeof header) {
    return {};
  }
  std::memcpy(&header, binary.data(), sizeof header);
  binary.erase(binary.begin(), binary.begin() + sizeof header);
  const bool good = std::memcmp(header.magic, kMagic, sizeof kMagic) == 0 &&
                    header.high == key.high && header.low == key.low &&
                    header.bytes == binary.size() &&
                    header.checksum == kit::checksum(binary.data(), binary.size());
  if (!good) binary.clear();
  return binary;
}

void store_binary(const CacheKey& key, const unsigned char* binary, std::size_t bytes) {
  const kit::String path = path_of(key);
  if (path.empty()) return;
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.high = key.high;
  header.low = key.low;
  header.bytes = bytes;
  header.checksum = kit::checksum(binary, bytes);
  const auto text = [](const void* data, std::size_t size) {
    return std::string_view(static_cast<const char*>(data), size);
  };
  // Not made to last: an entry that a power cut damaged is compiled again.
  kit::replace_file(path, {text(&header, sizeof header), text(binary, bytes)}, false);
}

}  // namespace trine::opencl
