// The names that the public headers declare, for lists that have all of them.
#pragma once

#include <fstream>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <string>

namespace trine::testing {

using Names = std::set<std::string>;

/// A header's text without comments.
inline std::string text_of(const std::string& header) {
  std::ifstream file(TRINE_TEST_SOURCE + header);
  std::stringstream text;
  text << file.rdbuf();
  return std::regex_replace(text.str(), std::regex(R"(//[^\n]*|/\*[^*]*\*+([^/*][^*]*\*+)*/)"), "");
}
inline std::string text_of(std::initializer_list<const char*> folder_and_names,
                           const char* extension) {
  std::string text;
  const char* const folder = *folder_and_names.begin();
  for (const char* const name : std::span(folder_and_names).subspan(1))
    text += text_of(std::string(folder) + name + extension);
  return text;
}
inline std::string c_headers() {
  return text_of({"core/include/trine/c/", "types", "device", "queue", "buffer", "operations",
                  "place", "host", "exact_sum", "partial", "tuning"},
                 ".h");
}

/// The first group of `pattern` in each match.
inline Names found_in(const std::string& text, const char* pattern) {
  Names names;
  const std::regex expression(pattern);
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at)
    names.insert((*at)[1]);
  return names;
}

}  // namespace trine::testing
