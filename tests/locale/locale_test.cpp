// Under a locale with a decimal comma: every function of the API that gives or takes text, by the
// list of its headers. No number in a text has a comma, or points between its digits' thousands.
#include <gtest/gtest.h>
#include <trine/trine.hpp>

#include <clocale>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace trine::testing {
namespace {

/// "12,5", "1.000.000".
bool is_local(const std::string& text) {
  return std::regex_search(text, std::regex("[0-9],[0-9]|[0-9]\\.[0-9]{3}\\."));
}

template <class Body>
std::string sentence(Body&& body) {
  try {
    body();
  } catch (const Error& error) { return error.what(); }
  return "nothing was refused";
}

struct Locale : ::testing::Test {
  const Device cpu = open("cpu");
  Queue queue{cpu};
  const std::vector<float> values = std::vector<float>(1 << 20, 0.125f);
  Buffer memory{cpu, 1 << 22};
  const View view = row_major(memory, Dtype::f32, 1000, 1000);
  const ConstHostView host = host_row_major(values.data(), Dtype::f32, 1000, 1000);
  const Reduce sum_of_it{.input = view, .output = vector(Buffer(cpu, 4), Dtype::f32, 1)};
  const HostOptions on_cpu{.device = "cpu"};

  Tuned row() const {
    return {.call = tuning_key(sum_of_it),
            .rung = "exact",
            .seconds = 0.00125,
            .default_seconds = 1234.5,
            .date = "2026-11-28"};
  }
  std::string receipt() const {
    Receipt receipt;
    std::vector<float> product(1);
    gemm(0.125, host_row_major(values.data(), Dtype::f32, 1, 1000),
         host_row_major(values.data(), Dtype::f32, 1000, 1), 1e300 * 0,
         host_vector(product.data(), Dtype::f32, 1), {.device = "cpu", .receipt = &receipt});
    return receipt.json();
  }
  std::string trade(double alpha) {
    return sentence([&] { axpby(queue, alpha, view, 1, view); });
  }

  /// A call of each function with numbers in its text: a sentence that it refuses with, or its
  /// text. kWithoutNumbers names the other functions.
  std::map<std::string, std::function<std::string()>> entries() {
    const auto said = [](auto body) { return [body] { return sentence(body); }; };
    const auto of = [](auto body) { return [body] { return std::string(body()); }; };
    return {
        {"row_major", said([this] {
           run(queue, Reduce{.input = row_major(memory, Dtype::f32, 2000, 2000),
                             .output = sum_of_it.output});
         })},
        {"col_major", said([this] {
           run(queue, Reduce{.input = col_major(memory, Dtype::f32, 2000, 2000),
                             .output = sum_of_it.output});
         })},
        {"vector", said([this] {
           run(queue,
               Reduce{.input = vector(memory, Dtype::f32, 2'000'000), .output = sum_of_it.output});
         })},
        {"batched", said([this] {
           run(queue,
               Transpose{.input = batched(memory, Dtype::f32, 1000, 1000, 1000), .output = view});
         })},
        {"copy", said([this] { copy(queue, host, row_major(memory, Dtype::f32, 1000, 999)); })},
        {"fill",
         said([this] { fill(queue, row_major(memory, Dtype::f32, 4000, 4000), &values[0]); })},
        {"backends", of([] {
           std::string text;
           for (const BackendInfo& backend : backends()) {
             text += backend.name + " " + backend.reason + "\n";
             for (const Facts& facts : backend.devices)
               text += facts.driver + " " + facts.probe + " " + facts.vendor + "\n";
           }
           return text;
         })},
        {"devices", of([] { return devices().at(0).driver; })},
        {"load_packs", of([] { return std::to_string(load_packs("/nowhere").size()); })},
        {"open", said([] { open("cpu:threads=1.5"); })},
        {"axpby", [this] { return trade(0.1) + trade(1e10 / 3); }},
        {"scalar", said([this] {
           scalar(queue, Arithmetic::add, 1e7 / 3, 1, vector(memory, Dtype::f32, 1));
         })},
        {"reduce", said([this] {
           reduce(Function::sum, Map::identity, Axis::each_row, host,
                  host_vector(const_cast<float*>(values.data()), Dtype::f32, 3), on_cpu);
         })},
        {"dot", said([this] {
           dot(host, host_row_major(values.data(), Dtype::f32, 999, 1000),
               host_vector(const_cast<float*>(values.data()), Dtype::f32, 1), Axis::all, on_cpu);
         })},
        {"transpose", said([this] {
           transpose(host,
                     host_row_major(const_cast<float*>(values.data()), Dtype::f32, 1000, 1001),
                     on_cpu);
         })},
        {"gemm", said([this] {
           gemm(0.1, host, host, 0,
                host_row_major(const_cast<float*>(values.data()), Dtype::f32, 1000, 1000), on_cpu);
         })},
        {"norm",
         said([this] { norm(host_row_major(values.data(), Dtype::u32, 1000, 1000), on_cpu); })},
        {"run", said([this] { run(queue, sum_of_it, "exact:threads=1.5"); })},
        {"choose", of([this] { return choose(cpu, sum_of_it).sentence(); })},
        {"place", of([this] {
           std::string text;
           for (const int repeats : {1, 1000})
             text += place(sum_of_it, Where::host, repeats, {&cpu, 1}).sentence;
           for (const Facts& facts : devices())
             text += place(sum_of_it, Where::host, 1, std::vector{cpu, open(facts.id)}).sentence;
           return text;
         })},
        {"calibrate", of([this] {
           std::string text;
           calibrate({&cpu, 1}, {.rounds = 1, .proceed = [&](std::string_view what, double done) {
                                   return text += what, text.size() < 2000 && done < 0.01;
                                 }});
           return text;
         })},
        {"calibration", of([this] { return calibration(cpu); })},
        {"break_even", of([this] {
           std::string text;
           const std::string other = devices().back().id;
           if (other == "cpu") return std::string("one device");
           for (const Crossing& one :
                break_even(Operation::gemm, {}, Dtype::f32, Where::host, cpu, open(other)))
             text += one.sentence;
           return text;
         })},
        {"json", of([this] { return receipt(); })},
        {"digest", of([this] { return digest(host); })},
        {"tuning", of([this] {
           const std::string path = save_tuning(cpu, {row()});
           const std::vector<Tuned> rows = tuning(cpu).rows;
           EXPECT_EQ(rows.at(0).seconds, 0.00125);
           EXPECT_EQ(rows.at(0).default_seconds, 1234.5);
           std::ifstream file(path);
           const std::string why = choose(cpu, sum_of_it).sentence();
           EXPECT_NE(why.find("tuned: 1.25 ms against 1.23e+03 s"), std::string::npos) << why;
           return std::string(std::istreambuf_iterator<char>(file), {}) + why;
         })},
        {"save_tuning", said([this] {
           Tuned wrong = row();
           wrong.seconds = -1234.5;
           save_tuning(cpu, {wrong});
         })},
        {"tuning_key", of([this] { return tuning_key(sum_of_it); })},
        {"forget_tuning",
         of([this] { return forget_tuning(cpu, tuning_key(sum_of_it)) ? "gone" : "none"; })},
        {"parse_dtype", said([] { parse_dtype("f1000"); })},
        {"parse_operation", said([] { parse_operation("1000"); })},
        {"parse_function", said([] { parse_function("1000"); })},
        {"parse_map", said([] { parse_map("1000"); })},
        {"parse_axis", said([] { parse_axis("1000"); })},
        {"parse_numerics", said([] { parse_numerics("1000"); })},
        {"version", of([] { return version(); })},
    };
  }
};

/// They give or take no number as text.
const std::set<std::string> kWithoutNumbers = {
    "search_path", "release_idle", "roofs",    "elapsed", "use_tuning", "uses_tuning",
    "name",        "result_dtype", "value_of", "view_of", "failed",     "canonical"};

TEST(AtFirst, TheLocaleHasACommaAndThousands) {
  char half[32];
  std::snprintf(half, sizeof half, "%.1f", 0.5);
  EXPECT_STREQ(half, "0,5");
  EXPECT_STREQ(std::localeconv()->thousands_sep, ".");
  std::ostringstream stream;
  stream << 0.5 << " " << 1000;
  EXPECT_EQ(stream.str(), "0,5 1.000");
  EXPECT_TRUE(is_local("12,5 us"));
  EXPECT_TRUE(is_local("1.000.000 bytes"));
  EXPECT_FALSE(is_local("12.5 us, 3 ms, 0.1.0"));
}

TEST_F(Locale, DoesNotShowInAnyText) {
  for (const auto& [name, text] : entries()) {
    const std::string said = text();
    EXPECT_FALSE(is_local(said)) << name << ": " << said;
    EXPECT_FALSE(said.empty()) << name;
    EXPECT_EQ(said.find("nothing was refused"), std::string::npos) << name;
  }
}

TEST_F(Locale, TheListIsThatOfTheHeaders) {
  const auto known = entries();
  std::set<std::string> found;
  for (const auto& header : std::filesystem::directory_iterator(TRINE_TEST_HEADERS)) {
    if (!header.is_regular_file()) continue;  // c/: every function of C is called in test locale.c
    std::ifstream file(header.path());
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const std::regex function("TRINE_API [^;{}()=]*?([a-z_]+)\\(");
    for (std::sregex_iterator at(text.begin(), text.end(), function), end; at != end; ++at)
      found.insert((*at)[1]);
  }
  found.erase("__attribute__");  // that TRINE_API is
  EXPECT_GT(found.size(), 40u);
  for (const std::string& name : found)
    EXPECT_TRUE(known.contains(name) || kWithoutNumbers.contains(name))
        << name << " is new: what does it say under a locale with a comma?";
}

}  // namespace
}  // namespace trine::testing
