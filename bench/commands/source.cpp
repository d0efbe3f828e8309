// `trine ladder --source RUNG`: the text of a rung's kernel, in CUDA and in OpenCL side by side.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <vector>

#include "bench/commands/ladder.hpp"
#include "bench/ui/error.hpp"
#include "bench/ui/screen.hpp"
#include "kernel_texts.h"

namespace trine::bench {
namespace {

using Words = std::set<std::string_view>;

/// A kernel file or header: `path` is cuda/reduce/sum.h, reduce its operation, sum.h its name.
struct Text {
  std::string_view path, operation, name;
  std::vector<std::string_view> lines;
};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::vector<Text> all_texts() {
  std::vector<Text> texts;
  for (size_t i = 0; i < kernel_texts_count; ++i) {
    const trine_embedded_file& file = kernel_texts[i];
    const auto parts = split(file.name, '/');
    std::string_view name = parts.back();
    if (!name.ends_with(".h")) name = name.substr(0, name.rfind('.'));
    texts.push_back(
        {file.name, parts.at(parts.size() - 2), name,
         split({reinterpret_cast<const char*>(file.data), file.size}, '\n')});  // NOLINT: bytes
  }
  return texts;
}

size_t width_of_text(const Text& text) {
  size_t width = width_of(text.path);
  for (std::string_view line : text.lines) width = std::max(width, width_of(line));
  return width;
}

Words words_of(std::string_view line) {
  const auto inside = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  Words words;
  for (auto at = line.begin(); at != line.end();) {
    at = std::find_if(at, line.end(), inside);
    const auto end = std::find_if_not(at, line.end(), inside);
    if (at != end) words.emplace(at, end);
    at = end;
  }
  return words;
}

/// How much two lines say the same: 1 for the same words, a little for any two.
double likeness(const Words& a, const Words& b) {
  const auto common =
      std::count_if(a.begin(), a.end(), [&](auto word) { return b.contains(word); });
  const size_t all = a.size() + b.size();
  return 0.1 + (all == 0 ? 1.0 : 2.0 * double(common) / double(all));
}

/// Prints two texts beside each other, with gaps where one of them says more, so that lines which say
/// the same stand side by side: the pairing of most likeness.
void print_beside(const Text& left, const Text& right) {
  const size_t rows = left.lines.size(), cols = right.lines.size(), width = width_of_text(left);
  std::vector<Words> of_left, of_right;
  for (std::string_view line : left.lines) of_left.push_back(words_of(line));
  for (std::string_view line : right.lines) of_right.push_back(words_of(line));
  std::vector<std::vector<double>> best(rows + 1, std::vector<double>(cols + 1));
  const auto paired = [&](size_t i, size_t j) {
    return likeness(of_left[i], of_right[j]) + best[i + 1][j + 1];
  };
  for (size_t i = rows; i-- > 0;)
    for (size_t j = cols; j-- > 0;)
      best[i][j] = std::max({best[i + 1][j], best[i][j + 1], paired(i, j)});
  const auto print = [&](std::string_view one, std::string_view other) {
    fmt::print("{}{:{}} │ {}\n", one, "", width - width_of(one), other);
  };
  print(left.path, right.path);
  for (size_t i = 0, j = 0; i < rows || j < cols;) {
    const bool both = i < rows && j < cols && best[i][j] == paired(i, j);
    const bool one = both || (i < rows && (j == cols || best[i][j] == best[i + 1][j]));
    const bool other = both || !one;
    print(one ? left.lines[i] : "", other ? right.lines[j] : "");
    i += one;
    j += other;
  }
}

void print_alone(const Text& text, std::string_view remark) {
  fmt::print("{}{}\n", text.path, remark);
  for (std::string_view line : text.lines) fmt::print("{}\n", line);
}

/// The texts of one name and operation: one that is shared, one of a language alone, or a pair.
void print_texts(const std::vector<Text>& texts) {
  const Text &first = texts.front(), &last = texts.back();
  if (first.path.starts_with("backends/")) {
    print_alone(first, ": one text for both languages");
  } else if (texts.size() == 1) {
    print_alone(first, first.path.starts_with("cuda/") ? ": CUDA alone" : ": OpenCL alone");
  } else if (width_of_text(first) + 3 + width_of_text(last) <= terminal_width().value_or(80)) {
    print_beside(first, last);
  } else {
    print_alone(first, ":");
    fmt::print("\n");
    print_alone(last, ":");
  }
}

bool has_kernel(const Text& text) {
  return std::ranges::any_of(text.lines, [](std::string_view line) {
    return line.starts_with("KERNEL_") || line.starts_with("__kernel") ||
           line.starts_with("extern \"C\" __global__");
  });
}

/// Says in which headers of `rung` its kernel is, where several rungs share it.
void name_kernel(const Text& rung, const std::vector<Text>& texts) {
  if (has_kernel(rung)) return;
  Words headers;
  for (std::string_view line : rung.lines)
    for (const Text& text : texts)
      if (line == fmt::format("#include \"{}\"", text.name) && has_kernel(text))
        headers.insert(text.name);
  for (std::string_view header : headers)
    fmt::print("\nIts kernel is in {0}: `trine ladder {1} --source {0}`.", header, rung.operation);
  if (!headers.empty()) fmt::print("\n");
}

}  // namespace

int show_source(const std::string& rung, const std::vector<Operation>& operations) {
  const std::string wanted = rung.substr(0, rung.find(':'));
  const std::vector<Text> texts = all_texts();
  std::set<std::string_view> known;
  bool found = false;
  for (Operation operation : operations) {
    std::vector<Text> called;
    for (const Text& text : texts) {
      if (text.operation != name(operation)) continue;
      known.insert(text.name);
      if (text.name == wanted) called.push_back(text);
    }
    if (called.empty()) continue;
    if (found) fmt::print("\n");
    found = true;
    print_texts(called);
    name_kernel(called.front(), texts);
  }
  if (found) return kExitGood;
  throw Refusal(fmt::format("no kernel text '{}'; there are: {}.{}", wanted, nearest(wanted, known),
                            did_you_mean(wanted, known)));
}

}  // namespace trine::bench
