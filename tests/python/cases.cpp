// The conformance cases for Python: a library that conformance_test.py loads by ctypes. It lays a
// case out in memory, and judges that memory after the case has run through the package.
#include <cstring>
#include <sstream>
#include <string>

#include "conformance/arena.hpp"
#include "conformance/goldens.hpp"
#include "oracle/bits.hpp"
#include "oracle/compare.hpp"

#define TRINE_SHOWN extern "C" __attribute__((visibility("default")))

namespace {

using namespace trine;
using conformance::Arenas;
using conformance::Case;

const Case& case_at(int64_t number) { return conformance::all_cases()[size_t(number)]; }

using Text = std::ostringstream;

void describe(Text& text, const trine_reduce& r) {
  constexpr const char* functions[] = {"", "sum", "prod", "min", "max", "argmin", "argmax"};
  constexpr const char* maps[] = {"", "identity", "abs", "square", "product"};
  text << R"("operation": "reduce", "function": ")" << functions[r.function] << R"(", "map": ")"
       << maps[r.map] << R"(", "axis": )" << r.axis;
}
void describe(Text& text, const trine_transpose&) { text << R"("operation": "transpose")"; }
void describe(Text& text, const trine_gemm& g) {
  // As texts: JSON has neither inf nor nan.
  text << R"("operation": "gemm", "alpha": ")" << oracle::scalar_value(g.dtype, g.alpha)
       << R"(", "beta": ")" << oracle::scalar_value(g.dtype, g.beta) << R"(", "continues": )"
       << (trine_continues(&g) ? "true" : "false") << R"(, "numerics": ")"
       << (trine_is_exact(&g) ? "exact" : "reproducible") << '"';
}
void describe(Text& text, const oracle::Operand& o, conformance::Place at) {
  const trine_view& v = *o.view;
  text << R"({"dtype": ")" << oracle::dtype_name(o.dtype) << R"(", "arena": )" << at.arena
       << R"(, "offset": )" << at.offset << R"(, "shape": [)" << v.batch << "," << v.rows << ","
       << v.cols << R"(], "strides": [)" << v.batch_stride << "," << v.row_stride << ","
       << v.col_stride << "]}";
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
  static std::string json;
  oracle::Operation plan = case_at(at).plan;
  Text text;
  text.precision(17);
  text << R"({"name": ")" << case_at(at).name << R"(", )";
  std::visit([&](const auto& op) { describe(text, op); }, plan);
  text << R"(, "arenas": [)";
  for (size_t a = 0; a < arenas->count(); ++a)
    text << (a == 0 ? "" : ",") << arenas->before(a).size();
  text << R"(], "views": [)";
  size_t index = 0;
  for (const oracle::Operand& o : oracle::operands(plan)) {
    text << (index == 0 ? "" : ",");
    describe(text, o, arenas->place(index++));
  }
  text << "]}";
  json = text.str();
  return json.c_str();
}

TRINE_SHOWN void case_fill(const Arenas* arenas, size_t arena, void* memory) {
  std::memcpy(memory, arenas->before(arena).data(), arenas->before(arena).size());
}

/// Says how the memory that the case left is wrong, or ""; the text stands until the next call.
/// The output's digest must be the golden one, and every other byte as it was.
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
