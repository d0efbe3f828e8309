// The largest error of products over graded classes of values, in units of the last place: an exact
// product's is half of one. The errors of the others are recorded as properties of the test
// (--gtest_output=xml), those of rungs for fast numerics too, and of vendors where their packs are
// loaded.
#include <gtest/gtest.h>

#include <trine/abi.h>
#include <trine/trine.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "conformance/layout.hpp"

namespace trine::conformance {
namespace {

using oracle::Values;

constexpr Values kGraded[] = {Values::kUniform,  Values::kNearOne,     Values::kSmall,
                              Values::kGraded,   Values::kLoneHuge,    Values::kCancelModerate,
                              Values::kMirrored, Values::kProductTies, Values::kInverse};

/// One product on one device, whose C is written again for each way to compute it.
class Product {
 public:
  Product(const Device& device, uint32_t dtype, Values values)
      : host_(planned(dtype)), queue_(device) {
    oracle::fill(host_.op, values, 5);
    size_t index = 0;
    for (const oracle::Operand& o : oracle::operands(host_.op)) {
      const auto bytes = int64_t(host_.bytes(index++));
      const Buffer buffer(device, uint64_t(bytes));
      copy(queue_, host_vector(static_cast<const char*>(o.view->memory), Dtype::b8, bytes),
           vector(buffer, Dtype::b8, bytes));
      views_.push_back(view_in(buffer, 0, *o.view, dtype));
    }
  }

  double most_ulps(Numerics numerics, const std::string& rung = "") {
    run(queue_, Gemm{.a = views_[0], .b = views_[1], .c = views_[2], .numerics = numerics}, rung);
    Image found(host_.bytes(2));
    copy(queue_, all_of(views_[2].buffer), all_of(found));
    queue_.wait();
    const auto& op = std::get<trine_gemm>(host_.op);
    trine_view got = op.c;
    got.memory = found.data();
    return oracle::most_ulps(op, got);
  }

 private:
  static oracle::Operation planned(uint32_t dtype) { return oracle::plan_gemm(dtype, 40, 41, 300); }

  oracle::HostOperation host_;
  Queue queue_;
  std::vector<View> views_;
};

TEST(ulps, exact_products_are_off_by_half_of_one_at_most) {
  for (const Facts& found : devices()) {
    const Device device = open(found.id);
    const Facts facts = device.facts();  // its arithmetic is known once it is open
    for (const uint32_t dtype : {TRINE_F32, TRINE_F64}) {
      if ((facts.capabilities & TRINE_CAN_REPRODUCE) == 0) continue;
      if ((facts.capabilities & TRINE_CAN_F64) == 0) continue;
      for (const Values values : kGraded) {
        const std::string where =
            facts.id + " " + oracle::dtype_name(dtype) + " " + oracle::name_of(values) + " ";
        Product product(device, dtype, values);
        const auto record = [&](const std::string& way, double ulps) {
          RecordProperty(where + way, oracle::digits(ulps, 3));
        };
        const double exact = product.most_ulps(Numerics::exact);
        EXPECT_LE(exact, 0.5) << where;
        record("exact", exact);
        record("reproducible", product.most_ulps(Numerics::reproducible));
        record("fast", product.most_ulps(Numerics::fast));
        for (const RungInfo& rung : device.rungs(Operation::gemm))
          if (rung.numerics == Numerics::vendor)
            record(rung.name, product.most_ulps(Numerics::reproducible, rung.name));
          else if (rung.numerics == Numerics::fast && dtype == TRINE_F32)
            record(rung.name, product.most_ulps(Numerics::fast, rung.name));
      }
    }
  }
}

}  // namespace
}  // namespace trine::conformance
