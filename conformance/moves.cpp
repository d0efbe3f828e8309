// Random fills and copies.
#include "moves.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "layout.hpp"

namespace trine::conformance {
namespace {

/// One end of a copy: memory of a device, or the host's.
struct End {
  std::optional<Device> device;  ///< none: the host
  std::optional<RandomBuffer> own;
  std::optional<Buffer> pinned;  ///< of the other end's device, for the host's memory
  std::unique_ptr<Guarded> pages;
  char* host = nullptr;
  Layout layout;

  const char* name() const { return device ? device->id().c_str() : pages ? "host" : "pinned"; }
};

void make_memory(End& end, const Device& other, Dice& dice) {
  if (end.device) {
    end.own.emplace(*end.device, end.layout.bytes, dice);
  } else if (dice.once_in(3)) {
    end.pinned.emplace(other, end.layout.bytes, Memory::pinned);
    end.host = static_cast<char*>(end.pinned->host());
  } else {
    end.pages = std::make_unique<Guarded>(end.layout.bytes,
                                          dice.once_in(2) ? Guarded::At::end : Guarded::At::begin);
    end.host = end.pages->data();
  }
}

/// Makes the work behind it late: a product that takes the device a while.
class Delay {
 public:
  Delay(const Device& device, Dice& dice) : rounds_(dice.once_in(3) ? 0 : 1 + dice.below(3)) {
    const int64_t n = 256;
    if (rounds_) matrices_ = batched({device, uint64_t(3 * n * n * 4)}, Dtype::f32, 3, n, n);
  }
  void enqueue(Queue& queue) {
    const auto one = [&](int i) {
      View view = matrices_;
      view.batch = 1;
      view.offset = uint64_t(i) * 4 * uint64_t(view.batch_stride);
      return view;
    };
    if (rounds_ == 0) return;
    const float value = 0;
    trine::fill(queue, matrices_, &value);
    for (int64_t i = 0; i < rounds_; ++i) run(queue, Gemm{1, 0, one(0), one(1), one(2)});
  }

 private:
  int64_t rounds_;
  View matrices_;
};

}  // namespace

RandomBuffer::RandomBuffer(const Device& device, uint64_t bytes, Dice& dice) {
  switch (any_kind(device) ? dice.below(4) : 0) {
    case 0: buffer = Buffer(device, bytes); break;
    case 1: buffer = Buffer(device, bytes, Memory::pinned); break;
    default:
      pages =
          std::make_unique<Guarded>(bytes, dice.once_in(2) ? Guarded::At::end : Guarded::At::begin);
      buffer = Buffer::wrap(device, pages->data(), bytes);
  }
}

RandomBuffer::RandomBuffer(const Device& device, uint64_t bytes)
    : pages(std::make_unique<Guarded>(bytes + 1)),
      buffer(Buffer::wrap(device, pages->data(), bytes)) {}

Moves::Moves(Device device, std::vector<Device> others)
    : device_(std::move(device)), others_(std::move(others)) {}

const char* Moves::name(Kind kind) {
  constexpr const char* kNames[kKinds] = {"fill", "copy", "elementwise", "chain"};
  return kNames[kind];
}

Moves::Outcome Moves::make(Kind kind, uint64_t seed) {
  switch (kind) {
    case kCopy: return copy(seed);
    case kElementwise: return elementwise(seed);
    case kChain: return chain(seed);
    default: return fill(seed);
  }
}

Queue& Moves::queue_of(const Device& device) {
  for (Queue& queue : queues_)
    if (queue.device() == device) return queue;
  return queues_.emplace_back(device);
}

Moves::Outcome Moves::fill(uint64_t seed) {
  Dice dice(seed);
  Layout layout;
  layout.dtype = dice.pick<uint32_t>({TRINE_B8, TRINE_B16, TRINE_B32, TRINE_B64, TRINE_B128});
  layout.view = random_shape(dice);
  dice.lay_apart(layout.view, int(dice.below(3)), dice.once_in(3) ? 1 + dice.below(3) : 1);
  const uint32_t size = trine_dtype_size(layout.dtype);
  place(layout, dice, size);
  Outcome outcome{name_of("fill", layout) + " --seed " + std::to_string(seed), ""};

  Queue& queue = queue_of(device_);
  RandomBuffer target(device_, layout.bytes, dice);
  Image image(layout.bytes, kBefore), want = image;
  const Image element = random_bytes(size, dice);
  layout.for_each([&](uint64_t at) { std::memcpy(want.data() + at, element.data(), size); });
  trine::copy(queue, all_of(image), all_of(target.buffer));
  trine::fill(queue, layout.in(target.buffer), element.data());
  queue.wait();
  std::fill(image.begin(), image.end(), kJunk);
  trine::copy(queue, all_of(target.buffer), all_of(image));
  queue.wait();
  outcome.wrong = difference(image, want, layout);
  return outcome;
}

namespace {

/// A queue over one end's memory: the end's device's, for the host's memory the cpu's. The data to
/// write lies on its device before, so that no write happens early.
struct Worker {
  Queue queue;  ///< none where the host's memory has no cpu backend to know it
  Buffer memory;

  Worker(const End& end, const Device& cpu) {
    if (end.device) {
      queue = Queue(*end.device), memory = end.own->buffer;
    } else if (cpu) {
      queue = Queue(cpu), memory = Buffer::wrap(cpu, end.host, end.layout.bytes);
    }
  }
  /// Nothing may be in flight when memory is freed, even after a failed call.
  ~Worker() {
    try {
      if (queue) queue.wait();
    } catch (const Error&) {}
  }
  Buffer prepared(Image& bytes) {
    if (!queue) return {};
    Buffer buffer(queue.device(), bytes.size());
    trine::copy(queue, all_of(bytes), all_of(buffer));
    queue.wait();
    return buffer;
  }
  void write(const Buffer& bytes) { trine::copy(queue, all_of(bytes), all_of(memory)); }
};

Image placed(const Layout& source, const Image& truth, const Layout& target, Image image) {
  const uint32_t size = trine_dtype_size(source.dtype);
  std::vector<uint64_t> places;
  source.for_each([&](uint64_t at) { places.push_back(at); });
  size_t next = 0;
  target.for_each(
      [&](uint64_t at) { std::memcpy(image.data() + at, truth.data() + places[next++], size); });
  return image;
}

void enqueue(Queue& queue, const End& source, const End& target) {
  if (source.device && target.device)
    trine::copy(queue, source.layout.in(source.own->buffer), target.layout.in(target.own->buffer));
  else if (source.device)
    trine::copy(queue, source.layout.in(source.own->buffer), target.layout.at(target.host));
  else
    trine::copy(queue, source.layout.at(source.host), target.layout.in(target.own->buffer));
}

/// Views of one shape with a unit stride that both share.
void lay_out(End& source, End& target, Dice& dice) {
  source.layout.dtype = target.layout.dtype =
      dice.pick<uint32_t>({TRINE_B8, TRINE_B16, TRINE_B32, TRINE_B64, TRINE_B128});
  source.layout.view = random_shape(dice);
  const int unit = int(dice.below(2));  // columns or rows
  int64_t& along = unit == 0 ? source.layout.view.cols : source.layout.view.rows;
  if (along == 1) along = 2;  // of one element it would be no unit stride
  target.layout.view = source.layout.view;
  dice.lay_input(source.layout.view, unit, 1);
  dice.lay_apart(target.layout.view, unit, 1);
  place(source.layout, dice, 1), place(target.layout, dice, 1);
}

}  // namespace

// The producer writes the source late, and the copy waits for that by an event. After an event of
// the copy, the producer overwrites the source, and the consumer reads the target. The target must
// hold the producer's first data.
Moves::Outcome Moves::copy(uint64_t seed) {
  Dice dice(seed);
  End source, target;
  End &near = dice.once_in(2) ? source : target, &far = &near == &source ? target : source;
  near.device = device_;
  const auto pick = size_t(dice.below(int64_t(others_.size()) + 1));
  if (pick < others_.size()) far.device = others_[pick];
  lay_out(source, target, dice);
  make_memory(source, device_, dice), make_memory(target, device_, dice);
  Outcome outcome{name_of("copy", source.layout) + " " + source.name() + " -> " + target.name() +
                      " --seed " + std::to_string(seed),
                  ""};

  Image truth = random_bytes(source.layout.bytes, dice), stale(truth.size(), kStale),
        junk(truth.size(), kJunk), image(target.layout.bytes, kBefore);
  const Image want = placed(source.layout, truth, target.layout, image);
  const Device& by =
      source.device && (!target.device || dice.once_in(2)) ? *source.device : *target.device;
  Queue queue = dice.once_in(2) ? Queue(by) : queue_of(by);
  Worker producer(source, cpu()), consumer(target, cpu());
  const Buffer first = producer.prepared(stale), late = producer.prepared(truth),
               last = producer.prepared(junk), before = consumer.prepared(image);
  if (consumer.queue) {
    consumer.write(before);
    consumer.queue.wait();
  } else {
    std::copy(image.begin(), image.end(), target.host);
  }
  if (producer.queue) {
    producer.write(first);
    producer.queue.wait();
    Delay delay(producer.queue.device(), dice);
    delay.enqueue(producer.queue);
    producer.write(late);
    queue.wait(producer.queue.record());
  } else {
    std::copy(truth.begin(), truth.end(), source.host);
  }
  enqueue(queue, source, target);
  const Event copied = queue.record();
  if (producer.queue) {
    producer.queue.wait(copied);
    producer.write(last);
  }
  std::fill(image.begin(), image.end(), kJunk);
  if (consumer.queue) {
    consumer.queue.wait(copied);
    trine::copy(consumer.queue, all_of(consumer.memory), all_of(image));
    consumer.queue.wait();
  }
  queue.wait();
  if (!consumer.queue) std::copy_n(target.host, image.size(), image.begin());
  outcome.wrong = difference(image, want, target.layout);
  return outcome;
}

Device Moves::cpu() const {
  if (device_.backend() == "cpu") return device_;
  for (const Device& other : others_)
    if (other.backend() == "cpu") return other;
  return {};
}

}  // namespace trine::conformance
