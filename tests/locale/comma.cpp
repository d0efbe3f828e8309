// Preloaded into a program, it gives it a locale in which a half is "0,5" and a thousand "1.000":
// C's, which printf and strtod ask, and that of C++, which streams ask.
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <locale>
#include <string_view>

namespace {

struct German : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

[[gnu::constructor]] void begin() {
  char half[8] = "";
  if (std::setlocale(LC_ALL, "de_DE.UTF-8")) std::snprintf(half, sizeof half, "%.1f", 0.5);
  if (std::string_view(half) != "0,5") {
    std::fputs("comma: there is no locale de_DE.UTF-8 in LOCPATH (Debian: locales)\n", stderr);
    std::_Exit(1);
  }
  std::setlocale(LC_MESSAGES, "C");  // what the system says of errors stays English
  std::locale::global(std::locale(std::locale::classic(), new German));
}

}  // namespace
