// The conformance cases for Python: a library that tests/python/conformance_test.py loads by ctypes. It
// lays a case out in memory, and judges that memory after the case has run through the package.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string>

#include "conformance/arena.hpp"
#include "conformance/goldens.hpp"
#include "oracle/compare.hpp"

#define TRINE_SHOWN extern "C" __attribute__((visibility("default")))

namespace {

using namespace trine;
using conformance::Arenas;
using conformance::Case;

const Case& case_at(int64_t number) { return conformance::all_cases()[size_t(number)]; }

std::string quoted(const char* key, std::string_view value) {
  return std::string("\"") + key + "\": \"" + std::string(value) + "\", ";
}
std::string number(const char* key, double value) {
  char text[64];
  std::snprintf(text, sizeof text, "\"%s\": %.17g, ", key, value);
  return text;
}

std::string describe(const trine_reduce& r) {
  constexpr const char* functions[] = {"", "sum", "prod", "min", "max", "argmin", "argmax"};
  constexpr const char* maps[] = {"", "identity", "abs", "square", "product"};
  return quoted("operation", "reduce") + quoted("function", functions[r.function]) +
         quoted("map", maps[r.map]) + number("axis", r.axis);
}
std::string describe(const trine_transpose&) { return quoted("operation", "transpose"); }
std::string describe(const trine_gemm& g) {
  return quoted("operation", "gemm") + number("alpha", oracle::scalar_value(g.dtype, g.alpha)) +
         number("beta", oracle::scalar_value(g.dtype, g.beta));
}

std::string describe(const oracle::Operand& o, conformance::Place at) {
  const trine_view& v = *o.view;
  char text[400];
  std::snprintf(text, sizeof text,
                "{\"dtype\": \"%s\", \"arena\": %zu, \"offset\": %" PRIu64 ", \"shape\": [%" PRId64
                ", %" PRId64 ", %" PRId64 "], \"strides\": [%" PRId64 ", %" PRId64 ", %" PRId64
                "]}",
                oracle::dtype_name(o.dtype), at.arena, at.offset, v.batch, v.rows, v.cols,
                v.batch_stride, v.row_stride, v.col_stride);
  return text;
}

}  // namespace

TRINE_SHOWN int64_t case_count() { return int64_t(conformance::all_cases().size()); }

/// Bytes that the case moves: what it costs. Negative where its memory is too wide to be laid out.
TRINE_SHOWN double case_bytes(int64_t number) {
  const Case& c = case_at(number);
  return c.far ? -1 : oracle::bytes_moved(c.plan) + oracle::flops(c.plan) / 8;
}

TRINE_SHOWN Arenas* case_open(int64_t number) { return new Arenas(case_at(number)); }
TRINE_SHOWN void case_close(Arenas* arenas) { delete arenas; }

/// The case as JSON; the text stands until the next call.
TRINE_SHOWN const char* case_text(int64_t at, const Arenas* arenas) {
  static std::string text;
  oracle::Operation plan = case_at(at).plan;
  text = "{" + quoted("name", case_at(at).name) +
         std::visit([](const auto& op) { return describe(op); }, plan) + "\"arenas\": [";
  for (size_t a = 0; a < arenas->count(); ++a)
    text += (a == 0 ? "" : ", ") + std::to_string(arenas->before(a).size());
  text += "], \"views\": [";
  size_t index = 0;
  for (const oracle::Operand& o : oracle::operands(plan)) {
    text += (index == 0 ? "" : ", ") + describe(o, arenas->place(index));
    ++index;
  }
  text += "]}";
  return text.c_str();
}

TRINE_SHOWN void case_fill(const Arenas* arenas, size_t arena, void* memory) {
  std::memcpy(memory, arenas->before(arena).data(), arenas->before(arena).size());
}

/// What is wrong with the memory that the case left, or ""; the text stands until the next call. The
/// output's digest must be the golden one, and every other byte as it was.
TRINE_SHOWN const char* case_judge(int64_t at, const Arenas* arenas, const void* const* memory) {
  static std::string wrong;
  std::vector<std::vector<char>> found;
  for (size_t a = 0; a < arenas->count(); ++a) {
    const char* const bytes = static_cast<const char*>(memory[a]);
    found.emplace_back(bytes, bytes + arenas->before(a).size());
  }
  oracle::Operation plan = case_at(at).plan;
  const oracle::Operand output = oracle::output_of(plan);
  const conformance::Place place = arenas->place(oracle::operands(plan).size() - 1);
  output.view->memory = found[place.arena].data();
  output.view->offset = place.offset;
  const auto golden = conformance::golden(case_at(at).name);
  if (!golden || *golden != oracle::digest(output.dtype, *output.view)) {
    wrong = "the digest is not the golden one; " + arenas->judge(found, TRINE_REPRODUCIBLE);
  } else {
    wrong = arenas->judge(found, TRINE_REPRODUCIBLE);
  }
  return wrong.c_str();
}
