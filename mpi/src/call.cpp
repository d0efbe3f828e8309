#include "call.hpp"

#include "collectives.hpp"

namespace trine::mpi::detail {

std::atomic<int64_t> piece_bytes = int64_t{1} << 26;
std::atomic<int64_t> message_bytes = int64_t{1} << 30;

bool Call::is_receiver() const noexcept {
  return asked_.root == Asked::everywhere || asked_.root == channel_->rank;
}

void Call::check_root() const {
  if (asked_.root < 0 || asked_.root >= channel_->size)
    refuse("the root is rank ", asked_.root, " of a communicator with ", channel_->size, " ranks.");
}

void Call::run() {
  channel_->drain();
  while (step(nullptr)) {}
}

void Call::enter(const std::shared_ptr<Call>& self) {
  {
    const std::lock_guard lock(channel_->mutex);
    channel_->pending.push_back(self);
  }
  channel_->advance();
}

bool Call::go_on() {
  channel_->advance();
  const std::lock_guard lock(channel_->mutex);
  return has_ended_;
}

bool Call::advance() {
  try {
    for (;;) {
      if (request_ != MPI_REQUEST_NULL) {
        int has_passed = 0;
        check(MPI_Test(&request_, &has_passed, MPI_STATUS_IGNORE), "MPI_Test");
        if (has_passed == 0) return false;
      }
      if (!step(&request_)) break;
    }
  } catch (...) { error_ = std::current_exception(); }
  has_ended_ = true;
  return true;
}

bool Call::step(MPI_Request* request) {
  switch (stage_) {
    case Stage::begin:
      head_.asked = asked_;
      if (failure_) head_.trouble = Head::failed;
      stage_ = Stage::head;
      allreduce(&head_, 1, kinds().head.datatype, kinds().head.merge, channel_->comm, request);
      return true;
    case Stage::head:
      if (head_.trouble != 0) return ask_why(request);
      stage_ = Stage::states;
      if (head_.is_too_wide()) {
        state_ = {whole()};
        const Kind& kind = kinds().state;
        allreduce(state_.data(), 1, kind.datatype, kind.merge, channel_->comm, request);
        return true;
      }
      [[fallthrough]];
    case Stage::states:
      if (!state_.empty() && state_[0][0] == too_large) return ask_why(request);
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
    case Stage::reports: throw error_of(reports_);
  }
  finish();
  return false;
}

bool Call::ask_why(MPI_Request* request) {
  reports_.resize(size_t(channel_->size));
  reports_[size_t(channel_->rank)] =
      failure_ ? Report(failure_.status, failure_.sentence) : Report(Status::ok, asks_for());
  stage_ = Stage::reports;
  allgather(reports_.data(), sizeof(Report), channel_->comm, request);
  return true;
}

}  // namespace trine::mpi::detail
