#include "interleaved.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <limits>
#include <random>
#include <thread>

#include "bench/stats/measure.hpp"
#include "bench/ui/error.hpp"

namespace trine::bench {
namespace {

/// What the file holds, in this version of taking turns; in all of them it begins with the magic but for its
/// second byte, the version. Who is there is told by locks on its bytes, which end with their process: run i
/// holds byte i, and who joins, byte kJoining meanwhile.
struct Page {
  uint64_t magic = 0x736e72757420020a;
  uint64_t id = 0;    ///< of these runs together
  uint64_t work = 0;  ///< a hash of what they do
  int64_t of = 0;
  int64_t turn = -1;  ///< whose it is, place_of() says; -1 until all have come
  int64_t taken[InterleavedRuns::kMost] = {};  ///< how many turns each has had
};
constexpr off_t kJoining = 4096;

bool is_of_turns(uint64_t magic) { return ((magic ^ Page{}.magic) & ~uint64_t{0xff00}) == 0; }

struct flock lock_of(off_t byte, short type) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}
bool set_lock(int file, off_t byte, short type) {
  struct flock lock = lock_of(byte, type);
  return fcntl(file, F_SETLK, &lock) == 0;
}
/// Whether another process holds it.
bool is_held(int file, off_t byte) {
  struct flock lock = lock_of(byte, F_WRLCK);
  return fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}
bool any_held(int file) {
  for (int i = 0; i < InterleavedRuns::kMost; ++i)
    if (is_held(file, i)) return true;
  return false;
}

Page read_page(int file) {
  Page page;  // another version's may be shorter
  if (pread(file, &page, sizeof page, 0) < ssize_t(sizeof page.magic)) page.magic = 0;
  return page;
}
void write_to(int file, const void* data, size_t bytes, size_t at, const std::string& path) {
  if (pwrite(file, data, bytes, off_t(at)) != ssize_t(bytes))
    throw Refusal(fmt::format("{} can't be written: {}", path, std::strerror(errno)));
}

uint64_t random_id() {
  std::random_device random;
  return uint64_t(random()) << 32 | random();
}

/// Fowler, Noll and Vo's, which is the same in every build.
uint64_t hash(const std::string& text) {
  uint64_t all = 14695981039346656037U;
  for (const char c : text) all = (all ^ uint8_t(c)) * 1099511628211U;
  return all;
}

}  // namespace

InterleavedRuns::InterleavedRuns(const RunGroup& group, Control& control)
    : path_(group.path),
      control_(control),
      file_(open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)),
      of_(group.of),
      steps_(group.steps) {
  if (file_ < 0) throw Refusal(fmt::format("{} can't be written: {}", path_, std::strerror(errno)));
  try {
    join(group);
    begin(group);
  } catch (const Refusal&) {
    close(file_);
    throw;
  }
}

InterleavedRuns::~InterleavedRuns() { close(file_); }  // and with it the locks

void InterleavedRuns::join(const RunGroup& group) {
  while (!set_lock(file_, kJoining, F_WRLCK)) {
    if (errno != EAGAIN && errno != EACCES)
      throw Refusal(fmt::format("{} can't be locked: {}", path_, std::strerror(errno)));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const Page page = read_page(file_);
  if (!is_of_turns(page.magic) && lseek(file_, 0, SEEK_END) != 0)
    throw Refusal(fmt::format("{} is another kind of file: --interleave makes its own", path_));
  if (!any_held(file_)) {  // what an earlier run left there is void
    const Page first{.id = random_id(), .work = hash(group.work), .of = of_};
    write_to(file_, &first, sizeof first, 0, path_);
  } else if (page.magic != Page{}.magic) {
    throw Refusal(fmt::format("{} is in use by a build that interleaves runs differently", path_));
  } else if (page.turn >= 0) {
    throw Refusal(fmt::format("runs interleaved by {} are in progress", path_));
  } else if (page.of != of_) {
    throw Refusal(fmt::format("{} runs are to be interleaved by {}, not {}", page.of, path_, of_));
  } else if (page.work != hash(group.work)) {
    throw Refusal(fmt::format("the runs interleaved by {} measure something else", path_));
  }
  for (int i = 0; i < of_ && place_ < 0; ++i)
    if (set_lock(file_, i, F_WRLCK)) place_ = i;
  if (place_ < 0)
    throw Refusal(fmt::format("{} has no room for another run: {}", path_, std::strerror(errno)));
  if (all_joined()) pass_to(0);
  set_lock(file_, kJoining, F_UNLCK);
}

/// The last one to join has begun: who of the others leaves from then on is left out.
void InterleavedRuns::begin(const RunGroup& group) {
  if (!await(&InterleavedRuns::has_begun, group.patience))
    throw Refusal(fmt::format(
        "{} runs were to be interleaved by {}, but not all started within {:g} s: start the others "
        "with the same --interleave and the same arguments",
        of_, path_, group.patience));
  await(&InterleavedRuns::is_mine, std::numeric_limits<double>::infinity());
}

/// False where `patience` seconds weren't enough.
bool InterleavedRuns::await(bool (InterleavedRuns::*come)(), double patience) {
  const Clock::time_point begin = Clock::now();
  while (!(this->*come)()) {
    if (control_.stop()) return true;
    if (seconds_since(begin) > patience) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

bool InterleavedRuns::all_joined() {
  for (int i = 0; i < of_; ++i)
    if (i != place_ && !is_held(file_, i)) return false;
  return true;
}

bool InterleavedRuns::has_begun() { return read_page(file_).turn >= 0; }

/// Each step takes a turn of everyone, in the order of their places, which every other round reverses.
int InterleavedRuns::place_of(int64_t turn) const {
  const auto nth = int(turn % of_);
  return turn / of_ / steps_ % 2 == 0 ? nth : of_ - 1 - nth;
}

/// The one that comes next, or is.
int64_t InterleavedRuns::own_turn() const {
  int64_t turn = taken_ * of_;
  while (place_of(turn) != place_) ++turn;
  return turn;
}

/// Also where those whose turns come before, from the current one on, are gone. Who is gone never comes back, and
/// no turn is passed beyond that of one who is there: one at a time finds this true, until it passes its turn on.
bool InterleavedRuns::is_mine() {
  const int64_t current = read_page(file_).turn;
  for (int64_t turn = current; turn >= 0 && turn < own_turn(); ++turn)
    if (is_held(file_, place_of(turn))) return false;
  return current >= 0;
}

void InterleavedRuns::pass_to(int64_t turn) {
  write_to(file_, &turn, sizeof turn, offsetof(Page, turn), path_);
}

void InterleavedRuns::next() {
  if (!is_mine()) return;  // its time was up before its turn came
  const int64_t following = own_turn() + 1;
  ++taken_;
  write_to(file_, &taken_, sizeof taken_, offsetof(Page, taken) + sizeof taken_ * size_t(place_),
           path_);
  if (control_.stop()) return;  // who ends is left out
  pass_to(following);
  await(&InterleavedRuns::is_mine, std::numeric_limits<double>::infinity());
}

std::vector<InterleavedRuns::Left> InterleavedRuns::left() const {
  const Page page = read_page(file_);
  std::vector<Left> all;
  for (int i = 0; i < of_; ++i)
    if (page.taken[i] < taken_ && !is_held(file_, i)) all.push_back({i, page.taken[i] / steps_});
  return all;
}

nlohmann::ordered_json InterleavedRuns::to_json() const {
  nlohmann::ordered_json gone = nlohmann::ordered_json::array();
  for (const Left& run : left()) gone.push_back({{"place", run.place}, {"rounds", run.rounds}});
  return {{"id", fmt::format("{:016x}", read_page(file_).id)},
          {"of", of_},
          {"place", place_},
          {"left", gone}};
}

}  // namespace trine::bench
