// All that core knows of each operation, in one place. Its steps (check, select, log, launch,
// predict, cut, calibrate, tune) ask the description and know no operation by name. One file an
// operation describes it; operations.cpp lists them.
#pragma once

#include <trine/lists.h>
#include <trine/receipt.hpp>

#include <array>
#include <span>
#include <string>
#include <variant>

#include "check.hpp"
#include "chunks.hpp"
#include "work.hpp"

namespace trine::detail {

/// An operation of the API, and the contract's descriptor of one.
using AnyValue = std::variant<TRINE_STRUCTS>;
struct Descriptor {
  union {
    TRINE_DESCRIPTOR_MEMBERS
  };
  /// If not null, an operand that lies in a temporary of the queue's workspace: an input, to which
  /// `source` is copied first, or the output, which then becomes `then`'s v.
  trine_view* temporary = nullptr;
  uint32_t element;  ///< bytes of one of its elements
  bool is_input;
  bool is_followed = false;  ///< by `then`
  trine_view source;
  trine_elementwise then;
};

/// The operands' views and their roles, the output last.
struct Views {
  std::array<View*, 3> all{};
  std::span<const Role> roles;
  std::size_t count() const { return roles.size(); }
  View** begin() { return all.data(); }
  View** end() { return all.data() + count(); }
  View& operator[](std::size_t i) const { return *all[i]; }
};

/// The result of a call without a rung: nothing, or `bits` written all over a view.
struct Empty {
  bool is_empty = false;
  const trine_view* fill = nullptr;
  uint64_t bits = 0;
  uint32_t element = 0;
};

// The key of a call in the tuning table: its kind, packed into a number, and its extents. Scalars,
// leading dimensions and alignment are left out on purpose: a rung that can't take them refuses
// (tuning_key.cpp).

/// The fields of a kind, a byte each; the first and the last are every operation's.
enum Field { kOperation, kFunction, kMap, kAxis, kDtype, kResult, kLayout, kNumerics };

struct TuningKey {
  uint64_t kind = 0;
  /// reduce: rows, cols (axis all: elements, 1); transpose: rows, cols, batch;
  /// gemm: m, n, k, batch.
  int64_t extents[4] = {1, 1, 1, 1};

  uint32_t get(Field field) const { return kind >> (8 * field) & 0xff; }
  TuningKey& set(Field field, uint64_t value) {
    kind |= value << (8 * field);
    return *this;
  }
  /// The layouts of the operands, a letter each.
  TuningKey& set_layout(std::initializer_list<const trine_view*> views);
};

/// The same for all calls of an operation.
struct Traits {
  Operation operation;
  std::size_t descriptor_bytes;
  std::span<const Field> key_fields;  ///< of the tuning table, after the operation
  std::size_t key_extents;
  uint32_t most_alignment;      ///< of an operand's first element, where an element is larger
  bool is_cut;                  ///< large calls on host data go in chunks
  bool reads_only;              ///< moves memory at the rate of reading: the output is small
  bool moves_bits;              ///< whatever the dtype: a NaN has a payload
  bool has_scalars;             ///< alpha and beta
  double largest_side;          ///< of the sizes at which devices are compared
  std::string_view size_words;  ///< of those sizes, after n
};

/// `op` points to the API's struct of the operation.
class Description : public Traits {
 public:
  constexpr explicit Description(const Traits& traits) : Traits(traits) {}
  Description(const Description&) = delete;

  uint32_t alignment(uint32_t element) const { return std::min(element, most_alignment); }

  virtual Views views(void* op) const = 0;
  Views views_of(const void* op) const { return views(const_cast<void*>(op)); }
  virtual void check(const void* op, const DeviceState* device, Mode mode,
                     Descriptor& out) const = 0;
  virtual bool reads_output(const void*) const { return false; }
  /// Whether its output may be its input, element for element.
  virtual bool goes_in_place(const void*) const { return false; }
  virtual bool reads_inputs(const void*) const { return true; }
  /// Writes the call to a receipt, without its operands and its scalars of device memory.
  virtual void tell(const void* op, Receipt& receipt) const = 0;
  virtual std::array<const Scalar*, 2> scalars(const void*) const { return {}; }
  /// Fills in what differs between operations: class, extents, flops.
  virtual void size(const void* op, Work& work) const = 0;
  virtual Cutting cutting(const void*, const CutWish&) const { return {}; }
  /// Sets the members in which a chunk differs from the whole call, except the operands.
  virtual void take(void*, const Chunk&) const {}

  /// The entry of a checked call in a queue's history, and its key in the tuning table.
  virtual void log(const Descriptor& call, Logged& entry) const = 0;
  virtual TuningKey key(const Descriptor& call) const = 0;
  virtual Empty empty(const Descriptor& call) const = 0;
  /// Why a rung whose row takes these flags can't run it; nullptr where it may.
  virtual const char* untaken(const Descriptor&, uint64_t) const { return nullptr; }

  /// The classes that a calibration measures, and the one of these that stands for a call.
  virtual std::vector<CallClass> classes() const = 0;
  virtual void standard(Function&, Axis&, Dtype&) const {}
  /// A call of such a class and size on dense memory, without buffers.
  virtual AnyValue sample(const CallClass& kind, const std::vector<double>& extents) const = 0;
  virtual std::string_view noun(Function) const { return name(operation); }

 protected:
  ~Description() = default;
  static trine_view& view(Descriptor& call, const Role& role) {
    return *reinterpret_cast<trine_view*>(reinterpret_cast<char*>(&call) + role.offset);
  }
  /// Checks each view on its own, and that the output lies apart from the inputs. Returns the
  /// output's place.
  Placed check_views(const void* op, const DeviceState* device, Mode mode, Descriptor& out) const;
};

/// Moves an operand, an input or the output, to a temporary: a dense view, oriented as the operand
/// is.
void set_temporary(Descriptor& call, trine_view& operand, uint32_t element, bool is_input);

/// All operations.
std::span<const Description* const> descriptions();
/// Throws Error (invalid_argument) where there is none.
const Description& description_of(Operation operation);
#define TRINE_DESCRIBE(VALUE, word, Struct) const Description& describe(const Struct&);
TRINE_OPERATIONS(TRINE_DESCRIBE)
#undef TRINE_DESCRIBE

/// A reference to any operation.
class AnyOperation {
 public:
  template <class Struct>
  requires requires(const Struct& op) { describe(op); }
  AnyOperation(const Struct& op)  // NOLINT(google-explicit-constructor): any of them is one
      : is(describe(op)), op_(&op) {}
  AnyOperation(const AnyValue& value)  // NOLINT(google-explicit-constructor)
      : AnyOperation(std::visit([](const auto& op) { return AnyOperation(op); }, value)) {}

  const Description& is;
  void check(const DeviceState* device, Mode mode, Descriptor& out) const {
    is.check(op_, device, mode, out);
  }
  Views views() const { return is.views_of(op_); }
  std::array<const Scalar*, 2> scalars() const { return is.scalars(op_); }
  const void* get() const { return op_; }

 private:
  const void* op_;
};

/// A call that passed the checks, in the contract's words.
struct Checked {
  Checked(const AnyOperation& op, const DeviceState* device, Mode mode) : is(op.is) {
    op.check(device, mode, descriptor);
  }
  Checked(const Checked&) = delete;

  const Description& is;
  Descriptor descriptor;
  const trine_call call{sizeof(trine_call), static_cast<uint32_t>(is.operation), &descriptor};

  uint32_t numerics() const { return descriptor.reduce.numerics; }  // each begins alike
};

/// The call as it may be planned, on any device and without buffers.
inline Checked plan_of(const AnyOperation& op) { return {op, nullptr, Mode::plan}; }
Work work_of(const AnyOperation& op);
inline Cutting cutting_of(const AnyOperation& op, const CutWish& wish) {
  return op.is.cutting(op.get(), wish);
}
inline TuningKey tuning_key_of(const Checked& call) {
  TuningKey key = call.is.key(call.descriptor);
  return key.set(kOperation, call.call.operation).set(kNumerics, call.numerics());
}
/// "reduce sum identity all f32 f32 r reproducible 1048576x1", "transpose b32 rr reproducible
/// 1024x1024x1", "gemm f32 rrr reproducible 512x512x512x1"; a letter an operand: r(ow-major),
/// c(olumn-major), s(trided).
std::string text_of(const TuningKey& call);
/// The sizes alone: "512x512x512", without trailing ones.
std::string size_text(const TuningKey& call);
/// The reverse of text_of(); false where `text` is no call's.
bool read_call(std::string_view text, TuningKey& call);

/// The operands' views of a value that is to be changed.
Views views_of(AnyValue& value);

/// Rows and columns at which reductions and transposes are measured.
const std::vector<double>& calibrated_sides();
/// The grids that a calibration has, and the place of one there, or kNoClass.
const std::vector<CallClass>& call_classes();
int class_of(Operation operation, Function function, Axis axis, Dtype dtype);

}  // namespace trine::detail
