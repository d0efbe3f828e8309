#include "pipeline.hpp"

#include <trine/abi.h>

#include <chrono>
#include <cstring>

#include "bench/stats/measure.hpp"
#include "bench/ui/error.hpp"

namespace trine::bench {
namespace {

/// The host's memory as `device` sees it, operand by operand.
std::vector<Place> wrapped(const Device& device, const Problem& problem, const HostData& host) {
  std::vector<Place> places;
  const std::vector<uint64_t> bytes = operand_bytes(problem);
  for (size_t i = 0; i < host.size(); ++i)
    places.push_back({Buffer::wrap(device, host[i], bytes[i])});
  return places;
}

Event launch(Queue& queue, const DeviceOperation& operation) {
  std::visit([&](const auto& op) { run(queue, op); }, operation);
  Event done = queue.record();
  queue.flush();
  return done;
}

}  // namespace

void check_overlap(const Problem& problem) {
  if (problem.operation == Operation::reduce && problem.function == Function::sum &&
      problem.dtype == Dtype::f64)
    throw Refusal(
        "--overlap-cpu: the cpu's part of a sum of f64 can't be joined to the device's with the "
        "same "
        "bits, since there is no wider type to hand it over in; f32 and integers can");
}

bool in_place(const Device& device) {
  const Facts& facts = device.facts();
  return facts.kind == DeviceKind::cpu && (facts.capabilities & TRINE_CAN_SHARE_MEMORY) != 0;
}

std::vector<Way> ways_of(const Device& device) {
  std::vector<Way> ways;
  if (device.backend() != "cpu") ways = {{"pageable"}, {"pinned"}, {"pipelined"}};
  if (in_place(device)) ways.push_back({"shared"});
  return ways;
}

Pipeline::Pipeline(const Device& device, const Problem& problem, const Expectation& expectation,
                   Way way)
    : problem_(problem), way_(std::move(way)) {
  if (way_.cpu_rows != 0) check_overlap(problem);
  for (int i = 0; i < (way_.memory == "pipelined" ? 3 : 1); ++i) queues_.emplace_back(device);
  strips_ = cut(cuttable(problem) - way_.cpu_rows, way_.chunks, granule(problem));
  if (way_.cpu_rows != 0) cpu_ = Queue(open("cpu"));
  const bool pinned = way_.memory == "pinned" || way_.memory == "pipelined";
  const std::vector<uint64_t> bytes = operand_bytes(problem);
  for (size_t i = 0; i < bytes.size(); ++i) {
    const bool input = i < expectation.input_count();
    const uint64_t size = input ? expectation.input(i).size() : bytes[i];
    if (pinned)
      host_.push_back(pinned_.emplace_back(device, size, Memory::pinned).host());
    else
      host_.push_back(pageable_.emplace_back(size).data());
    if (input) std::memcpy(host_[i], expectation.input(i).data(), size);
  }
}

HostData Pipeline::host(int w) const {
  HostData host = host_;
  for (size_t i = 0; i + 1 < host.size(); ++i)
    host[i] = static_cast<char*>(host[i]) + uint64_t(w) * Expectation::kShift;
  return host;
}

Pass Pipeline::once(int w) {
  std::memset(host_.back(), 0xa5, operand_bytes(problem_).back());
  return way_.memory == "shared" ? in_place(host(w)) : in_chunks(host(w));
}

Pass Pipeline::in_place(const HostData& host) {
  Pass pass;
  Queue& queue = queues_[0];
  const auto start = Clock::now();
  const std::vector<Place> places = wrapped(queue.device(), problem_, host);
  pass.alloc = seconds_since(start);
  const auto begin = Clock::now();
  const Event origin = queue.record();
  const Event done = launch(queue, device_operation(problem_, places));
  queue.wait();
  pass.seconds = seconds_since(begin);
  pass.spans = {{Lane::kernel, 0, 0, elapsed(origin, done)}};
  return pass;
}

Pipeline::Moments Pipeline::on_cpu(const HostData& host) {
  std::vector<Place> places = wrapped(cpu_.device(), problem_, host);
  const int64_t begin = cuttable(problem_) - way_.cpu_rows;
  Problem part = problem_;
  if (problem_.operation == Operation::reduce) {
    part.result = partial_dtype(problem_);
    places.back() = {Buffer::wrap(cpu_.device(), &elsewhere_, sizeof elsewhere_)};
  }
  const Event from = cpu_.record();
  return {from, launch(cpu_, strip_of(part, places, {begin, way_.cpu_rows}))};
}

Pass Pipeline::in_chunks(const HostData& host) {
  Pass pass;
  Queue &in = queues_.front(), &kernel = queues_[queues_.size() / 2], &out = queues_.back();
  const auto start = Clock::now();
  const std::unique_ptr<Chunks> chunks = Chunks::make(in.device(), problem_, host, strips_);
  pass.alloc = seconds_since(start);

  const auto begin = Clock::now();
  const Event origin = in.record();
  std::vector<Moments> moments[3];
  // Each lane in its own queue; events hold a chunk back until the lane before has done with it.
  const auto stage = [&](Queue& queue, size_t lane, const Event& ready, auto&& enqueue) {
    if (queues_.size() > 1) queue.wait(ready);
    const Event from = queue.record();
    enqueue(queue);
    moments[lane].push_back({from, queue.record()});
    queue.flush();
    return moments[lane].back().end;
  };
  for (int i = 0; i < int(strips_.size()); ++i) {
    const Event brought = stage(in, 0, Event(), [&](Queue& queue) { chunks->bring(queue, i); });
    const Event computed =
        stage(kernel, 1, brought, [&](Queue& queue) { chunks->compute(queue, i); });
    if (chunks->takes(i)) stage(out, 2, computed, [&](Queue& queue) { chunks->take(queue, i); });
  }
  const double handed_over = seconds_since(begin);
  Moments cpu;
  if (way_.cpu_rows != 0) cpu = on_cpu(host);
  out.wait();
  kernel.wait();
  in.wait();
  if (way_.cpu_rows != 0) cpu_.wait();
  const bool partial = way_.cpu_rows != 0 && problem_.operation == Operation::reduce;
  pass.again = chunks->finish(kernel, partial ? &elsewhere_ : nullptr);
  pass.seconds = seconds_since(begin);

  for (size_t lane = 0; lane < 3; ++lane)
    for (size_t i = 0; i < moments[lane].size(); ++i)
      pass.spans.push_back({kLanes[lane], int(i), elapsed(origin, moments[lane][i].begin),
                            elapsed(origin, moments[lane][i].end)});
  if (way_.cpu_rows != 0)
    pass.spans.push_back({Lane::cpu, 0, handed_over, handed_over + elapsed(cpu.begin, cpu.end)});
  return pass;
}

}  // namespace trine::bench
