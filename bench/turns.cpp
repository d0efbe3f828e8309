#include "turns.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <random>
#include <thread>

#include "error.hpp"

namespace trine::bench {
namespace {

using Clock = std::chrono::steady_clock;

/// What the file holds. Who is there is told by locks on its bytes, which end with their process: run i
/// holds byte i, and who joins, byte kJoining meanwhile.
struct Page {
  uint64_t id;    ///< of these runs together
  int64_t place;  ///< of the run whose turn it is; -1 until all have come
};
constexpr off_t kJoining = 4096;

struct flock lock_of(off_t byte, short type) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}
bool set_lock(int file, off_t byte, short type, bool wait = false) {
  struct flock lock = lock_of(byte, type);
  return fcntl(file, wait ? F_SETLKW : F_SETLK, &lock) == 0;
}
/// Whether another process holds it.
bool is_held(int file, off_t byte) {
  struct flock lock = lock_of(byte, F_WRLCK);
  return fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

Page read_page(int file) {
  Page page = {};
  if (pread(file, &page, sizeof page, 0) != ssize_t(sizeof page)) page = {};
  return page;
}
void write_page(int file, const Page& page, const std::string& path) {
  if (pwrite(file, &page, sizeof page, 0) != ssize_t(sizeof page))
    throw Refusal(fmt::format("{} can't be written: {}", path, std::strerror(errno)));
}

uint64_t random_id() {
  std::random_device random;
  return uint64_t(random()) << 32 | random();
}

}  // namespace

Turns::Turns(const std::string& path, int of, Control& control, double patience)
    : path_(path),
      control_(control),
      file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)),
      of_(of) {
  if (file_ < 0) throw Refusal(fmt::format("{} can't be written: {}", path, std::strerror(errno)));
  try {
    join();
    if (!await(place_ == 0 ? &Turns::all_joined : &Turns::has_begun, patience))
      throw Refusal(fmt::format(
          "{} runs were to take turns by {}, and not all came within {:g} s: start the others "
          "with the same --turns",
          of, path, patience));
  } catch (const Refusal&) {
    close(file_);
    throw;
  }
  id_ = read_page(file_).id;
  if (place_ == 0) write_page(file_, {id_, 0}, path_);
  await(&Turns::is_mine, std::numeric_limits<double>::infinity());
}

Turns::~Turns() { close(file_); }  // and with it the locks

void Turns::join() {
  if (!set_lock(file_, kJoining, F_WRLCK, true))
    throw Refusal(fmt::format("{} can't be locked: {}", path_, std::strerror(errno)));
  const off_t bytes = lseek(file_, 0, SEEK_END);
  if (bytes != 0 && bytes != off_t(sizeof(Page)))
    throw Refusal(fmt::format("{} holds something else: --turns makes its own file", path_));
  for (int i = 0; i < of_ && place_ < 0; ++i)
    if (set_lock(file_, i, F_WRLCK)) place_ = i;
  // What an earlier run left there is void.
  if (place_ == 0) write_page(file_, {random_id(), -1}, path_);
  set_lock(file_, kJoining, F_UNLCK);
  if (place_ < 0) throw Refusal(fmt::format("{} runs take turns by {} already", of_, path_));
}

/// False where `patience` seconds weren't enough.
bool Turns::await(bool (Turns::*come)(), double patience) {
  const Clock::time_point begin = Clock::now();
  while (!(this->*come)()) {
    if (control_.stop()) return true;
    if (std::chrono::duration<double>(Clock::now() - begin).count() > patience) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

bool Turns::all_joined() {
  for (int i = 0; i < of_; ++i)
    if (i != place_ && !is_held(file_, i)) return false;
  return true;
}

bool Turns::has_begun() { return read_page(file_).place >= 0; }

/// Also where those before this one, from the one whose turn it is, are gone.
bool Turns::is_mine() {
  const Page page = read_page(file_);
  for (int i = int(page.place); i != place_; i = (i + 1) % of_)
    if (is_held(file_, i)) return false;
  return true;
}

void Turns::next() {
  write_page(file_, {id_, (place_ + 1) % of_}, path_);
  await(&Turns::is_mine, std::numeric_limits<double>::infinity());
}

nlohmann::ordered_json Turns::to_json() const {
  return {{"id", fmt::format("{:016x}", id_)}, {"of", of_}, {"place", place_}};
}

}  // namespace trine::bench
