// Runs checks of arithmetic on a device, and keeps their verdicts for the process.
#include "backends/gpu/objects.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>

#include "backends/gpu/specialization.hpp"
#include "backends/kit/bits.hpp"
#include "backends/kit/float_environment.hpp"

namespace trine::gpu {
namespace {

std::mutex check_mutex;  // one check at a time, and none twice

// The result of a variant's check on a device. Never destroyed: selections point to the words.
struct Kept {
  const Variant* variant;
  int device;
  Checked::Verdict verdict;
  std::string why;
  const Kept* next;
};
std::atomic<const Kept*> kept{nullptr};

struct Probed {
  bool known = false;
  bool f32, f64;
  char words[sizeof(trine_device_facts::probe)];
} probed[kMaxDevices];

// Fills `input`, runs the launches of `check` on it and brings their output to `output`.
void run_launches(trine_device& device, const Variant& variant, const SelfCheck& check, void* input,
                  void* output) {
  check.fill(input);
  std::unique_ptr<trine_queue> queue(device.create_queue());
  std::unique_ptr<trine_buffer> in(device.allocate(check.input_bytes, TRINE_MEMORY_DEVICE));
  std::unique_ptr<trine_buffer> out(device.allocate(check.output_bytes, TRINE_MEMORY_DEVICE));

  trine_copy there{};
  there.direction = TRINE_HOST_TO_DEVICE;
  there.source = input;
  there.target = in->facts.native;
  there.width = there.source_pitch = there.target_pitch = check.input_bytes;
  there.height = 1;
  trine_copy back = there;
  back.direction = TRINE_DEVICE_TO_HOST;
  back.source = out->facts.native;
  back.target = output;
  back.width = back.source_pitch = back.target_pitch = check.output_bytes;

  Plan plan;
  check.plan(device.target, in->facts.native, out->facts.native, plan);
  // The device's buffers must outlive a launch: whatever fails, wait before they go. Host memory,
  // which goes too, needs more than a wait, for that may fail as well.
  struct Wait {
    trine_queue& queue;
    ~Wait() {
      try {
        queue.wait();
      } catch (...) {  // the failure that brought us here says more
      }
    }
  } before_leaving{*queue};
  const unsigned char poison = 0xa5;
  queue->copy_and_wait(there);
  queue->fill(out->facts.native, 0, check.output_bytes, &poison, 1);
  queue->launch(variant, plan);
  queue->copy_and_wait(back);
}

// Runs the launches; whether `check` accepts their output.
bool run_check(trine_device& device, const Variant& variant, const SelfCheck& check) {
  kit::Vector<unsigned char> input(check.input_bytes), output(check.output_bytes);
  const kit::WholeFloatEnvironment ours;  // the caller's rounding must not decide what is right
  run_launches(device, variant, check, input.data(), output.data());
  return check.passes(input.data(), output.data());
}

// --- The probe -----------------------------------------------------------------------------------

constexpr int kTriples = 64;
constexpr uint64_t kInputBytes = kTriples * 3 * (sizeof(float) + sizeof(double));
constexpr uint64_t kOutputBytes = kTriples * 4 * (sizeof(float) + sizeof(double));

// Exponents near zero, near the smallest normal number and far apart; the last third of the triples
// nearly cancels (c = -a*b), which tells one rounding from two.
template <class Float, class Bits>
void make_triples(Float* triples, int mantissa_bits, uint64_t seed) {
  const int bias = (1 << (sizeof(Bits) * 8 - 2 - mantissa_bits)) - 1;
  auto random = [&seed] {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 11;
  };
  auto make = [&](int exponent) {
    const Bits bits = (Bits(random()) & ((Bits(1) << mantissa_bits) - 1)) |
                      (Bits(exponent) << mantissa_bits) |
                      (Bits(random() & 1) << (sizeof(Bits) * 8 - 1));
    Float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  };
  for (int i = 0; i < kTriples; ++i) {
    Float* t = triples + 3 * i;
    const int third = i % 3;
    t[0] = make(third == 0 ? int(random() % 4) : bias + int(random() % 16) - 8);
    t[1] = make(third == 1 ? int(random() % 4) : bias + int(random() % 16) - 8);
    t[2] = third == 2 ? -(t[0] * t[1]) : make(int(random() % 8));
  }
}

void fill_probe(void* input) {
  auto* f32 = static_cast<float*>(input);
  make_triples<float, uint32_t>(f32, 23, 1);
  make_triples<double, uint64_t>(reinterpret_cast<double*>(f32 + 3 * kTriples), 52, 2);
}

void plan_probe(const Target&, void* input, void* output, Plan& plan) {
  plan.add(0).memory(input).memory(output);
}

constexpr SelfCheck kProbe = {kInputBytes, kOutputBytes, fill_probe, plan_probe, nullptr};

struct Wrong {
  int fma = 0, contracted = 0, product = 0, sum = 0;
  bool any() const { return fma || contracted || product || sum; }
};

template <class Float>
Wrong compare(const Float* triples, const Float* answers) {
  Wrong wrong;
  const auto differs = [](Float a, Float b) { return kit::bits_of(a) != kit::bits_of(b); };
  for (int i = 0; i < kTriples; ++i) {
    const volatile Float a = triples[3 * i], b = triples[3 * i + 1], c = triples[3 * i + 2];
    const Float product = a * b, two_roundings = product + c, sum = a + c;
    wrong.fma += differs(answers[4 * i], std::fma(Float(a), Float(b), Float(c)));
    wrong.contracted += differs(answers[4 * i + 1], two_roundings);
    wrong.product += differs(answers[4 * i + 2], product);
    wrong.sum += differs(answers[4 * i + 3], sum);
  }
  return wrong;
}

std::string in_words(const Wrong& wrong) {
  if (!wrong.any()) return "fma, roundings and denormals are right";
  char text[100];
  std::snprintf(text, sizeof text,
                "of %d answers, wrong are fma %d, uncontracted %d, product %d, sum %d", kTriples,
                wrong.fma, wrong.contracted, wrong.product, wrong.sum);
  return text;
}

void run_probe(trine_device& device, Probed& result) {
  kit::Vector<float> answers(kOutputBytes / sizeof(float)), triples(kInputBytes / sizeof(float));
  run_launches(device, probe_variant(), kProbe, triples.data(), answers.data());
  const Wrong f32 = compare(triples.data(), answers.data());
  const Wrong f64 = compare(reinterpret_cast<const double*>(triples.data() + 3 * kTriples),
                            reinterpret_cast<const double*>(answers.data() + 4 * kTriples));
  const bool has_f64 = device.target.has(TRINE_CAN_F64);
  result.f32 = !f32.any();
  result.f64 = has_f64 && !f64.any();
  const std::string words =
      "f32: " + in_words(f32) + (has_f64 ? "; f64: " + in_words(f64) : "; no f64");
  std::snprintf(result.words, sizeof result.words, "%s", words.c_str());
}

}  // namespace

Checked known_check(const trine_device& device, const Variant& variant) {
  if (variant.self_checks.empty() || (variant.self_check_on & device.target.backend) == 0)
    return {Checked::kPassed, nullptr};
  for (const Kept* one = kept.load(std::memory_order_acquire); one; one = one->next) {
    if (one->variant == &variant && one->device == device.index)
      return {one->verdict, one->why.empty() ? nullptr : one->why.c_str()};
  }
  return {Checked::kUnknown, nullptr};
}

Checked check_itself(trine_device& device, const Variant& variant) {
  if (const Checked known = known_check(device, variant); known.verdict) return known;
  std::lock_guard lock(check_mutex);
  if (const Checked known = known_check(device, variant); known.verdict) return known;
  std::unique_ptr<Kept> fresh(new Kept{&variant, device.index, Checked::kPassed, {}, kept});
  const std::string who = std::string(variant.name) + "'s self-check ";
  try {
    if (!std::ranges::all_of(variant.self_checks, [&](const SelfCheck& check) {
          return run_check(device, variant, check);
        })) {
      fresh->verdict = Checked::kWrong;
      fresh->why = who + "failed: this device's arithmetic isn't what it relies on";
    }
  } catch (const kit::Failure& failure) {
    // A kernel that this device or its compiler can't take; other failures may go away.
    if (failure.status != TRINE_UNSUPPORTED && failure.status != TRINE_BACKEND_ERROR) throw;
    fresh->verdict = Checked::kBroken;
    fresh->why = who + "can't run here: " + failure.what();
    std::ranges::replace(fresh->why, '\n', ' ');
  }
  kept.store(fresh.release(), std::memory_order_release);
  return known_check(device, variant);
}

void probe_arithmetic(trine_device& device) {
  std::lock_guard lock(check_mutex);
  Probed& result = probed[device.index];
  if (!result.known) {
    const kit::WholeFloatEnvironment ours;
    run_probe(device, result);
    result.known = true;
  }
  std::snprintf(device.facts.probe, sizeof device.facts.probe, "%s", result.words);
  const bool has_f64 = device.target.has(TRINE_CAN_F64);
  if (result.f32 && (result.f64 || !has_f64)) device.facts.capabilities |= TRINE_CAN_REPRODUCE;
}

bool runs_here(trine_device& device, const Variant& variant) {
  return !device.lacks(variant) && check_itself(device, variant).verdict == Checked::kPassed;
}

void forget_checks() {
  std::lock_guard lock(check_mutex);
  while (const Kept* gone = kept) {
    kept = gone->next;
    delete gone;
  }
  for (Probed& result : probed) result.known = false;
}

}  // namespace trine::gpu
