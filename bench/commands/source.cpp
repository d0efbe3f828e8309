// `trine ladder --source RUNG`: the text of a rung's kernel, in CUDA and in OpenCL.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "bench/commands/ladder.hpp"
#include "bench/ui/error.hpp"
#include "kernel_texts.h"

namespace trine::bench {
namespace {

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
    // A header keeps its ending, because a rung may have its name.
    if (!name.ends_with(".h") || name.ends_with(".kernel.h")) name = name.substr(0, name.find('.'));
    texts.push_back(
        {file.name, parts.at(parts.size() - 2), name,
         split({reinterpret_cast<const char*>(file.data), file.size}, '\n')});  // NOLINT: bytes
  }
  return texts;
}

void print_alone(const Text& text, std::string_view remark) {
  fmt::print("{}{}\n", text.path, remark);
  for (std::string_view line : text.lines) fmt::print("{}\n", line);
}

/// The texts of one name and operation: one that is shared, one of a language alone, or a pair.
void print_texts(const std::vector<Text>& texts) {
  const std::string_view path = texts.front().path;
  if (texts.size() > 1) {
    print_alone(texts.front(), ":");
    fmt::print("\n");
    print_alone(texts.back(), ":");
  } else {
    print_alone(texts.front(), path.starts_with("backends/") ? ": one text for both languages"
                               : path.starts_with("cuda/")   ? ": CUDA alone"
                                                             : ": OpenCL alone");
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
  std::set<std::string_view> headers;
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
