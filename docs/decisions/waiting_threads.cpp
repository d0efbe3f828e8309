// The experiment behind the-caller-participates.md: a caller hands sums of 2^20 f64 to a thread
// that spreads them over OpenMP's pool, as the cpu backend does, after it was busy for a while.
//
//   g++ -O2 -fopenmp -std=c++20 waiting_threads.cpp && ./a.out sleeps 16; ./a.out takes_part 15
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr long kPieces = 64, kEach = (1 << 20) / kPieces;
const std::vector<double> data(kPieces* kEach, 1.0);

std::mutex mutex;
std::condition_variable work, finished;
bool todo = false, done = false, over = false;
std::atomic<bool> passed{false};
std::atomic<long> next{0}, left{0};

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double take_pieces() {
  double sum = 0;
  for (long piece = next++; piece < kPieces; piece = next++) {
    for (long i = piece * kEach; i < (piece + 1) * kEach; ++i) sum += data[size_t(i)];
    --left;
  }
  return sum;
}

void execute(int threads) {
  std::unique_lock lock(mutex);
  for (;;) {
    work.wait(lock, [] { return todo || over; });
    if (over) return;
    todo = false;
    lock.unlock();
    volatile double sink = 0;
#pragma omp parallel num_threads(threads)
    sink = take_pieces();
    (void)sink;
    while (left > 0) std::this_thread::yield();
    lock.lock();
    done = passed = true;
    finished.notify_all();
  }
}

void call(bool takes_part) {
  std::unique_lock lock(mutex);
  next = 0, left = kPieces, done = passed = false, todo = true;
  work.notify_one();
  if (takes_part) {
    lock.unlock();
    volatile double sink = take_pieces();
    (void)sink;
    const Clock::time_point start = Clock::now();
    while (!passed && since(start) < 1e-3) {}
    lock.lock();
  }
  finished.wait(lock, [] { return done; });
}

}  // namespace

int main(int count, char** arguments) {
  const bool takes_part = count > 1 && std::string(arguments[1]) == "takes_part";
  const int threads = count > 2 ? std::atoi(arguments[2]) : omp_get_max_threads();
  std::thread executor(execute, threads);
  for (int i = 0; i < 50; ++i) call(takes_part);
  for (const double pause : {0.0, 1e-3, 3e-3, 10e-3}) {
    std::vector<double> seconds;
    for (int i = 0; i < 301; ++i) {
      const Clock::time_point busy = Clock::now();
      while (since(busy) < pause) {}
      const Clock::time_point start = Clock::now();
      call(takes_part);
      seconds.push_back(since(start));
    }
    std::sort(seconds.begin(), seconds.end());
    const auto slow = seconds.end() - std::upper_bound(seconds.begin(), seconds.end(), 1e-3);
    std::printf("%s, pool of %d, after %2.0f ms: median %5.0f us, over 1 ms %3ld of 301\n",
                takes_part ? "takes part" : "sleeps", threads, pause * 1e3, seconds[150] * 1e6,
                long(slow));
  }
  {
    const std::lock_guard lock(mutex);
    over = true;
  }
  work.notify_one();
  executor.join();
}
