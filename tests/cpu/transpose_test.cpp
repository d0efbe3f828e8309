// cpu's transpose rungs against the definition, byte by byte, on every SIMD target of this machine:
// all element sizes, sizes around the tiles and blocks, every pair of layouts, broadcast inputs,
// batches, misaligned views, and outputs large enough to be streamed. Every byte outside of the
// output's elements must survive.
#define HWY_WANT_AVX3_DL  // as simd_streaming has it
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "enclosed.hpp"
#include "rung.hpp"
#include "simd_targets.hpp"
#include "tests/faults/abi_objects.hpp"
#include "transpose/problem.hpp"

namespace trine::cpu {
namespace {

struct Side {
  bool by_row;                                     // unit stride along the columns
  std::int64_t pad;                                // elements between lines
  std::int64_t line_stride = -1, unit_stride = 1;  // broadcast: 0
};

struct Case {
  std::int64_t rows, cols, batch = 1;
  Side in{true, 0}, out{true, 0};
  std::int64_t in_shift = 0, out_shift = 0;  // bytes
  int threads = 3;
};

struct Memory {
  std::vector<unsigned char> bytes;
  trine_view view{};

  Memory(std::int64_t rows, std::int64_t cols, std::int64_t batch, const Side& side,
         std::int64_t size, std::int64_t shift, unsigned seed) {
    const std::int64_t line = (side.by_row ? cols : rows) + side.pad;
    const std::int64_t lines = side.by_row ? rows : cols;
    const std::int64_t step = side.line_stride < 0 ? line : side.line_stride;
    view.rows = rows;
    view.cols = cols;
    view.batch = batch;
    view.row_stride = side.by_row ? step : side.unit_stride;
    view.col_stride = side.by_row ? side.unit_stride : step;
    view.batch_stride = line * lines + side.pad;
    bytes.resize(static_cast<std::size_t>(256 + shift + (batch * view.batch_stride + 64) * size));
    for (auto& x : bytes) {
      seed = seed * 1664525u + 1013904223u;
      x = static_cast<unsigned char>(seed >> 24);
    }
    const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
    view.memory = bytes.data();
    view.offset = (64 - address % 64) % 64 + 64 + static_cast<std::uint64_t>(shift);
  }

  std::size_t at(std::int64_t b, std::int64_t i, std::int64_t j, std::int64_t size) const {
    return view.offset +
           static_cast<std::size_t>(
               size * (b * view.batch_stride + i * view.row_stride + j * view.col_stride));
  }
};

// With a workspace behind which nobody may write.
void run(const TransposeRung& rung, const trine_transpose& op,
         const std::int64_t* parameters = nullptr, int threads = 3) {
  TakingTurns parallel(threads);
  const Enclosed workspace(
      rung.workspace_bytes ? rung.workspace_bytes(op, parameters, parallel.threads()) : 0, true);
  rung.run(op, parameters, workspace.data(), parallel);
}

constexpr std::size_t kTooSmallToStream = 800'000;

void check(const Case& x, std::int64_t size) {
  const Memory in(x.rows, x.cols, x.batch, x.in, size, x.in_shift, 1);
  Memory out(x.cols, x.rows, x.batch, x.out, size, x.out_shift, 2);
  const std::vector<unsigned char> before = out.bytes;
  std::vector<unsigned char> want = before;
  transpose::visit_size(size, [&]<int kSize>() {
    for (std::int64_t b = 0; b < x.batch; ++b)
      for (std::int64_t i = 0; i < x.rows; ++i)
        for (std::int64_t j = 0; j < x.cols; ++j)
          std::memcpy(&want[out.at(b, j, i, kSize)], &in.bytes[in.at(b, i, j, kSize)], kSize);
  });
  trine_transpose op =
      faults::transpose_of(nullptr, nullptr, x.rows, x.cols, static_cast<std::uint32_t>(size));
  op.input = in.view;
  op.output = out.view;
  for (const TransposeRung& rung : transpose_rungs()) {
    const bool streams = &rung == &transpose_rungs().back();
    if (!streams && before.size() > kTooSmallToStream) continue;  // the others know no such size
    out.bytes.assign(before.begin(), before.end());               // in place: the view points there
    std::vector<std::int64_t> parameters;
    for (const trine_parameter& p : rung.parameters()) parameters.push_back(number_of(p.values[0]));
    run(rung, op, parameters.data(), x.threads);
    EXPECT_TRUE(out.bytes == want)
        << rung.row.name << " size " << size << " " << x.rows << "x" << x.cols << " batch "
        << x.batch << " by row " << x.in.by_row << x.out.by_row << " shifts " << x.in_shift << " "
        << x.out_shift;
  }
}

// `pad`: elements between the output's rows.
void check_enclosed(std::int64_t rows, std::int64_t cols, std::int64_t size, bool at_end,
                    std::int64_t pad = 0, int threads = 3) {
  const std::int64_t step = rows + pad;
  const auto bytes = static_cast<std::size_t>(rows * cols * size);
  const Enclosed in(bytes, at_end),
      out(bytes + static_cast<std::size_t>((cols - 1) * pad * size), at_end);
  for (std::size_t i = 0; i < bytes; ++i) in.data()[i] = static_cast<char>(i * 2654435761u >> 13);
  trine_transpose op =
      faults::transpose_of(in.data(), out.data(), rows, cols, static_cast<std::uint32_t>(size));
  op.output.row_stride = step;
  run(transpose_rungs().back(), op, nullptr, threads);
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) {
      wrong += std::memcmp(out.data() + (j * step + i) * size, in.data() + (i * cols + j) * size,
                           static_cast<std::size_t>(size)) != 0;
    }
  }
  EXPECT_EQ(wrong, 0) << size << " " << rows << "x" << cols << " at end " << at_end;
}

constexpr std::int64_t kSizes[] = {1, 2, 4, 8, 16};

class CpuTranspose : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};

TEST_P(CpuTranspose, agrees_at_sizes_around_its_tiles_in_every_layout) {
  for (std::int64_t size : kSizes) {
    for (std::int64_t rows : {0, 1, 2, 3, 7, 16, 33, 65, 130}) {
      for (std::int64_t cols : {0, 1, 2, 4, 15, 17, 64, 129}) {
        for (int layout = 0; layout < 4; ++layout) {
          check({rows, cols, 1, {layout % 2 == 0, 0}, {layout / 2 == 0, 0}}, size);
          check({rows, cols, 2, {layout % 2 == 0, 3}, {layout / 2 == 0, 5}}, size);
        }
      }
    }
  }
}

TEST_P(CpuTranspose, agrees_on_misaligned_views) {
  for (std::int64_t size : kSizes) {
    const std::int64_t least = size < 4 ? size : 4;
    for (std::int64_t shift = least; shift < 64; shift += 5 * least) {
      check({70, 150, 2, {true, 1}, {true, 0}, shift, 0}, size);
      check({70, 150, 2, {true, 0}, {true, 0}, 0, shift}, size);
      check({70, 150, 2, {true, 0}, {false, 7}, shift, shift}, size);
    }
  }
}

TEST_P(CpuTranspose, agrees_on_broadcast_inputs) {
  const Side sides[] = {{true, 0, 0}, {false, 0, 0}, {true, 0, -1, 0}, {true, 0, 0, 0}};
  for (std::int64_t size : kSizes) {
    for (const Side& in : sides) {
      for (bool by_row : {true, false}) {
        check({40, 90, 2, in, {by_row, 1}}, size);
        check({1, 90, 2, in, {by_row, 0}}, size);
        check({40, 1, 3, in, {by_row, 0}}, size);
      }
    }
  }
}

TEST_P(CpuTranspose, agrees_where_the_output_is_streamed) {
  for (std::int64_t size : kSizes) {
    const std::int64_t cols = 1040, rows = (2 << 20) / cols / size;
    const std::int64_t aligned = (rows + 63) / 64 * 64;
    check({aligned, cols}, size);
    check({aligned, cols, 1, {true, 2}, {true, 0}, 0, size < 4 ? size : 4}, size);
    check({aligned, cols, 1, {true, 0}, {true, 0}, 0, 3 * size}, size);
    check({rows | 1, cols + 3}, size);  // by strips
    // Matrices that a piece has some of, with more rows than a strip.
    if (size >= 4) check({2, 3000, 300 / size, {true, 0}, {true, 64 / size - 2}}, size);
    check({rows | 1, cols + 3, 1, {true, 0}, {true, 0}, 0, size < 4 ? size : 4}, size);
    check({rows | 1, cols + 3, 1, {true, 0}, {false, 0}, 0, size}, size);  // copied
    check({rows | 1, cols + 3, 1, {true, 9}, {false, 1}, size, 0}, size);
    for (const std::int64_t rows_of_many :
         {1024 / size, 1100 / size | 1, 4095 / size})  // strips of few lines
      check({rows_of_many, 2000, 1, {true, 0}, {true, 1}, 0, 0, 16}, size);
    check({9100 / size + 3, 640}, size);  // several strips in both directions
    check({9100 / size + 3, 640, 1, {true, 0}, {true, 0}, 0, 3 * (size < 4 ? size : 4)}, size);
    for (std::int64_t narrow : {2, 3, 4, 5}) {
      const std::int64_t many = (2 << 20) / narrow / size | 1;
      const std::int64_t shift = size < 4 ? size : 4;
      check({many / 64 * 64 + 64, narrow}, size);  // to aligned rows
      for (std::int64_t pad : {0, 1}) {            // packed, or with something between the lines
        check({narrow, many, 1, {true, pad}, {true, 0}, 0, shift}, size);
        check({many, narrow, 1, {true, pad}, {true, 0}, shift, 0}, size);
        check({narrow, many, 1, {true, 0}, {true, pad}}, size);
        check({many, narrow, 1, {true, 0}, {true, pad}}, size);
      }
    }
  }
}

// Rows of a few lines, which many threads cut into strips.
TEST_P(CpuTranspose, agrees_where_a_strip_has_few_lines) {
  for (std::int64_t size : kSizes) {
    const std::int64_t side = 64 / size, shift = size < 4 ? size : 4;
    for (int threads : {8, 16}) {
      for (std::int64_t lines : {2, 4}) {
        const std::int64_t whole = lines * side, cols = (2 << 20) / (64 * lines) | 1;
        for (std::int64_t by : {std::int64_t{0}, shift}) {
          check({whole, cols, 1, {true, 0}, {true, 0}, 0, by, threads}, size);
          for (std::int64_t pad : {std::int64_t{1}, side / 4, side - 1})  // whole lines apart
            check({whole - pad, cols, 1, {true, 0}, {true, pad}, 0, by, threads}, size);
        }
      }
    }
  }
}

TEST_P(CpuTranspose, touches_nothing_outside_its_operands) {
  for (std::int64_t size : kSizes) {
    for (bool at_end : {false, true}) {
      const std::int64_t many = (2 << 20) / size;
      for (std::int64_t narrow : {2, 3, 4}) {
        check_enclosed(narrow, many / narrow | 1, size, at_end);
        check_enclosed(many / narrow | 1, narrow, size, at_end);
      }
      check_enclosed(many / 1031 | 1, 1031, size, at_end);  // by the buffer
      check_enclosed(67, 45, size, at_end);
      const std::int64_t side = 64 / size;  // strips of few lines
      check_enclosed(4 * side - side / 4, 8192, size, at_end, side / 4, 8);
    }
  }
}

TEST_P(CpuTranspose, agrees_on_narrow_matrices_and_batches) {
  for (std::int64_t size : kSizes) {
    for (std::int64_t narrow : {1, 2, 3, 4, 5}) {
      check({narrow, 100000 / size}, size);
      check({100000 / size, narrow}, size);
      check({narrow, 3, 3000}, size);
      check({1, 1, 1000 * narrow}, size);
    }
  }
}

std::string target_name(const testing::TestParamInfo<std::int64_t>& info) {
  return hwy::TargetName(info.param);
}

INSTANTIATE_TEST_SUITE_P(targets, CpuTranspose,
                         testing::ValuesIn(hwy::SupportedAndGeneratedTargets()), target_name);

}  // namespace
}  // namespace trine::cpu
