// A call once more, from what was kept of it.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "bench/timing/lines.hpp"
#include "bench/ui/error.hpp"
#include "receipts.hpp"

namespace trine::bench {
namespace {

/// A call that isn't run: its data wasn't kept, or there isn't memory for it.
struct NotRun : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An operand in memory, laid out as the call had it. Only the call itself checks the line's
/// words about an output, so calloc() takes no pages for an output before they are written.
struct Memory {
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  ConstHostView view;
  size_t size = 0;
  std::unique_ptr<char, Free> bytes = {};

  Memory(const ReadOperand& o, int64_t elements) : view(o.shape) {
    const ConstHostView& v = view;
    if (elements != 0)
      size = static_cast<size_t>((v.rows - 1) * v.row_stride + (v.cols - 1) * v.col_stride +
                                 (v.batch - 1) * v.batch_stride + 1) *
             size_of(v.dtype);
    const auto there = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                       static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    if (size <= there) bytes.reset(static_cast<char*>(std::calloc(std::max<size_t>(size, 1), 1)));
    if (!bytes)
      throw NotRun(fmt::format("{} takes {} bytes, for which there is no memory", o.name, size));
    view.data = bytes.get();
  }
  HostView writable() {
    return {bytes.get(), view.dtype,      view.rows,       view.cols,
            view.batch,  view.row_stride, view.col_stride, view.batch_stride};
  }
};

struct Place {
  int64_t b, i, j;
};
/// body(place, offset in memory, offset in the sequence) for each element, in logical order, until
/// it says so.
template <class Body>
void each_element(const ConstHostView& v, Body&& body) {
  const auto size = int64_t{size_of(v.dtype)};
  int64_t at = 0;
  if (v.rows == 0 || v.cols == 0) return;
  for (int64_t b = 0; b < v.batch; ++b)
    for (int64_t i = 0; i < v.rows; ++i)
      for (int64_t j = 0; j < v.cols; ++j, at += size)
        if (!body(Place{b, i, j}, size * (b * v.batch_stride + i * v.row_stride + j * v.col_stride),
                  at))
          return;
}

/// Its digest where bits count: transposes know no NaN.
std::string digest_of(ConstHostView view, bool moves_bits) {
  if (moves_bits) view.dtype = parse_dtype(fmt::format("b{}", 8 * size_of(view.dtype)));
  return digest(view);
}

/// The sequence of so many bytes that was kept under a digest; nothing where it wasn't.
std::optional<std::string> kept(const std::string& folder, const std::string& digest,
                                uint64_t bytes) {
  const std::string path = folder + "/" + digest;
  if (digest.empty() || access(path.c_str(), F_OK) != 0) return {};
  std::string sequence = read_text(path, bytes);
  if (sequence.size() != bytes)
    throw Refusal(fmt::format("{}: damaged: {} bytes", path, sequence.size()));
  return sequence;
}

Memory memory_of(const ReadOperand& o, const std::string& digest, const std::string& folder,
                 bool moves_bits) {
  const auto& v = o.shape;
  const size_t size = size_of(v.dtype);
  const int64_t elements = v.rows * v.cols * v.batch;
  std::optional<std::string> sequence;
  if (!digest.empty()) {
    sequence = kept(folder, digest, static_cast<uint64_t>(elements) * size);
    if (!sequence)
      throw NotRun(fmt::format(
          "{} wasn't kept; run the program again with TRINE_RECEIPTS_KEEP=inputs", o.name));
  }
  Memory m(o, elements);
  if (!sequence) return m;
  each_element(v, [&](Place, int64_t to, int64_t from) {
    std::memcpy(m.bytes.get() + to, sequence->data() + from, size);
    return true;
  });
  if (digest_of(m.view, moves_bits) != digest)
    throw Refusal(fmt::format("{}/{}: damaged: it has another digest", folder, digest));
  return m;
}

template <class T>
T read(const char* data) {
  T value;
  std::memcpy(&value, data, sizeof value);
  return value;
}

/// "0.1 (0x3fb999999999999a)"
std::string value_text(const char* data, Dtype dtype) {
  std::string hex = "0x";
  for (auto i = static_cast<int>(size_of(dtype)); i-- > 0;)
    hex += fmt::format("{:02x}", static_cast<unsigned char>(data[i]));
  switch (dtype) {
    case Dtype::f32: return fmt::format("{} ({})", read<float>(data), hex);
    case Dtype::f64: return fmt::format("{} ({})", read<double>(data), hex);
    case Dtype::i32: return fmt::format("{} ({})", read<int32_t>(data), hex);
    case Dtype::i64: return fmt::format("{} ({})", read<int64_t>(data), hex);
    case Dtype::u32: return fmt::format("{} ({})", read<uint32_t>(data), hex);
    case Dtype::u64: return fmt::format("{} ({})", read<uint64_t>(data), hex);
    default: return hex;
  }
}

bool same(const char* x, const char* y, Dtype dtype, bool moves_bits) {
  if (!moves_bits && dtype == Dtype::f32 && std::isnan(read<float>(x)))
    return std::isnan(read<float>(y));
  if (!moves_bits && dtype == Dtype::f64 && std::isnan(read<double>(x)))
    return std::isnan(read<double>(y));
  return std::memcmp(x, y, size_of(dtype)) == 0;
}

std::string first_difference(const Memory& now, const std::string& then, bool moves_bits) {
  std::string text;
  int64_t count = 0;
  each_element(now.view, [&](Place p, int64_t mine, int64_t theirs) {
    const char *x = now.bytes.get() + mine, *y = then.data() + theirs;
    if (same(x, y, now.view.dtype, moves_bits)) return true;
    if (count++ == 0)
      text = fmt::format("{}row {}, column {}: {} now, {} then",
                         now.view.batch > 1 ? fmt::format("matrix {}, ", p.b) : "", p.i, p.j,
                         value_text(x, now.view.dtype), value_text(y, now.view.dtype));
    return true;
  });
  return fmt::format("{} of {} elements differ, first {}", count,
                     now.view.rows * now.view.cols * now.view.batch, text);
}

/// axpby and scalar are calls on queues.
std::string run_elementwise(const ReadCall& call, std::vector<Memory>& m, double alpha, double beta,
                            const std::string& device) {
  Queue queue(open(device == "auto" ? "cpu" : device));
  std::vector<View> views;
  for (Memory& one : m) {
    View& v = views.emplace_back();
    v = {Buffer(queue.device(), one.size),
         one.view.dtype,
         0,
         one.view.rows,
         one.view.cols,
         one.view.batch,
         one.view.row_stride,
         one.view.col_stride,
         one.view.batch_stride};
    const auto bytes = static_cast<int64_t>(one.size);
    copy(queue, host_vector(static_cast<const char*>(one.bytes.get()), Dtype::b8, bytes),
         vector(v.buffer, Dtype::b8, bytes));
  }
  if (call.operation == "axpby") {
    axpby(queue, alpha, views[0], beta, views[1]);
  } else {
    constexpr std::string_view kNames[] = {"add", "subtract", "multiply", "divide", "sqrt"};
    const auto which = std::ranges::find(kNames, call.function) - kNames;
    if (which == std::ssize(kNames)) throw NotRun("this version knows no such function");
    scalar(queue, static_cast<Arithmetic>(TRINE_ADD + which), alpha, beta, views[0]);
  }
  const auto bytes = static_cast<int64_t>(m.back().size);
  copy(queue, vector(views.back().buffer, Dtype::b8, bytes),
       host_vector(m.back().bytes.get(), Dtype::b8, bytes));
  queue.wait();
  return "elementwise";
}

/// Returns the rung.
std::string run(const ReadCall& call, std::vector<Memory>& m, const std::string& device,
                const std::string& rung) {
  Choice choice;
  HostOptions options{.device = device, .rung = rung, .choice = &choice};
  if (!call.numerics.empty()) options.numerics = parse_numerics(call.numerics);
  options.continues = call.continues;
  const auto number = [](const std::string& text) {
    double value = 0;
    const char* const end = text.data() + text.size();
    if (!text.empty() && std::from_chars(text.data(), end, value).ptr != end)
      throw NotRun(fmt::format("'{}' is no number", text));
    return value;
  };
  const double alpha = number(call.alpha), beta = number(call.beta);
  if (call.operation == "reduce" && m.size() == 3)
    dot(m[0].view, m[1].view, m[2].writable(), parse_axis(call.axis), options);
  else if (call.operation == "reduce")
    reduce(parse_function(call.function), parse_map(call.map), parse_axis(call.axis), m[0].view,
           m[1].writable(), options);
  else if (call.operation == "transpose")
    transpose(m[0].view, m[1].writable(), options);
  else if (call.operation == "gemm")
    gemm(alpha, m[0].view, m[1].view, beta, m[2].writable(), options);
  else if (call.operation == "axpby" || call.operation == "scalar")
    return run_elementwise(call, m, alpha, beta, device);
  else
    throw NotRun(fmt::format("this version knows no operation '{}'", call.operation));
  return choice.sentence();
}

}  // namespace

Again run_again(const ReadCall& call, const std::string& folder, const std::string& device,
                const std::string& rung) {
  Again again;
  const bool moves_bits = call.operation == "transpose";
  if (!call.why.empty()) return again.sentence = "it has no digests: " + call.why, again;
  std::vector<Memory> memory;
  try {
    for (const ReadOperand& o : call.operands)
      memory.push_back(memory_of(o, o.is_output ? o.before : o.digest, folder, moves_bits));
    again.rung = run(call, memory, device, rung);
  } catch (const NotRun& why) {
    return again.sentence = why.what(), again;
  } catch (const Error& error) { return again.sentence = error.what(), again; }
  const Memory& output = memory.back();
  if (digest_of(output.view, moves_bits) == call.output()) {
    again.outcome = Again::Outcome::equal;
    return again;
  }
  again.outcome = Again::Outcome::differs;
  const auto& v = output.view;
  const std::optional<std::string> then = kept(
      folder, call.output(), static_cast<uint64_t>(v.rows * v.cols * v.batch) * size_of(v.dtype));
  again.sentence =
      then ? first_difference(output, *then, moves_bits)
           : "TRINE_RECEIPTS_KEEP=all would have kept the output, and this would say which "
             "element";
  return again;
}

}  // namespace trine::bench
