// Tests of the launches of CUDA's host code: names, grids, arguments, big shared memory. The check
// that passes on the right grid must also see a planted wrong one.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "abi_objects.hpp"
#include "backends/gpu/architecture.hpp"
#include "backends/gpu/objects.hpp"
#include "backends/gpu/specialization.hpp"
#include "fake_cuda.hpp"
#include "injector.hpp"

namespace {

trine::cuda::Driver planted;  // the fake's table with launches that lose a group

trine::cuda::Result lose_a_group(trine::cuda::Function function, unsigned gx, unsigned gy,
                                 unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                 unsigned dynamic, trine::cuda::Stream stream, void** arguments,
                                 void** extra) {
  return fake_cuda::table().cuLaunchKernel(function, gx > 1 ? gx - 1 : 1, gy, gz, bx, by, bz,
                                           dynamic, stream, arguments, extra);
}

trine::cuda::Result lose_a_group_early(const trine::cuda::LaunchConfig* config,
                                       trine::cuda::Function function, void** arguments,
                                       void** extra) {
  trine::cuda::LaunchConfig less = *config;
  if (less.grid[0] > 1) --less.grid[0];
  return fake_cuda::table().cuLaunchKernelEx(&less, function, arguments, extra);
}

struct CudaLaunch : testing::Test {
  void SetUp() override {
    fake_cuda::reset();
    faults::plan.reset();
    trine::cuda::replace_driver(&fake_cuda::table());
    ASSERT_EQ(trine_backend_v1(&host.services, &backend), TRINE_OK);
  }
  void TearDown() override { EXPECT_EQ(host.alive, 0); }

  /// Launches a call and returns what reached the driver.
  std::vector<fake_cuda::Launch> launch(const faults::Device& gpu, const trine_call& call,
                                        const std::string& rung,
                                        const trine_workspace* room = nullptr) {
    const auto queue = gpu.queue();
    const trine_selection selection = gpu.select(call.operation, rung);
    const auto before = fake_cuda::launches().size();
    gpu.check(backend->launch(queue.get(), &selection, &call, room));
    gpu.wait(queue);
    return {fake_cuda::launches().begin() + static_cast<long>(before), fake_cuda::launches().end()};
  }

  /// The same of a transpose.
  std::vector<fake_cuda::Launch> transpose(const char* rung, int64_t rows, int64_t cols) {
    const faults::Device gpu(*backend);
    const auto bytes = static_cast<uint64_t>(rows * cols * 4);
    const auto in = gpu.buffer(bytes), out = gpu.buffer(bytes);
    input = gpu.native(in);
    output = gpu.native(out);
    const trine_transpose op = faults::transpose_of(input, output, rows, cols);
    return launch(gpu, {sizeof(trine_call), TRINE_TRANSPOSE, &op}, rung);
  }

  /// The same of C = A B, in f64 where the rung is for it, else f32; `input` is A, `output` is C.
  std::vector<fake_cuda::Launch> gemm(const std::string& rung, int64_t m, int64_t n, int64_t k) {
    const bool f64 = rung.starts_with("tensor");
    const faults::Device gpu(*backend);
    const int64_t bytes = f64 ? 8 : 4;
    const auto a = gpu.buffer(static_cast<uint64_t>(m * k * bytes)),
               b = gpu.buffer(static_cast<uint64_t>(k * n * bytes)),
               c = gpu.buffer(static_cast<uint64_t>(m * n * bytes));
    input = gpu.native(a);
    output = gpu.native(c);
    const trine_gemm op =
        faults::gemm_of(f64, faults::dense(input, m, k), faults::dense(gpu.native(b), k, n),
                        faults::dense(output, m, n));
    return launch(gpu, {sizeof(trine_call), TRINE_GEMM, &op}, rung);
  }

  inline static faults::Host host;
  const trine_backend* backend = nullptr;
  void *input = nullptr, *output = nullptr;
};

/// Tests for which a build must have code of 9.0 alone, 8.6 and 10.0.
struct CudaLaunchOfAll : CudaLaunch {
  static bool runs_on(int device, const char* lowest = nullptr) {
    bool runs = false;
    trine::gpu::visit_architectures(
        TRINE_CUDA_ARCHITECTURES, lowest,
        [&](auto& one, std::string_view) { runs = runs || one.runs_on(device); });
    return runs;
  }
  void SetUp() override {
    if (!runs_on(90, "90a") || !runs_on(86) || !runs_on(100))
      GTEST_SKIP() << "this build has code for " TRINE_CUDA_ARCHITECTURES " only";
    CudaLaunch::SetUp();
  }
};

/// Do groups of x by y work-items, a group for each tile_rows x tile_cols, cover every element
/// once?
bool covers(const fake_cuda::Launch& launch, unsigned x, unsigned y, int64_t tile_rows,
            int64_t tile_cols, int64_t rows, int64_t cols) {
  const int64_t groups = (rows + tile_rows - 1) / tile_rows * ((cols + tile_cols - 1) / tile_cols);
  return launch.block[0] == x && launch.block[1] == y && launch.block[2] == 1 &&
         launch.grid[0] == groups && launch.grid[1] == 1 && launch.grid[2] == 1;
}

struct Geometry {
  const char *rung, *entry;
  unsigned x, y;
  int64_t tile_rows, tile_cols;
  bool seen(const std::vector<fake_cuda::Launch>& launches, int64_t rows, int64_t cols) const {
    return launches.size() == 1 && launches[0].name.starts_with(std::string(entry) + "__") &&
           covers(launches[0], x, y, tile_rows, tile_cols, rows, cols);
  }
};
constexpr Geometry kTransposes[] = {{"naive", "naive", 32, 32, 32, 32},
                                    {"shared", "shared", 32, 32, 32, 32},
                                    {"shared_padded", "shared_padded", 32, 32, 32, 32},
                                    {"multi_row", "multi_row", 32, 8, 32, 32}};
// volkov2008 computes the transposed problem: 64 columns of C by 16 rows.
constexpr Geometry kGemms[] = {{"naive", "naive", 16, 16, 16, 16},
                               {"shared", "shared", 32, 32, 32, 32},
                               {"read_only", "read_only_path", 32, 32, 32, 32},
                               {"ilp4", "ilp4", 32, 8, 32, 32},
                               {"ilp16", "ilp16", 16, 16, 64, 64},
                               {"volkov2008", "volkov2008", 64, 1, 16, 64},
                               {"warp_specialized", "warp_specialized", 384, 1, 128, 256},
                               {"tensor_specialized", "tensor_specialized", 384, 1, 128, 64}};

TEST_F(CudaLaunchOfAll, names_grid_and_arguments_reach_the_driver) {
  for (const Geometry& one : kTransposes) {
    const auto launches = transpose(one.rung, 101, 67);
    EXPECT_TRUE(one.seen(launches, 101, 67)) << one.rung;
    const auto& all = launches.at(0).arguments;
    EXPECT_EQ(all.at(0), reinterpret_cast<uint64_t>(input));
    EXPECT_NE(std::find(all.begin(), all.end(), reinterpret_cast<uint64_t>(output)), all.end());
  }
  for (const Geometry& one : kGemms) {
    const auto launches = gemm(one.rung, 131, 67, 19);
    EXPECT_TRUE(one.seen(launches, 131, 67)) << one.rung;
    const auto& all = launches.at(0).arguments;
    EXPECT_NE(std::find(all.begin(), all.end(), reinterpret_cast<uint64_t>(input)), all.end());
    EXPECT_NE(std::find(all.begin(), all.end(), reinterpret_cast<uint64_t>(output)), all.end());
  }
}

TEST_F(CudaLaunchOfAll, an_exact_products_first_and_last_kernels_are_those_of_other_variants) {
  const faults::Device gpu(*backend);
  const auto a = gpu.buffer(1 << 16), b = gpu.buffer(1 << 16), c = gpu.buffer(1 << 16);
  const auto space = gpu.buffer(1 << 20);
  const trine_workspace room{sizeof room, gpu.native(space), 0, 1 << 20};
  for (const bool f64 : {false, true}) {
    trine_gemm op =
        faults::gemm_of(f64, faults::dense(gpu.native(a), 65, 19),
                        faults::dense(gpu.native(b), 19, 67), faults::dense(gpu.native(c), 65, 67));
    op.numerics = TRINE_EXACT;
    const trine_call call{sizeof call, TRINE_GEMM, &op};
    const std::string rung = f64 ? "bounded" : "tensor_specialized",
                      type = f64 ? "double" : "float";
    const auto launches = launch(gpu, call, rung, &room);
    ASSERT_EQ(launches.size(), 3u);
    // Chains of f32 are added when they and the bounds are there.
    const auto& norms = launches[f64 ? 0 : 1];
    EXPECT_EQ(norms.name, "norms__" + type);
    EXPECT_EQ(launches[f64 ? 1 : 0].name,
              f64 ? "bounded__double" : "tensor_specialized__float_128x64_nn_0_0");
    EXPECT_EQ(launches[2].name, f64 ? "one_by_one__double" : "add_chains__float");
    for (const auto& one : launches) EXPECT_TRUE(one.begins_early) << one.name;
    // 9 parts of A's rows and 9 of B's columns; 4355 elements have 137 words of marks, if any.
    EXPECT_EQ(norms.grid[0], 18u);
    EXPECT_EQ(norms.arguments.at(20), f64 ? 137u : 0u);
    EXPECT_EQ(norms.arguments.back(), f64 ? 0u : 1u) << "is it beside the product?";
    if (f64) { EXPECT_EQ(launches[2].arguments.at(31), 137u); }
    (f64 ? void(op.alpha.f64 = 0) : void(op.alpha.f32 = 0));
    EXPECT_EQ(launch(gpu, call, rung, &room).size(), 1u) << "nothing is multiplied";
  }
}

TEST_F(CudaLaunchOfAll, kernels_that_await_earlier_launches_begin_while_those_end) {
  const auto begins_early = [&](const char* rung) {
    return gemm(rung, 131, 67, 19).at(0).begins_early;
  };
  EXPECT_TRUE(begins_early("warp_specialized"));
  EXPECT_TRUE(begins_early("few_columns"));
  EXPECT_FALSE(begins_early("naive"));
  EXPECT_TRUE(gemm("small", 31, 17, 19).at(0).begins_early);
  EXPECT_TRUE(transpose("vector", 101, 67).at(0).begins_early);
  EXPECT_FALSE(transpose("multi_row", 101, 67).at(0).begins_early);
  fake_cuda::set_compute_capability(8, 6);  // whose code awaits nothing
  EXPECT_FALSE(transpose("vector", 101, 67).at(0).begins_early);
  fake_cuda::set_compute_capability(10, 0);  // which 90a isn't for: the driver compiles PTX of 80
  EXPECT_FALSE(transpose("vector", 101, 67).at(0).begins_early);
  fake_cuda::set_compute_capability(9, 0);
  setenv("CUDA_FORCE_PTX_JIT", "1", 1);  // the driver compiles PTX of 80, which awaits nothing
  EXPECT_FALSE(transpose("vector", 101, 67).at(0).begins_early);
  unsetenv("CUDA_FORCE_PTX_JIT");
  EXPECT_TRUE(transpose("vector", 101, 67).at(0).begins_early);
  fake_cuda::set_version(12020);  // whose captured streams refuse such launches
  EXPECT_FALSE(begins_early("warp_specialized"));
}

TEST_F(CudaLaunchOfAll, a_planted_wrong_grid_is_seen) {
  planted = fake_cuda::table();
  planted.cuLaunchKernel = lose_a_group;
  planted.cuLaunchKernelEx = lose_a_group_early;
  trine::cuda::replace_driver(&planted);
  for (const Geometry& one : kTransposes)
    EXPECT_FALSE(one.seen(transpose(one.rung, 101, 67), 101, 67)) << one.rung;
  for (const Geometry& one : kGemms)
    EXPECT_FALSE(one.seen(gemm(one.rung, 131, 67, 19), 131, 67)) << one.rung;
}

TEST_F(CudaLaunch, sums_go_over_levels_of_groups) {
  // 100,003 floats by 256 threads: the arguments are sum.h's.
  const faults::Device gpu(*backend);
  const auto in = gpu.buffer(100003 * 4), out = gpu.buffer(8), workspace = gpu.buffer(1 << 20);
  const trine_reduce op = faults::sum_of(gpu.native(in), gpu.native(out), 1, 100003);
  const trine_call call{sizeof call, TRINE_REDUCE, &op};
  const trine_workspace room{sizeof room, gpu.native(workspace), 0, 1 << 20};
  struct Expected {
    const char *rung, *name;
    std::vector<unsigned> grids;
  };
  for (const Expected& e :
       {Expected{"interleaved_strided", "sum__float", {391, 2, 1}},
        Expected{"first_add", "sum__float", {196, 1}},
        Expected{"unroll_last_warp", "sum__float", {196, 1}},
        Expected{"unroll_all", "sum__float_256", {196, 1}},
        Expected{"cascade", "sum__float", {49, 1}}, Expected{"shuffle", "sum__float", {49, 1}},
        Expected{"vector_loads", "sum__float", {49, 1}}}) {
    const auto launches = launch(gpu, call, e.rung, &room);
    ASSERT_EQ(launches.size(), e.grids.size()) << e.rung;
    for (size_t i = 0; i < launches.size(); ++i) {
      EXPECT_EQ(launches[i].name, e.name) << e.rung;
      EXPECT_EQ(launches[i].grid[0], e.grids[i]) << e.rung;
      EXPECT_EQ(launches[i].block[0], 256u) << e.rung;
      EXPECT_EQ(launches[i].arguments.at(3), i == 0 ? 100003 : e.grids[i - 1]) << e.rung;
      EXPECT_EQ(launches[i].i32(10), static_cast<int>(i)) << "level";
    }
    EXPECT_EQ(launches[0].arguments.at(0), reinterpret_cast<uint64_t>(op.input.memory));
    EXPECT_EQ(launches[0].arguments.at(8), reinterpret_cast<uint64_t>(op.output.memory));
  }
}

TEST_F(CudaLaunch, every_specialization_of_every_variant_is_an_entry_of_its_program) {
  // The fake driver finds a function only if the generator printed it.
  const faults::Device gpu(*backend);
  const auto queue = gpu.queue();
  int specializations = 0;
  for (int r = 0; const trine::gpu::Variant* row = trine::gpu::variant_at(r); ++r) {
    if (!(row->backends & trine::gpu::kCuda) || gpu.device->lacks(*row)) continue;
    trine::gpu::Plan plan;
    for (bool more = trine::gpu::first_specialization(*row, plan.macro); more;
         more = trine::gpu::next_specialization(*row, plan.macro)) {
      for (size_t e = 0; e < row->kernels().size(); ++e, ++specializations) {
        plan.launch_count = 0;
        plan.add(static_cast<int>(e));
        if (row->operation == 0) continue;  // the fake computes these, from arguments
        EXPECT_NO_THROW(queue->launch(*row, plan)) << row->name << " " << row->kernels()[e];
      }
    }
  }
  EXPECT_GT(specializations, 10);
}

TEST_F(CudaLaunch, a_big_arena_gets_leave_first) {
  const faults::Device gpu(*backend);
  const auto queue = gpu.queue();
  trine::gpu::Plan plan;
  plan.add(0);
  const trine::gpu::Variant* row = nullptr;
  for (int r = 0; (row = trine::gpu::variant_at(r)) && row->operation != TRINE_TRANSPOSE; ++r) {}
  ASSERT_NE(row, nullptr);
  ASSERT_TRUE(trine::gpu::first_specialization(*row, plan.macro));
  for (const uint32_t bytes : {48u * 1024, 200u * 1024}) {
    plan.launches[0].dynamic_local_bytes = bytes;
    EXPECT_NO_THROW(queue->launch(*row, plan)) << bytes;
    EXPECT_EQ(fake_cuda::launches().back().dynamic_bytes, bytes);
  }
}

TEST_F(CudaLaunchOfAll, a_default_that_does_not_run_here_leaves_the_call_to_the_next) {
  const trine_gemm op = faults::gemm_of(true, 512);
  const trine_call call{sizeof call, TRINE_GEMM, &op};
  for (const int shared : {232448, 101376, 49152}) {  // of 9.0 and 12.0, and too little
    fake_cuda::reset();
    fake_cuda::set_shared_memory(shared);
    trine::gpu::forget_checks();
    const faults::Device gpu(*backend);
    const auto before = fake_cuda::launches().size();
    EXPECT_EQ(gpu.choice(call), "register_tile") << "the fake's tensor cores compute nothing";
    std::string tried;
    for (size_t l = before; l < fake_cuda::launches().size(); ++l)
      if (fake_cuda::launches()[l].name.starts_with("tensor"))
        tried = fake_cuda::launches()[l].name;
    EXPECT_EQ(tried, shared > 163840 ? "tensor_specialized__double_128x64_nt_1_0" : "");
  }
  fake_cuda::reset();
  trine::gpu::forget_checks();
  planted = fake_cuda::table();
  {  // what fails during a capture is no verdict
    planted.cuMemsetD8Async = [](trine::cuda::Pointer, unsigned char, size_t, trine::cuda::Stream) {
      return 900;
    };
    const faults::Device gpu(*backend);
    trine::cuda::replace_driver(&planted);
    EXPECT_THROW(gpu.choice(call), faults::Refused);
    trine::cuda::replace_driver(&fake_cuda::table());
    std::string why;
    EXPECT_EQ(gpu.choice(call, &why), "register_tile");
    EXPECT_NE(why.find("tensor_specialized's self-check failed"), why.npos) << why;
  }
  fake_cuda::reset();
  trine::gpu::forget_checks();
  planted = fake_cuda::table();
  planted.cuFuncSetAttribute = [](trine::cuda::Function, int, int) { return 1; };
  trine::cuda::replace_driver(&planted);
  const faults::Device gpu(*backend);
  std::string why;
  EXPECT_EQ(gpu.choice(call, &why), "register_tile");
  EXPECT_NE(why.find("self-check can't run here: cuda:0: cuFuncSetAttribute"), why.npos) << why;
  const trine_selection named = gpu.select(TRINE_GEMM, "tensor_specialized");
  char reason[200];
  EXPECT_EQ(backend->refuses(gpu.device, &named, &call, reason, sizeof reason),
            TRINE_BACKEND_ERROR);
  EXPECT_NE(std::string(backend->last_error()).find("tensor_specialized's self-check can't run"),
            std::string::npos)
      << backend->last_error();
  trine::gpu::forget_checks();
}

TEST_F(CudaLaunch, a_device_that_contracts_is_refused_what_must_reproduce) {
  fake_cuda::set_probe_fuses(true);
  trine::gpu::forget_checks();
  {
    const faults::Device gpu(*backend);
    trine_device_facts facts{};
    facts.size = sizeof facts;
    gpu.check(backend->device_facts(gpu.device, &facts));
    EXPECT_FALSE(facts.capabilities & TRINE_CAN_REPRODUCE);
    EXPECT_NE(std::string(facts.probe).find("uncontracted"), std::string::npos) << facts.probe;
    const trine_gemm op = faults::gemm_of(false, 8);
    const trine_call call{sizeof call, TRINE_GEMM, &op};
    const trine_selection naive = gpu.select(TRINE_GEMM, "naive");
    char reason[200];
    EXPECT_EQ(backend->refuses(gpu.device, &naive, &call, reason, sizeof reason),
              TRINE_UNSUPPORTED);
    EXPECT_NE(std::string(reason).find("probe"), std::string::npos) << reason;
  }
  trine::gpu::forget_checks();
}

TEST_F(CudaLaunch, a_device_without_code_for_it_says_so) {
  const auto refusal = [&](int major, int minor, const char* rung) {
    fake_cuda::set_compute_capability(major, minor);
    const faults::Device gpu(*backend);
    const trine_gemm op = faults::gemm_of(false, 512);
    const trine_call call{sizeof call, TRINE_GEMM, &op};
    const trine_selection named = gpu.select(TRINE_GEMM, rung);
    char reason[200];
    EXPECT_EQ(backend->refuses(gpu.device, &named, &call, reason, sizeof reason),
              TRINE_UNSUPPORTED);
    return std::string(reason);
  };
  const std::string of_the_build = refusal(7, 5, "naive");
  EXPECT_NE(of_the_build.find(TRINE_CUDA_ARCHITECTURES " only: name"), std::string::npos)
      << of_the_build;
  EXPECT_EQ(refusal(10, 0, "warp_specialized"),
            "it is compiled for architectures that this device isn't (see its requirement)");
}

TEST(Architectures, run_where_they_should) {
  using trine::gpu::parse_architecture;
  EXPECT_TRUE(parse_architecture("80").runs_on(80));
  EXPECT_TRUE(parse_architecture("80").runs_on(86));
  EXPECT_TRUE(parse_architecture("80").runs_on(120)) << "by its PTX";
  EXPECT_FALSE(parse_architecture("80").runs_on(75));
  EXPECT_FALSE(parse_architecture("80-real").runs_on(90));
  EXPECT_FALSE(parse_architecture("90a-real").runs_on(100));
  EXPECT_TRUE(parse_architecture("90a-real").runs_on(90));
  EXPECT_TRUE(parse_architecture("90a-virtual").runs_on(90));
  EXPECT_FALSE(parse_architecture("90a").runs_on(100)) << "nor by its PTX";
  EXPECT_TRUE(parse_architecture("100f").runs_on(103));
  EXPECT_FALSE(parse_architecture("100f").runs_on(120));
  const auto kept = [](const char* list, const char* lowest) {
    std::string words;
    trine::gpu::visit_architectures(list, lowest, [&](auto& one, std::string_view word) {
      words += std::string(word) + (one.ptx ? "+" : "") + " ";
    });
    return words;
  };
  EXPECT_EQ(kept("75,80,90a-real,100", "80"), "80+ 90a 100+ ");
  EXPECT_EQ(kept("75,80,90a-real,100", "90a"), "90a ");
  EXPECT_EQ(kept("90-virtual,90a-real", "90a"), "90a+ ") << "once";
  EXPECT_EQ(kept("80,120", "90a"), "");
}

}  // namespace
