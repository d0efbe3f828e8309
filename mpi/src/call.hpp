// A call on all ranks, as a chain of MPI's collectives: each is awaited before the next begins, by
// whoever calls. So one text serves the calls that block and those that don't.
//
//   head ─► [states] ─► work … work ─► closing
//   any of them may end in: room ─► reports ─► Error, on all ranks
#pragma once

#include <atomic>
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include "agreement.hpp"
#include "channel.hpp"

namespace trine::mpi::detail {

/// The bytes that a rank sends at a time, the same on all ranks; matrices use a fraction of it.
/// Tests make it small.
TRINE_API extern std::atomic<int64_t> chunk_bytes;
/// The most bytes of one message, which MPI must count.
TRINE_API extern std::atomic<int64_t> message_bytes;

/// A CUDA context that is current in this thread for a scope, as MPIs need it that are given a
/// device's memory; none where `context` is null.
class Current {
 public:
  explicit Current(void* context) noexcept;
  ~Current();
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  bool is_pushed_ = false;
};

class Call : public Pending {
 public:
  explicit Call(std::shared_ptr<Channel> channel) : channel_(std::move(channel)) {}
  ~Call() override = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// Runs the call to its end, after all pending calls; throws its error.
  void run();
  /// Makes the call, which is `self`, one that doesn't block: it joins the channel's queue of
  /// pending calls, and may go on at once.
  void enter(const std::shared_ptr<Call>& self);
  /// For a call that this rank can't keep because it lacks memory: takes part in it until the end,
  /// as a call that doesn't block, so that all ranks throw.
  [[noreturn]] void fail(Failure failure);
  /// Goes on with the channel's row, and with others; true when this call has ended. Errors are
  /// kept.
  bool go_on();
  const std::exception_ptr& error() const noexcept { return error_; }

  /// For the channel, which is locked: the same of this call alone.
  bool advance() override;
  bool is_under_way() const noexcept override { return request_ != MPI_REQUEST_NULL; }

 protected:
  Channel& channel() const noexcept { return *channel_; }
  /// The heads of the first message: one, or one for each field.
  std::span<Head> heads() noexcept {
    return many_.empty() ? std::span(&head_, 1) : std::span(many_).first(many_.size() / 2);
  }
  /// The sum of what all ranks brought, when they have agreed.
  ExactSum total() const { return ExactSum(state_ ? *state_ : head_.sum.state()); }
  /// The words that the first message carried otherwise.
  const std::array<uint64_t, 2>& words() const noexcept { return head_.words; }
  /// Whether this rank receives the result.
  bool is_receiver() const noexcept;
  /// Refuses a root that is no rank.
  void check_root() const;
  /// Waits until is_ready(), while MPI goes on.
  void wait_until_ready();

  /// For the constructors: what this rank asks for, and brings to it.
  Asked asked_;
  void bring(const Window& window) noexcept { head_.sum = window; }
  void bring(const std::array<uint64_t, 2>& words) noexcept { head_.words = words; }
  Failure failure_;
  /// In a call on fields: a head for each, and then room for those of another rank.
  std::vector<Head> many_;

 private:
  /// Begins the next collective, as one that doesn't block where `request` isn't null. False: there
  /// is none, the call has ended. Throws the error of all ranks.
  bool step(MPI_Request* request);
  /// The same of what follows when all ranks have agreed. It doesn't throw what went wrong on this
  /// rank alone: it keeps that in failure_ and takes part to the end.
  virtual bool work(MPI_Request* request) = 0;
  /// Whether the device has done what the next step needs.
  virtual bool is_ready() noexcept { return true; }
  /// The CUDA context of memory that MPI is given; null: none.
  virtual void* context() const noexcept { return nullptr; }
  /// Whether work may fail on a rank, so that all must tell each other at the end.
  virtual bool can_fail() const noexcept { return true; }
  /// The whole of what this rank brought; asked for where the windows of all don't fit into one.
  virtual ExactSum::State whole() const { return {}; }
  /// The same of each sum whose window is too narrow, in the order of the heads.
  virtual std::span<ExactSum::State> wholes() {
    if (!head_.is_too_wide()) return {};
    return {&state_.emplace(whole()), 1};
  }
  /// The request of this rank in words, for ranks that differ.
  virtual std::string asks_for() const { return asked_.words(); }
  /// Takes the result, when all is well.
  virtual void finish() {}

  void begin(MPI_Request* request);
  bool ask_why(MPI_Request* request);

  enum class Stage { begin, head, states, work, closing, room, reports };
  std::shared_ptr<Channel> channel_;
  Stage stage_ = Stage::begin;
  Head head_;
  std::optional<ExactSum::State> state_;  ///< where the head's window was too narrow
  std::span<ExactSum::State> wholes_;     ///< that one, or those of fields
  int has_failed_ = 0;
  std::vector<Report> reports_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  bool has_ended_ = false;
  std::exception_ptr error_;
};

/// A public function that blocks: the call of class C, made of the arguments.
template <class C, class... Arguments>
void run(Arguments&&... arguments) {
  entry([&] { C(arguments...).run(); });
}

/// The same of one that doesn't block.
template <class C, class... Arguments>
Request begin(Arguments&&... arguments) {
  return entry([&] {
    try {
      const auto call = std::make_shared<C>(arguments...);
      call->enter(call);
      return Request(call);
    } catch (const std::bad_alloc&) { C(arguments...).fail(std::current_exception()); }
  });
}

}  // namespace trine::mpi::detail
