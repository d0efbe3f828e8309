// The binary cache's files: a header with a checksum, then what the driver gave.
#include "cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace trine::opencl {
namespace {

constexpr uint64_t kPrime = 0x100000001b3u;  // FNV-1a, 64 bits
constexpr char kMagic[8] = {'t', 'r', 'i', 'n', 'e', 'c', 'l', '1'};

struct Header {
  char magic[8];
  uint64_t high, low, bytes, checksum;
};

uint64_t checksum(const unsigned char* data, std::size_t bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ data[i]) * kPrime;
  return hash;
}

// "" where there is nowhere to keep anything.
String folder() {
  if (const char* own = secure_getenv("TRINE_CACHE_DIR")) return String(own);
  if (const char* xdg = secure_getenv("XDG_CACHE_HOME"); xdg && *xdg == '/') {
    return String(xdg) + "/trine";
  }
  if (const char* home = secure_getenv("HOME"); home && *home == '/') {
    return String(home) + "/.cache/trine";
  }
  return {};
}

String path_of(const CacheKey& key) {
  String path = folder();
  if (path.empty()) return path;
  char name[64];
  std::snprintf(name, sizeof name, "/opencl/%016llx%016llx.bin",
                static_cast<unsigned long long>(key.high),
                static_cast<unsigned long long>(key.low));
  return path + name;
}

void make_folders(String path) {
  for (std::size_t at = path.find('/', 1); at != String::npos; at = path.find('/', at + 1)) {
    path[at] = '\0';
    mkdir(path.c_str(), 0700);
    path[at] = '/';
  }
}

bool read_all(int file, void* into, std::size_t bytes) {
  auto* to = static_cast<char*>(into);
  while (bytes > 0) {
    const ssize_t got = read(file, to, bytes);
    if (got <= 0) return false;
    to += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

bool write_all(int file, const void* from, std::size_t bytes) {
  const auto* at = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t put = write(file, at, bytes);
    if (put <= 0) return false;
    at += put;
    bytes -= static_cast<std::size_t>(put);
  }
  return true;
}

struct File {
  int descriptor;
  ~File() {
    if (descriptor >= 0) close(descriptor);
  }
};

}  // namespace

void CacheKey::add(const char* text, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    high = (high ^ byte) * kPrime;
    low = (low ^ byte ^ (high >> 56)) * kPrime;
  }
  // The border between two pieces counts too.
  high = (high ^ bytes) * kPrime;
  low = (low ^ bytes ^ 0xff) * kPrime;
}

void CacheKey::add(const char* text) { add(text, std::strlen(text)); }

kit::Vector<unsigned char> load_binary(const CacheKey& key) {
  kit::Vector<unsigned char> binary;
  const String path = path_of(key);
  if (path.empty()) return binary;
  const File file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat facts {};
  Header header{};
  if (file.descriptor < 0 || fstat(file.descriptor, &facts) != 0 ||
      !read_all(file.descriptor, &header, sizeof header)) {
    return binary;
  }
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.high != key.high ||
      header.low != key.low || header.bytes == 0 ||
      header.bytes + sizeof header != static_cast<uint64_t>(facts.st_size)) {
    return binary;
  }
  binary.resize(header.bytes);
  if (!read_all(file.descriptor, binary.data(), binary.size()) ||
      checksum(binary.data(), binary.size()) != header.checksum) {
    binary.clear();
  }
  return binary;
}

void store_binary(const CacheKey& key, const unsigned char* binary, std::size_t bytes) {
  const String path = path_of(key);
  if (path.empty()) return;
  make_folders(path);
  static std::atomic<unsigned> counter{0};
  char tail[48];
  std::snprintf(tail, sizeof tail, ".%ld.%u", static_cast<long>(getpid()), counter++);
  const String temporary = path + tail;
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.high = key.high;
  header.low = key.low;
  header.bytes = bytes;
  header.checksum = checksum(binary, bytes);
  bool written = false;
  {
    const File file{open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
    if (file.descriptor < 0) return;
    written = write_all(file.descriptor, &header, sizeof header) &&
              write_all(file.descriptor, binary, bytes);
  }
  if (!written || rename(temporary.c_str(), path.c_str()) != 0) unlink(temporary.c_str());
}

}  // namespace trine::opencl
