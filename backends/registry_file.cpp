// The loader is never given some files: it waits for ever at a pipe, and touches bytes that a file
// cut short has lost.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstring>

#include "kit/files.hpp"
#include "registry.hpp"

namespace trine::registry {
namespace {

using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);

/// Bytes of a file, as a part of it says where they are. Sums may not overflow.
bool lies_inside(uint64_t offset, uint64_t bytes, uint64_t file) {
  return bytes <= file && offset <= file - bytes;
}

template <class T>
bool read_at(const kit::File& file, uint64_t offset, T& part) {
  return pread(file.descriptor, &part, sizeof part, static_cast<off_t>(offset)) ==
         static_cast<ssize_t>(sizeof part);
}

/// Is it a shared library for processes of this one's kind? Our own header says what that is.
bool is_of_our_kind(const Header& header) {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<void*>(&is_of_our_kind), &info)) return false;
  Header ours;
  std::memcpy(&ours, info.dli_fbase, sizeof ours);
  return header.e_ident[EI_CLASS] == ours.e_ident[EI_CLASS] &&
         header.e_ident[EI_DATA] == ours.e_ident[EI_DATA] && header.e_machine == ours.e_machine &&
         header.e_type == ET_DYN && header.e_phentsize == sizeof(Segment);
}

/// Are the tables, and what is to be loaded, all there?
bool is_whole(const kit::File& file, const Header& header, uint64_t bytes) {
  if (!lies_inside(header.e_shoff, uint64_t{header.e_shnum} * header.e_shentsize, bytes) ||
      !lies_inside(header.e_phoff, uint64_t{header.e_phnum} * sizeof(Segment), bytes)) {
    return false;
  }
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Segment segment;
    if (!read_at(file, header.e_phoff + i * sizeof segment, segment)) return false;
    if (!lies_inside(segment.p_offset, segment.p_filesz, bytes)) return false;
  }
  return true;
}

}  // namespace

std::string why_no_library(const std::string& path) {
  const kit::File file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat facts {};
  if (file.descriptor < 0 || fstat(file.descriptor, &facts) != 0) return std::strerror(errno);
  if (!S_ISREG(facts.st_mode)) return "it is no regular file";
  Header header;
  if (!read_at(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return "it is no library: it doesn't begin as one";
  if (!is_of_our_kind(header)) return "it is no shared library for this kind of machine";
  const auto bytes = static_cast<uint64_t>(facts.st_size);
  if (!is_whole(file, header, bytes)) {
    return "it is cut short or damaged: its headers name more than its " + std::to_string(bytes) +
           " bytes; build or install it again";
  }
  return {};
}

}  // namespace trine::registry
