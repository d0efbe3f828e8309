#include "documents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace trine::bench {
namespace {

constexpr double kUnstated = std::numeric_limits<double>::quiet_NaN();

Problem sum_of(Dtype dtype, int64_t n) {
  Problem p;
  p.operation = Operation::reduce;
  p.dtype = dtype;
  p.result = result_dtype(Function::sum, Map::identity, dtype);
  p.size = {n, 1, 0};
  p.layout = default_layout(p.operation);
  return p;
}

Problem square(Operation operation, Dtype dtype, int64_t n) {
  Problem p;
  p.operation = operation;
  p.dtype = p.result = dtype;
  p.size = {n, n, operation == Operation::gemm ? n : 0};
  p.layout = default_layout(operation);
  return p;
}

// --- 000 "CUDA: Analysis", V100 -----------------------------------------------------------------

SourceDocument analysis() {
  const Problem sum = sum_of(Dtype::f32, int64_t{1} << 26);
  Table reduction{"Reduction of 2^26 f32",
                  "threads=256, finish=recursive; unroll_all, 003's kernel 6, is not in its table",
                  {Figure::milliseconds, Figure::gigabytes, Figure::step, Figure::cumulative},
                  {}};
  const auto add = [&](const char* label, const char* rung, std::vector<double> published) {
    reduction.lines.push_back({label, "", fmt::format("{}:threads=256,finish=recursive", rung), sum,
                               std::move(published)});
  };
  add("naive (interleaved, divergent)", "interleaved_divergent",
      {2.696, 99.57, kUnstated, kUnstated});
  add("strided access", "interleaved_strided", {1.594, 168.4, 1.69, 1.69});
  add("sequential access", "sequential", {1.248, 215.09, 1.28, 2.16});
  add("first add before reduce", "first_add", {0.655, 409.83, 1.91, 4.12});
  add("unroll last warp", "unroll_last_warp", {0.454, 591.27, 1.44, 5.94});
  add("complete unrolling", "unroll_all", {});
  add("multiple elements a thread", "cascade", {0.355, 756.16, 1.28, 7.59});

  Table transposition{
      "Transpose, 1024 x 1024, 10^9 elements/s by block", "f32", {Figure::gigaelements}, {}};
  const Problem matrix = square(Operation::transpose, Dtype::f32, 1024);
  const struct {
    const char *label, *rung;
    double published[3];
  } rows[] = {{"naive", "naive", {13.80, 23.83, 21.85}},
              {"shared memory", "shared", {29.13, 40.33, 21.85}},
              {"shared memory, padded", "shared_padded", {43.69, 45.49, 21.85}}};
  for (const auto& row : rows)
    for (int i = 0; i < 3; ++i) {
      const int block = 32 >> i;
      transposition.lines.push_back({row.label,
                                     fmt::format("{0}x{0}", block),
                                     fmt::format("{}:block={}", row.rung, block),
                                     matrix,
                                     {row.published[i]}});
    }
  return {"000", "CUDA: Analysis (V100)", {reduction, transposition}, ""};
}

// --- 001 "Introduction to CUDA and OpenCL", lab 09 -----------------------------------------------

SourceDocument introduction() {
  const Problem sum = sum_of(Dtype::i32, int64_t{1} << 24);
  Table table{"Integer reduction, the kernel and the whole program",
              "n = 2^24, threads=256, finish=recursive",
              {Figure::milliseconds, Figure::whole_milliseconds},
              {{"naive (modulo, divergent)",
                "",
                "interleaved_divergent:threads=256,finish=recursive",
                sum,
                {4.238, 30.1}},
               {"optimized (sequential)",
                "",
                "sequential:threads=256,finish=recursive",
                sum,
                {4.098, 28.7}},
               {"one CPU thread", "", "sequential", sum, {kUnstated, 17.2}, Site::cpu_thread},
               {"all CPU threads, its wish",
                "",
                "kokkos_reduce",
                sum,
                {kUnstated, kUnstated},
                Site::cpu_all}}};
  return {
      "001",
      "Introduction to CUDA and OpenCL, lab 09",
      {table},
      "Its conclusion: one pass over host data loses to the CPU because of the bus, whatever the "
      "kernel. `trine calibrate` prints from which size, on this machine."};
}

// --- 002 "CSE 260 PA2", half a K80 ---------------------------------------------------------------

Problem product_of(int64_t n) { return square(Operation::gemm, Dtype::f64, n); }

bool is_aligned(int64_t n) { return n % 64 == 0; }

std::string ilp16(const char* threads, const char* edges, int tw = 16) {
  return fmt::format("ilp16:tw={},threads={},edges={}", tw, threads, edges);
}

/// Its kernel without edge checks where N is a multiple of 64, as there.
std::string ilp16(const char* threads, int64_t n, int tw = 16) {
  return ilp16(threads, is_aligned(n) ? "aligned" : "guarded", tw);
}

Table steps_of_assignment() {
  return {"f64 gemm, n = 512",
          "",
          {Figure::gigaflops},
          {{"naive", "", "naive", product_of(512), {91.7}},
           {"16x16 shared tile", "", "shared:tile=16", product_of(512), {226.5}},
           {"32x32 shared tile", "", "shared:tile=32", product_of(512), {257.4}},
           {"32x8 threads, 4 outputs each", "", "ilp4", product_of(512), {361.7}}}};
}

struct Best {
  int64_t n;
  double best;
  const char* block;
  double naive;
};
constexpr Best kBests[] = {{256, 382.9, "16x16", 88.5},
                           {512, 719.1, "16x8", 91.7},
                           {1024, 693.0, "16x8", 90.2},
                           {2048, 717.2, "16x8", 87.7}};

Table best_blocks() {
  Table table{"f64 gemm, the document's best block and naive", "TW=16", {Figure::gigaflops}, {}};
  for (const Best& row : kBests) {
    const std::string label = fmt::format("N = {}, {}", row.n, row.block);
    table.lines.push_back(
        {label, "this block", ilp16(row.block, row.n), product_of(row.n), {row.best}});
    table.lines.push_back({label, "naive", "naive", product_of(row.n), {row.naive}});
  }
  return table;
}

Table against_blas() {
  Table table{
      "f64 gemm against BLAS on the multicore CPU",
      "TW=16; BLAS is OpenBLAS where its rung pack is there; multiples of 64 with the guarded "
      "kernel too",
      {Figure::gigaflops},
      {}};
  const struct {
    int64_t n;
    double blas, wide, square;
  } rows[] = {{256, 5.84, 357.3, 386.7},       {257, kUnstated, 304.4, 328.2},
              {329, kUnstated, 420.8, 401.9},  {511, kUnstated, 646.5, 506.8},
              {512, 17.4, 717.4, 612.7},       {513, kUnstated, 463.1, 411.2},
              {631, kUnstated, 581.5, 559.8},  {768, 45.3, 693.4, 625.8},
              {843, kUnstated, 542.6, 513.4},  {960, kUnstated, 709.4, 626.9},
              {1023, 73.7, 623.6, 577.6},      {1024, 73.6, 689.4, 640.3},
              {1025, 73.5, 573.3, 512.0},      {1374, kUnstated, 608.9, 550.6},
              {1536, kUnstated, 704.0, 634.1}, {1720, kUnstated, 664.5, 592.6},
              {1845, kUnstated, 630.8, 563.0}, {2047, 171, 643.6, 577.1},
              {2048, 182, 717.7, 640.7},       {2049, 175, 616.2, 546.9}};
  for (const auto& row : rows) {
    const std::string label = fmt::format("N = {}", row.n);
    const Problem p = product_of(row.n);
    table.lines.push_back({label, "BLAS", "openblas", p, {row.blas}, Site::cpu_all});
    table.lines.push_back({label, "16x8", ilp16("16x8", row.n), p, {row.wide}});
    table.lines.push_back({label, "16x16", ilp16("16x16", row.n), p, {row.square}});
    if (!is_aligned(row.n)) continue;
    for (const char* threads : {"16x8", "16x16"})
      table.lines.push_back(
          {label, fmt::format("{} guarded", threads), ilp16(threads, "guarded"), p, {kUnstated}});
  }
  table.over_first = true;
  return table;
}

/// A picture without printed figures.
Table against_widths() {
  Table table{"f64 gemm against TW", "threads=16x8", {Figure::gigaflops}, {}};
  for (const int64_t n : {256, 512, 1024, 2048})
    for (const int tw : {8, 16, 32})
      table.lines.push_back({fmt::format("N = {}", n),
                             fmt::format("TW={}", tw),
                             ilp16("16x8", n, tw),
                             product_of(n),
                             {kUnstated}});
  return table;
}

/// A picture, of which the best shape's figures are printed.
Table against_shapes() {
  Table table{"f64 gemm against the block shape", "TW=16", {Figure::gigaflops}, {}};
  for (const Best& row : kBests)
    for (const std::string threads : {"16x16", "16x8", "8x4", "4x4"})
      table.lines.push_back({fmt::format("N = {}", row.n),
                             threads,
                             ilp16(threads.c_str(), row.n),
                             product_of(row.n),
                             {threads == row.block ? row.best : kUnstated}});
  table.bests = true;
  table.roofline = {"N = 1024",
                    {{"nominal", 240, 1370, 45.6, 23.1}, {"measured", 154, 1370, 72.1, 36.5}}};
  return table;
}

SourceDocument assignment() {
  return {
      "002",
      "CSE 260 PA2 (half a K80: 1370 GF/s, 240 GB/s nominal, 154 GB/s measured)",
      {steps_of_assignment(), best_blocks(), against_blas(), against_widths(), against_shapes()},
      "Its kernel for multiples of 64 has no edge checks, and so has ours there. `trine roof` "
      "prints every rung under this machine's roofs."};
}

// --- 003 "Memory optimization", National Tsing Hua University ------------------------------------

SourceDocument lecture() {
  const Problem sum = sum_of(Dtype::i32, int64_t{1} << 22);
  Table table{"Reduction of 2^22 ints, 128 threads",
              "finish=recursive",
              {Figure::milliseconds, Figure::gigabytes, Figure::step, Figure::cumulative},
              {}};
  const struct {
    const char *label, *rung;
    double ms, gigabytes, step, cumulative;
  } rows[] = {
      {"1 interleaved, divergent", "interleaved_divergent", 8.054, 2.083, kUnstated, kUnstated},
      {"2 interleaved, bank conflicts", "interleaved_strided", 3.456, 4.854, 2.33, 2.33},
      {"3 sequential addressing", "sequential", 1.722, 9.741, 2.01, 4.68},
      {"4 first add during load", "first_add", 0.965, 17.377, 1.78, 8.34},
      {"5 unroll last warp", "unroll_last_warp", 0.536, 31.289, 1.8, 15.01},
      {"6 completely unrolled", "unroll_all", 0.381, 43.996, 1.41, 21.16},
      {"7 multiple elements a thread", "cascade", 0.268, 62.671, 1.42, 30.04}};
  const auto rung = [](const char* name) {
    return fmt::format("{}:threads=128,finish=recursive", name);
  };
  for (const auto& row : rows)
    table.lines.push_back(
        {row.label, "", rung(row.rung), sum, {row.ms, row.gigabytes, row.step, row.cumulative}});
  Table large{"Kernel 7 on 2^25 ints",
              "threads=128, finish=recursive",
              {Figure::gigabytes},
              {{"7 multiple elements a thread",
                "",
                rung("cascade"),
                sum_of(Dtype::i32, int64_t{1} << 25),
                {73}}}};
  Table finishes{"Kernel 7 by how its groups' sums become one",
                 "finish; the document launches again, as recursive does",
                 {Figure::gigabytes},
                 {}};
  for (const int bits : {22, 25})
    for (const char* finish : {"recursive", "atomic", "last_block"})
      finishes.lines.push_back({fmt::format("2^{}", bits),
                                finish,
                                fmt::format("cascade:threads=128,finish={}", finish),
                                sum_of(Dtype::i32, int64_t{1} << bits),
                                {kUnstated}});
  return {"003",
          "Memory optimization lecture (National Tsing Hua University)",
          {table, large, finishes},
          "Its other topics: `trine transfers` (pinned memory, streams, overlap), `trine ladder "
          "access` (coalescing, tiling, bank conflicts, structure of arrays)."};
}

// --- 004 "GPU Computing", Übung 6 ----------------------------------------------------------------

Table bandwidth_of(const char* title, const char* rung, const Curves& published) {
  Table table{title, "the sizes and thread counts", {Figure::gigabytes}, {}, published};
  for (int bits = 7; bits <= 22; ++bits) {
    const std::string label = fmt::format("2^{}", bits);
    const Problem sum = sum_of(Dtype::f32, int64_t{1} << bits);
    const double cpu = bits == 7 ? 0.5 : kUnstated;
    table.lines.push_back({label, "1 CPU thread", "sequential", sum, {cpu}, Site::cpu_thread});
    for (const int threads : {64, 128, 256, 512, 1024})
      table.lines.push_back({label,
                             fmt::format("{} threads", threads),
                             fmt::format("{}:threads={},finish=recursive", rung, threads),
                             sum,
                             {kUnstated}});
  }
  return table;
}

SourceDocument exercise() {
  return {"004",
          "GPU Computing, Übung 6",
          {bandwidth_of("Sum of f32, naive: bandwidth against size and threads",
                        "interleaved_divergent", {1.5, 38, 262144, 8192}),
           bandwidth_of("Sum of f32, sequential addressing: bandwidth against size and threads",
                        "sequential", {1.5, 73, kUnstated, 3000})},
          "Its peaks are about 38 and 73 GB/s, its break-even is just above 8192 and near 3000 "
          "elements."};
}

}  // namespace

const SourceDocument* find_document(std::string_view number) {
  static const SourceDocument all[] = {analysis(), introduction(), assignment(), lecture(),
                                       exercise()};
  for (const SourceDocument& document : all)
    if (document.number == number) return &document;
  return nullptr;
}

bool is_one_of(const Table& table, const std::vector<Operation>& operations) {
  return std::find(operations.begin(), operations.end(), table.lines[0].problem.operation) !=
         operations.end();
}

std::string_view heading(Figure figure) {
  switch (figure) {
    case Figure::milliseconds: return "ms";
    case Figure::whole_milliseconds: return "whole ms";
    case Figure::gigabytes: return "GB/s";
    case Figure::gigaelements: return "Gelem/s";
    case Figure::gigaflops: return "GF/s";
    case Figure::step: return "step";
    default: return "cumulative";
  }
}

}  // namespace trine::bench
