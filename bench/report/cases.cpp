#include "cases.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "model.hpp"

namespace trine::bench::report {
namespace {

bool same_ladder(const Entry& a, const Entry& b) {
  return a.device_slot == b.device_slot && a.problem.size == b.problem.size;
}

Row& row_of(Group& group, const Entry& e) {
  for (Row& row : group.rows)
    if (same_ladder(row.any(), e) && row.any().variant() == e.variant()) return row;
  return group.rows.emplace_back();
}

/// A later one takes an earlier one's place: of one machine several files may have measured the case.
void set_latest(Row& row, const Entry& e) {
  if (e.memory == "resident") {
    (e.method == "sustained" ? row.sustained : row.single) = &e;
    return;
  }
  std::erase_if(row.end_to_end, [&](const Entry* other) { return other->memory == e.memory; });
  row.end_to_end.push_back(&e);
}

/// Each row against the fastest of the rung before it at the same size, in whatever parameters.
void set_steps(std::span<Row> rows) {
  const Method method = common_method(rows, [](const Row&) { return true; });
  const auto over = [&](const Row& row, const Row& other) -> std::optional<double> {
    const Entry *mine = row.*method, *theirs = other.*method;
    return mine && theirs ? std::optional(*theirs->kernel / *mine->kernel) : std::nullopt;
  };
  const Row *first = nullptr, *before = nullptr, *here = nullptr;
  for (Row& row : rows) {
    row.method = method;
    if (!row.good() || row.any().vendor()) continue;
    if (here != nullptr && here->rung() != row.rung()) {
      if (first == nullptr) first = here;
      before = here;
      here = nullptr;
    }
    if (before != nullptr) row.step = over(row, *before);
    if (first != nullptr) row.cumulative = over(row, *first);
    if (here == nullptr || row.rated().rate > here->rated().rate) here = &row;
  }
}

/// Along the group's axis.
double size_of(const Entry& e) {
  if (e.problem.operation == Operation::reduce) return e.elements();
  const double root = e.problem.operation == Operation::gemm ? 1.0 / 3 : 1.0 / 2;
  return std::round(std::pow(e.elements() / double(e.problem.batch), root) * 1e6) / 1e6;
}

/// By device, by size, and up the ladder; vendors' last.
void sort_rows(Group& group) {
  std::ranges::stable_sort(group.rows, {}, [](const Row& row) {
    const Entry& e = row.any();
    return std::tuple(e.device_slot, row.x, e.vendor(), e.rung_index);
  });
  for (const Row& row : group.rows) place_of(group.devices, row.device());
  for (size_t begin = 0; begin < group.rows.size();) {
    size_t end = begin + 1;
    while (end < group.rows.size() && same_ladder(group.rows[begin].any(), group.rows[end].any()))
      ++end;
    set_steps(std::span(group.rows).subspan(begin, end - begin));
    begin = end;
  }
}

bool is_cube(const Entry& e) {
  const Size& s = e.problem.size;
  return s.rows == s.cols && (e.problem.operation != Operation::gemm || s.cols == s.depth);
}

bool all_cubes(const Group& group) {
  return std::ranges::all_of(group.rows, [](const Row& row) { return is_cube(row.any()); });
}

}  // namespace

bool Row::good() const {
  for (const Entry* e : {single, sustained})
    if (e != nullptr && (!e->verified || e->skipped || !e->kernel || !(*e->kernel > 0)))
      return false;
  return (single || sustained) && rated().rate > 0;
}

Method common_method(std::span<const Row> rows, const Filter& wanted) {
  const bool sustained = std::ranges::all_of(
      rows, [&](const Row& r) { return !r.good() || !wanted(r) || r.sustained != nullptr; });
  return sustained ? &Row::sustained : &Row::single;
}

const char* name(Method method) {
  return method == &Row::single ? "single launches" : "launches back to back";
}

std::string Group::axis_title() const {
  if (operation == Operation::reduce) return "elements";
  if (all_cubes(*this)) return operation == Operation::gemm ? "N (N × N × N)" : "N (N × N)";
  return operation == Operation::gemm ? "(m n k)^⅓" : "(rows × columns)^½";
}

bool Group::plain() const {
  const Entry& e = rows.front().any();
  const Problem& p = e.problem;
  return p.axis == trine::Axis::all && p.map == Map::identity && p.result == p.dtype &&
         p.layout.find('c') == std::string::npos && p.batch == 1 && !e.access &&
         p.numerics == Numerics::reproducible;
}

std::vector<Group> groups(const Runs& runs) {
  std::vector<Group> all;
  for (const Entry& e : runs.results) {
    const std::string title = e.group();
    auto found = std::ranges::find_if(all, [&](const Group& g) { return g.title == title; });
    if (found == all.end())
      found = all.insert(all.end(), Group{.title = title,
                                          .operation = e.problem.operation,
                                          .dtype = std::string(name(e.problem.dtype)),
                                          .unit = e.unit()});
    Row& row = row_of(*found, e);
    row.x = size_of(e);
    set_latest(row, e);
  }
  for (Group& group : all) sort_rows(group);
  return all;
}

std::vector<const Extra*> break_evens(const Runs& runs, const Group& group,
                                      const std::string& memory) {
  std::vector<const Extra*> found;
  const Problem& p = group.rows.front().any().problem;
  for (const Extra& extra : runs.crossings) {
    const auto is = [&](const char* key, std::string_view value) {
      return text_of(extra.value, key) == value;
    };
    if (group.plain() && is("operation", name(p.operation)) && is("dtype", group.dtype) &&
        is("memory", memory) && (is("function", "") || is("function", name(p.function))))
      found.push_back(&extra);
  }
  return found;
}

std::vector<double> sizes(const Group& group, const Filter& wanted) {
  std::vector<double> found;
  for (const Row& row : group.rows)
    if (wanted(row)) found.push_back(row.x);
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

const Entry* best(const Group& group, Method method, const Filter& wanted) {
  const Entry* found = nullptr;
  for (const Row& row : group.rows) {
    const Entry* entry = row.*method;
    if (!entry || !row.good() || !wanted(row)) continue;
    if (found == nullptr || entry->rate > found->rate) found = entry;
  }
  return found;
}

}  // namespace trine::bench::report
