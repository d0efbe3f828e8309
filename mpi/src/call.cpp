#include "call.hpp"

#include <bit>
#include <thread>

#include "collectives.hpp"
#include "sizes.hpp"

namespace trine::mpi::detail {

std::atomic<int64_t> chunk_bytes = usual_chunk;
std::atomic<int64_t> message_bytes = int64_t{1} << 30;

namespace {

/// Whether a message has come that is as long as this rank's. Ranks that differ may send another
/// number of heads; MPI receives no more than there is room for.
bool is_as_long(std::span<const Head> heads, int code, const char* function,
                const MPI_Status& status) {
  int kind = MPI_SUCCESS, bytes = 0;
  MPI_Error_class(code, &kind);
  if (kind == MPI_ERR_TRUNCATE) return false;
  check(code, function);
  check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  return bytes == int(heads.size_bytes());
}

/// Recursive doubling; ranks beyond the largest power of two hand theirs to a partner, and have the
/// result from it. `others` has room for as many heads.
void merge_in_pairs(std::span<Head> heads, Head* others, const Channel& channel) {
  const int me = channel.rank, paired = int(std::bit_floor(unsigned(channel.size)));
  const int bytes = int(heads.size_bytes());
  MPI_Status status;
  const auto send = [&](int to) {
    check(MPI_Send(heads.data(), bytes, MPI_BYTE, to, 0, channel.comm), "MPI_Send");
  };
  const auto receive = [&](Head* to, int from) {
    const int code = MPI_Recv(to, bytes, MPI_BYTE, from, 0, channel.comm, &status);
    return is_as_long(heads, code, "MPI_Recv", status);
  };
  const auto merge = [&](bool is_alike) {
    for (size_t i = 0; i < heads.size() && is_alike; ++i) heads[i].merge(others[i]);
    if (!is_alike) heads[0].trouble |= Head::differ;
  };
  if (me >= paired) {
    send(me - paired);
    if (!receive(heads.data(), me - paired)) heads[0].trouble |= Head::differ;
    return;
  }
  const bool has_extra = me + paired < channel.size;
  if (has_extra) merge(receive(others, me + paired));
  for (int distance = 1; distance < paired; distance *= 2) {
    const int partner = me ^ distance;
    const int code = MPI_Sendrecv(heads.data(), bytes, MPI_BYTE, partner, 0, others, bytes,
                                  MPI_BYTE, partner, 0, channel.comm, &status);
    merge(is_as_long(heads, code, "MPI_Sendrecv", status));
  }
  if (has_extra) send(me + paired);
}

}  // namespace

bool Call::is_receiver() const noexcept {
  return asked_.root == Asked::everywhere || asked_.root == channel_->rank;
}

void Call::check_root() const {
  if (asked_.root < 0 || asked_.root >= channel_->size)
    refuse("the root is rank ", asked_.root, " of a communicator with ", channel_->size, " ranks.");
}

void Call::run() {
  channel_->drain();
  const Current current(context());
  while (step(nullptr)) wait_until_ready();
}

void Call::wait_until_ready() {
  for (int is_there = 0; !is_ready(); std::this_thread::yield())
    check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, channel_->comm, &is_there, MPI_STATUS_IGNORE),
          "MPI_Iprobe");
}

void Call::enter(const std::shared_ptr<Call>& self) {
  {
    const std::lock_guard lock(channel_->mutex);
    channel_->pending.push_back(self);
  }
  channel_->advance();
}

void Call::fail(Failure failure) {
  failure_ = std::move(failure);
  for (channel_->drain(); !advance();) std::this_thread::yield();
  std::rethrow_exception(error_);
}

bool Call::go_on() {
  const auto has_ended = [this] {
    const std::lock_guard lock(channel_->mutex);
    return has_ended_;
  };
  channel_->advance();
  if (has_ended()) return true;
  advance_all();
  return has_ended();
}

bool Call::advance() {
  try {
    for (;;) {
      if (request_ != MPI_REQUEST_NULL) {
        int has_passed = 0;
        check(MPI_Test(&request_, &has_passed, MPI_STATUS_IGNORE), "MPI_Test");
        if (has_passed == 0) return false;
      }
      if (!is_ready()) return false;
      if (!step(&request_)) break;
    }
  } catch (...) { error_ = std::current_exception(); }
  has_ended_ = true;
  return true;
}

void Call::begin(MPI_Request* request) {
  stage_ = Stage::head;
  for (Head& head : heads()) {
    head.asked = asked_;
    if (failure_) head.trouble = Head::failed;
  }
  if (request != nullptr)
    return allreduce(&head_, 1, kinds().head.datatype, kinds().head.merge, channel_->comm, request);
  // Calls that block merge in one way, because ranks may ask for different ones. MPI_Allreduce
  // wouldn't tell ranks with different numbers of fields, so they merge in pairs.
  Head other;
  merge_in_pairs(heads(), many_.empty() ? &other : &many_[heads().size()], *channel_);
}

bool Call::step(MPI_Request* request) {
  switch (stage_) {
    case Stage::begin: begin(request); return true;
    case Stage::head:
      for (const Head& head : heads()) head_.trouble |= head.trouble;
      if (head_.trouble != 0) return ask_why(request);
      stage_ = Stage::states;
      wholes_ = wholes();
      if (!wholes_.empty()) {
        const Kind& kind = kinds().state;
        allreduce(wholes_.data(), int(wholes_.size()), kind.datatype, kind.merge, channel_->comm,
                  request);
        return true;
      }
      [[fallthrough]];
    case Stage::states:
      for (const ExactSum::State& state : wholes_)
        if (state.front() == too_large) return ask_why(request);
      stage_ = Stage::work;
      [[fallthrough]];
    case Stage::work:
      if (work(request)) return true;
      if (!can_fail()) break;
      stage_ = Stage::closing;
      has_failed_ = failure_ ? 1 : 0;
      allreduce(&has_failed_, 1, MPI_INT, MPI_MAX, channel_->comm, request);
      return true;
    case Stage::closing:
      if (has_failed_ != 0) return ask_why(request);
      break;
    case Stage::room:
      if (has_failed_ != 0) throw Error(Status::out_of_memory, kNoMemory);
      stage_ = Stage::reports;
      allgather(reports_.data(), sizeof(Report), channel_->comm, request);
      return true;
    case Stage::reports: throw error_of(reports_, head_.trouble);
  }
  finish();
  return false;
}

bool Call::ask_why(MPI_Request* request) {
  Failure no_room;
  attempt(no_room, [&] {
    reports_.resize(size_t(channel_->size));
    reports_[size_t(channel_->rank)] = failure_ ? Report(failure_) : Report(Status::ok, asks_for());
  });
  has_failed_ = no_room ? 1 : 0;
  stage_ = Stage::room;
  allreduce(&has_failed_, 1, MPI_INT, MPI_MAX, channel_->comm, request);
  return true;
}

}  // namespace trine::mpi::detail
