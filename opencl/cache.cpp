// The binary cache's files: a header with a checksum, then what the driver gave.
#include "cache.hpp"

#include <cstdio>
#include <cstring>

#include "backends/kit/files.hpp"

namespace trine::opencl {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;

struct Header {
  char magic[8] = {'t', 'r', 'i', 'n', 'e', 'c', 'l', '1'};
  uint64_t high, low, bytes, checksum;

  Header(const CacheKey& key, const unsigned char* binary, std::size_t size)
      : high(key.high), low(key.low), bytes(size), checksum(kit::checksum(binary, size)) {}
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

void CacheKey::add(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    high = (high ^ byte) * kit::kHashPrime;
    low = (low ^ byte ^ (high >> 56)) * kit::kHashPrime;
  }
  // The border between two pieces counts too.
  high = (high ^ text.size()) * kit::kHashPrime;
  low = (low ^ text.size() ^ 0xff) * kit::kHashPrime;
}

kit::Vector<unsigned char> load_binary(const CacheKey& key) {
  kit::Vector<unsigned char> binary;
  const kit::String path = path_of(key);
  if (path.empty() || kit::read_file(path.c_str(), kMostBytes, binary) != 0 ||
      binary.size() <= sizeof(Header))
    return {};
  const auto* content = binary.data() + sizeof(Header);
  const Header expected(key, content, binary.size() - sizeof expected);
  if (std::memcmp(binary.data(), &expected, sizeof expected) != 0) return {};
  binary.erase(binary.begin(), binary.begin() + sizeof expected);
  return binary;
}

void store_binary(const CacheKey& key, const unsigned char* binary, std::size_t bytes) {
  const kit::String path = path_of(key);
  if (path.empty()) return;
  const Header header(key, binary, bytes);
  const auto text = [](const void* data, std::size_t size) {
    return std::string_view(static_cast<const char*>(data), size);
  };
  // The file isn't synchronised to the disk: an entry that a power cut damaged is compiled again.
  kit::replace_file(path, {text(&header, sizeof header), text(binary, bytes)}, false);
}

}  // namespace trine::opencl
