#include "agreement.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace trine::mpi::detail {
namespace {

void merge(ExactSum::State& into, const ExactSum::State& other) {
  try {
    ExactSum sum(into);  // which refuses too_large
    sum.merge(ExactSum(other));
    into = sum.state();
  } catch (...) { into[0] = too_large; }  // nothing may leave through MPI, which is C
}

void merge(Head& into, const Head& other) noexcept { into.merge(other); }

template <class T>
void merge_all(void* others, void* into, int count) {
  for (int i = 0; i < count; ++i) merge(static_cast<T*>(into)[i], static_cast<const T*>(others)[i]);
}

/// "rank 3", "ranks 0 to 5, 7": of ascending ones.
std::string ranks_of(const std::vector<int>& ranks) {
  constexpr size_t kMost = 16;  // runs
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  size_t runs = 0;
  for (size_t first = 0, last = 0; first < ranks.size(); first = last + 1) {
    for (last = first; last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1;) ++last;
    if (++runs > kMost) return text + ", …";
    text += cat(runs == 1 ? "" : ", ", ranks[first]);
    if (last > first) text += cat(last == first + 1 ? ", " : " to ", ranks[last]);
  }
  return text;
}

/// The ranks by what they say, in the order of the first that says it.
using Groups = std::vector<std::pair<std::string, std::vector<int>>>;
void add(Groups& groups, const std::string& words, int rank) {
  auto group = std::ranges::find(groups, words, &Groups::value_type::first);
  if (group == groups.end()) group = groups.insert(groups.end(), {words, {}});
  group->second.push_back(rank);
}

/// "before ranks 0, 1: what they say" of each group, put together.
std::string joined(const Groups& groups, const char* before, const char* between) {
  constexpr size_t kMost = 8;
  std::string text;
  for (size_t i = 0; i < std::min(groups.size(), kMost); ++i)
    append(text,
           cat(i == 0 ? "" : between, before, ranks_of(groups[i].second), ": ", groups[i].first));
  return groups.size() > kMost ? cat(text, between, "…") : text;
}

}  // namespace

std::string Asked::words() const {
  std::string text = root == everywhere ? "allreduce" : cat("reduce to rank ", root);
  if (call == merge) return cat(text, " of ExactSums");
  if (call == partial) append(text, " of Partials");
  append(text, cat(": ", name(Function(function))));
  if (call == elementwise) append(text, cat(" of ", count));
  if (call == exact_sum || call == partial) append(text, cat(", map ", name(Map(map)), ", of"));
  return cat(text, " ", name(Dtype(dtype)));
}

Asked::Load Asked::load() const {
  if (call != partial && call != fields) return Load::sum;
  const bool is_float = dtype == uint8_t(Dtype::f32) || dtype == uint8_t(Dtype::f64);
  if (is_float && function == uint8_t(Function::sum)) return Load::sum;
  return is_float && function == uint8_t(Function::prod) ? Load::length : Load::value;
}

Partial::State Asked::state_of(std::span<const uint64_t> words) const {
  Partial::State state = {uint64_t(function) | uint64_t(map) << 8 | uint64_t(dtype) << 16};
  std::ranges::copy(words, state.begin() + 1);
  return state;
}

void Head::merge(const Head& other) noexcept {
  trouble |= other.trouble;
  if (asked != other.asked) trouble |= differ;
  if (trouble != 0) return;  // nobody will look at the rest
  switch (asked.load()) {
    case Asked::Load::sum: return sum.merge(other.sum);
    case Asked::Load::length: words[0] = std::max(words[0], other.words[0]); return;
    case Asked::Load::value: break;
  }
  try {
    Partial all(asked.state_of(words));
    all.merge(Partial(asked.state_of(other.words)));
    std::copy_n(all.state().begin() + 1, words.size(), words.begin());
  } catch (...) {
    trouble = failed;
  }  // states that are none; these of a value and an index take no memory
}

extern "C" void trine_mpi_merge_heads(void* others, void* into, int* count, MPI_Datatype*) {
  merge_all<Head>(others, into, *count);
}
extern "C" void trine_mpi_merge_states(void* others, void* into, int* count, MPI_Datatype*) {
  merge_all<ExactSum::State>(others, into, *count);
}

Report::Report(Status is, std::string_view says) : status(uint32_t(is)) {
  size_t length = std::min(says.size(), sizeof sentence - 1);
  while (length < says.size() && (says[length] & 0xC0) == 0x80) --length;
  std::memcpy(sentence, says.data(), length);
}

Report::Report(const Failure& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    *this = {error.status(), error.what()};
  } catch (const std::bad_alloc&) {
    *this = {Status::out_of_memory, kNoMemory};
  } catch (const std::exception& other) { *this = {Status::internal, other.what()}; } catch (...) {
    *this = {Status::internal, "An exception of an unknown type."};
  }
}

Error error_of(std::span<const Report> reports, uint64_t trouble) {
  Groups failed, asked;
  Status status = Status::ok;
  for (size_t i = 0; i < reports.size(); ++i) {
    const Report& report = reports[i];
    add(report.status == TRINE_OK ? asked : failed, report.sentence, int(i));
    if (status == Status::ok) status = Status(report.status);
  }
  if (status != Status::ok) return {status, joined(failed, "On ", " ")};
  if ((trouble & Head::failed) != 0)
    return {Status::internal, "trine::mpi: what the ranks brought can't be merged."};
  if ((trouble & Head::differ) != 0)
    return {Status::invalid_argument,
            cat("trine::mpi: the ranks ask for different things. ", joined(asked, "", "; "), ".",
                asked.size() > 1 ? "" : " That reads alike, but its numbers have other bits.")};
  return {Status::invalid_argument,
          "trine::mpi: the sum of all ranks leaves what a state holds, +-2^2175; round parts of it "
          "before."};
}

}  // namespace trine::mpi::detail
