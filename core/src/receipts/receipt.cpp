#include "receipt.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <system_error>

#include "backends/kit/signals.hpp"
#include "backends/kit/words.hpp"

namespace trine {
namespace detail {
namespace {

constexpr uint64_t kChunk = uint64_t{32}
                            << 20;  ///< of device memory, on its way through the host's

/// The bits' own text, since JSON has no NaN and no infinity.
std::string json_of(double value) {
  return cat("\"", std::isnan(value) ? "nan" : kit::number_text(value), "\"");
}

std::string json_of(const ReceiptOperand& o) {
  std::string text =
      cat("{\"name\":\"", o.name, "\",\"output\":", o.is_output ? "true" : "false", ",\"dtype\":\"",
          name(o.dtype), "\",\"rows\":", o.rows, ",\"cols\":", o.cols, ",\"batch\":", o.batch,
          ",\"row_stride\":", o.row_stride, ",\"col_stride\":", o.col_stride,
          ",\"batch_stride\":", o.batch_stride);
  if (!o.before.empty()) append(text, cat(",\"before\":\"", o.before, "\""));
  if (!o.digest.empty()) append(text, cat(",\"digest\":\"", o.digest, "\""));
  return text + "}";
}

/// The digest of what lies at a host address; and its elements to the folder, if wanted.
std::string text_of(Digest& digest, bool keeps) {
  std::string text = digest.text();
  if (keeps) {
    std::string copy;
    ReceiptFile::get()->keep(text, digest.sequence(copy));
  }
  return text;
}

bool keeps(bool is_output) {
  const ReceiptFile* const file = ReceiptFile::get();
  return file && (is_output ? file->keeps_outputs() : file->keeps_inputs());
}

ConstHostView at(const void* data, const View& v) {
  return {data, v.dtype, v.rows, v.cols, v.batch, v.row_stride, v.col_stride, v.batch_stride};
}

/// The digest of memory that will be overwritten.
std::string digest_now(const ConstHostView& view, Counted as) {
  Digest digest(view, as);
  return text_of(digest, keeps(false));
}

/// `operation`: its word in a receipt. All elementwise calls have them.
bool has_scalars(std::string_view operation) {
  for (const Description* const one : descriptions())
    if (name(one->operation) == operation) return one->has_scalars;
  return true;
}

}  // namespace

Receipt begin_receipt(const AnyOperation& operation) {
  static std::atomic<uint64_t> calls{0};
  Receipt receipt;
  receipt.call = ++calls;
  receipt.operation = name(operation.is.operation);
  operation.is.tell(operation.get(), receipt);
  return receipt;
}

void end_receipt(Receipt& receipt, const Choice& choice) {
  receipt.device = choice.device.id();
  receipt.device_name = choice.device.facts().name;
  if (receipt.rung.empty()) receipt.rung = choice.rung(), receipt.promise = name(choice.numerics);
  if (ReceiptFile* const file = ReceiptFile::get()) file->write(receipt.json());
}

// --- Host data -------------------------------------------------------------------------------

HostReceipt::HostReceipt(const AnyOperation& operation, const std::vector<ConstHostView>& data,
                         bool is_in_place)
    : receipt_(begin_receipt(operation)),
      witness_{sizeof witness_, this, [](void* any, const void* first, const void* last) {
                 auto& self = *static_cast<HostReceipt*>(any);
                 for (std::size_t i = 0; i + 1 < self.digests_.size(); ++i)
                   self.digests_[i].see(first, last);
               }} {
  const std::span<const Role> roles = operation.views().roles;
  const bool reads_inputs = operation.is.reads_inputs(operation.get());
  const bool moves_bits = operation.is.moves_bits;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const bool is_output = roles[i].is_output;
    ReceiptOperand& operand =
        receipt_.operands.emplace_back(receipt_operand(roles[i].name, data[i], is_output));
    const Counted as = counted(operand.dtype, moves_bits);
    if (is_output && operation.is.reads_output(operation.get()))
      operand.before = digest_now(data[i], as);
    if (!is_output && is_in_place)
      operand.digest = digest_now(data[i], as);
    else if (is_output || reads_inputs)
      digests_.emplace_back(data[i], as);
  }
}

void HostReceipt::read_inputs_meanwhile() try {
  const auto read = [this] {
    for (std::size_t i = 0; i + 1 < digests_.size(); ++i) digests_[i].text();
  };
  reading_ = kit::without_signals([&] { return std::async(std::launch::async, read); });
} catch (const std::system_error&) {}  // no thread to be had: finish() reads them

Receipt& HostReceipt::finish(const Choice& choice) {
  if (reading_.valid()) reading_.get();
  auto operand = receipt_.operands.end();
  for (auto digest = digests_.rbegin(); digest != digests_.rend(); ++digest) {
    --operand;  // the output is the last, and all inputs are read or none
    operand->digest = text_of(*digest, keeps(operand->is_output));
  }
  end_receipt(receipt_, choice);
  return receipt_;
}

// --- Queues ----------------------------------------------------------------------------------

bool leaves_receipt(Queue& queue) {
  if (!ReceiptFile::get()) [[likely]]
    return false;
  const auto& state = Access::state(queue);
  return state && !state->is_quiet;
}

QueueReceipt::QueueReceipt(Queue& queue, Receipt begun) : receipt(std::move(begun)), queue_(queue) {
  QueueState& state = Access::use(queue);
  const bool is_captured = [&] {
    const std::lock_guard lock(state.timeline->mutex);
    return state.is_captured();
  }();
  if (is_captured)
    receipt.why = "the queue is captured into a graph: nothing has been computed yet";
  else
    queue_.wait();
}

/// A failing digest makes no call fail: the call refuses wrong arguments itself, in its own words.
template <class Body>
void QueueReceipt::attempt(Body&& body) {
  if (!receipt.why.empty()) return;
  try {
    body();
  } catch (const std::exception& error) { receipt.why = error.what(); }
}

std::string QueueReceipt::digest(const View& view, bool moves_bits, bool keeps) {
  static constexpr Role kOperand{"receipt", "operand", false};
  const uint32_t element = element_of(view.dtype, kOperand);
  trine_view checked;
  const Placed placed =
      check_view(view, element, 1, kOperand, &Access::use(queue_).device(), Mode::run, checked);
  const Counted as = counted(view.dtype, moves_bits);
  const uint64_t first = view.offset, bytes = placed.last - placed.first;
  if (void* const host = bytes == 0 ? nullptr : view.buffer.host()) {
    Digest digest(at(static_cast<const char*>(host) + first, view), as);
    return text_of(digest, keeps);
  }
  std::string chunk;
  const auto fetch = [&](uint64_t offset, uint64_t count) {
    chunk.resize(count);
    copy(queue_, vector(view.buffer, Dtype::b8, static_cast<int64_t>(count), first + offset),
         host_vector(chunk.data(), Dtype::b8, static_cast<int64_t>(count)));
    queue_.wait();
  };
  Digest digest(at(nullptr, view), as);
  if (digest.is_dense() && !keeps) {
    for (uint64_t offset = 0; offset < bytes; offset += kChunk) {
      fetch(offset, std::min(kChunk, bytes - offset));
      digest.take(offset, chunk.data(), chunk.size());
    }
    return digest.text();
  }
  if (bytes != 0) fetch(0, bytes);
  Digest whole(at(chunk.data(), view), as);
  return text_of(whole, keeps);
}

void QueueReceipt::operand(std::string_view name, const View& view, bool is_output, bool is_read,
                           bool moves_bits) {
  ReceiptOperand& operand = receipt.operands.emplace_back(receipt_operand(name, view, is_output));
  if (is_output) output_ = &view, moves_bits_ = moves_bits;
  if (!is_read) return;
  attempt([&] {
    (is_output ? operand.before : operand.digest) = digest(view, moves_bits, keeps(false));
  });
}

double QueueReceipt::number(const Scalar& scalar, Dtype dtype) {
  if (!scalar.on_device()) return scalar.number();
  double value = 0;
  attempt([&] {
    unsigned char bytes[16] = {};
    copy(queue_, scalar.element(), host_vector(static_cast<void*>(bytes), dtype, 1));
    queue_.wait();
    visit_number(dtype, [&](auto number) {
      std::memcpy(&number, bytes, sizeof number);
      value = static_cast<double>(number);
    });
  });
  return value;
}

void QueueReceipt::finish(const Choice& choice) {
  if (receipt.why.empty()) queue_.wait();
  attempt([&] { receipt.operands.back().digest = digest(*output_, moves_bits_, keeps(true)); });
  end_receipt(receipt, choice);
}

}  // namespace detail

std::string Receipt::json() const try {
  using detail::cat;
  std::string text = cat("{\"call\":", call, ",\"process\":", getpid(),
                         ",\"thread\":", syscall(SYS_gettid), ",\"operation\":\"", operation, "\"");
  const auto word = [&](const char* key, std::string_view value) {
    if (!value.empty()) detail::append(text, cat(",\"", key, "\":", kit::json_string(value)));
  };
  word("function", function);
  word("map", map);
  word("axis", axis);
  if (detail::has_scalars(operation))
    detail::append(text,
                   cat(",\"alpha\":", detail::json_of(alpha), ",\"beta\":", detail::json_of(beta)));
  if (continues) detail::append(text, ",\"continues\":true");
  word("numerics", numerics);
  detail::append(text, ",\"operands\":[");
  for (const ReceiptOperand& operand : operands)
    detail::append(text, cat(&operand == &operands[0] ? "" : ",", detail::json_of(operand)));
  detail::append(text, "]");
  word("device", device);
  word("device_name", device_name);
  word("rung", rung);
  word("promise", promise);
  word("why", why);
  return text + "}";
} catch (const std::bad_alloc&) { detail::fail_without_memory(); }

}  // namespace trine
