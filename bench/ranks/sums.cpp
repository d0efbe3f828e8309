// Sums over ranks beside plain ones with MPI_Allreduce: of an array that the ranks share, and of a vector a rank,
// element for element.
#include <algorithm>
#include <cstring>

#include "work.hpp"

namespace trine::bench::ranks {
namespace {

/// As a program has it that lets the compiler reorder: several sums in flight, so that memory is what it waits for.
template <class T>
T plain_sum(const std::vector<T>& values) {
  constexpr size_t kLanes = 16;
  T sums[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane) sums[lane] += values[i + lane];
  T sum = 0;
  for (; i < values.size(); ++i) sum += values[i];
  for (const T one : sums) sum += one;
  return sum;
}

template <class T>
MPI_Datatype type_of() {
  return sizeof(T) == sizeof(float) ? MPI_FLOAT : MPI_DOUBLE;
}

template <class T>
std::vector<T> elements(std::span<const std::byte> whole, size_t begin, size_t end) {
  std::vector<T> part(end - begin);
  if (!part.empty())
    std::memcpy(part.data(), whole.data() + begin * sizeof(T), part.size() * sizeof(T));
  return part;
}

template <class T>
class Sums : public Work {
 public:
  Sums(MPI_Comm comm, std::vector<T> part, size_t results, const std::string& device)
      : comm_(comm), part_(std::move(part)), result_(results), device_(place_on(device, resident)) {
    if (!resident) return;
    const auto view = [](std::vector<T>& v) {
      return host_vector(v.data(), dtype_of<T>, int64_t(v.size()));
    };
    part_there_ = resident->add(view(part_)), result_there_ = resident->add(view(result_));
  }

  const char* peer_name() const override { return resident ? "host data" : "MPI_Allreduce"; }
  void ours() override { resident ? on_device() : on_host(); }
  void peer() override { resident ? on_host() : plain(); }
  std::span<std::byte> mine() override { return std::as_writable_bytes(std::span(result_)); }
  const std::byte* collect(bool& differ) override {
    // All ranks have the result: all are like the first's.
    std::vector<T> first = result_;
    MPI_Bcast(first.data(), int(first.size()), type_of<T>(), 0, comm_);
    int like = std::memcmp(first.data(), result_.data(), first.size() * sizeof(T)) == 0 ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &like, 1, MPI_INT, MPI_MIN, comm_);
    differ = like == 0;
    return reinterpret_cast<const std::byte*>(result_.data());
  }

 protected:
  virtual void on_host() = 0;
  virtual void on_device() = 0;
  virtual void plain() = 0;

  MPI_Comm comm_;
  std::vector<T> part_, result_;
  View part_there_, result_there_;
  std::string device_;
};

template <class T>
class SumOfAll : public Sums<T> {
 public:
  using Sums<T>::Sums;
  void on_host() override {
    this->result_[0] = mpi::sum(this->part_, this->comm_, {.device = this->device_});
  }
  void on_device() override {
    const T sum =
        mpi::exact_sum(this->resident->queue, this->part_there_, Map::identity, this->comm_)
            .template round<T>();
    fill(this->resident->queue, this->result_there_, &sum);
    this->resident->queue.wait();
  }
  void plain() override {
    const T mine = plain_sum(this->part_);
    MPI_Allreduce(&mine, this->result_.data(), 1, type_of<T>(), MPI_SUM, this->comm_);
  }
};

template <class T>
class SumOfVectors : public Sums<T> {
 public:
  using Sums<T>::Sums;
  void on_host() override {
    mpi::allreduce(Function::sum, this->part_, this->result_, this->comm_,
                   {.device = this->device_});
  }
  void on_device() override {
    mpi::allreduce(Function::sum, this->resident->queue, this->part_there_, this->result_there_,
                   this->comm_);
  }
  void plain() override {
    MPI_Allreduce(this->part_.data(), this->result_.data(), int(this->part_.size()), type_of<T>(),
                  MPI_SUM, this->comm_);
  }
};

template <template <class> class Kind>
std::unique_ptr<Work> of_dtype(MPI_Comm comm, Dtype dtype, std::span<const std::byte> whole,
                               size_t begin, size_t end, size_t results,
                               const std::string& device) {
  if (dtype == Dtype::f32)
    return std::make_unique<Kind<float>>(comm, elements<float>(whole, begin, end), results, device);
  return std::make_unique<Kind<double>>(comm, elements<double>(whole, begin, end), results, device);
}

}  // namespace

View Resident::add(const HostView& here) {
  const int64_t bytes = here.rows * here.cols * size_of(here.dtype);
  const Buffer buffer(queue.device(), uint64_t(bytes));
  copies_.push_back({host_vector(here.data, Dtype::b8, bytes), vector(buffer, Dtype::b8, bytes)});
  return {.buffer = buffer,
          .dtype = here.dtype,
          .rows = here.rows,
          .cols = here.cols,
          .row_stride = here.row_stride,
          .col_stride = here.col_stride};
}
void Resident::upload() {
  for (const auto& [here, there] : copies_) copy(queue, here, there);
  queue.wait();
}
void Resident::download() {
  for (const auto& [here, there] : copies_) copy(queue, there, here);
  queue.wait();
}

std::string place_on(const std::string& device, std::optional<Resident>& resident) {
  if (!device.starts_with('@')) return device;
  resident.emplace(device.substr(1));
  return device.substr(1);
}

std::unique_ptr<Work> sum_of_all(MPI_Comm comm, const Problem& p, std::span<const std::byte> whole,
                                 const std::string& device) {
  const auto begin = [&](int rank) { return size_t(p.size.rows * rank / size_in(comm)); };
  const int me = rank_in(comm);
  return of_dtype<SumOfAll>(comm, p.dtype, whole, begin(me), begin(me + 1), 1, device);
}

std::unique_ptr<Work> sum_of_vectors(MPI_Comm comm, const Problem& p,
                                     std::span<const std::byte> whole, const std::string& device) {
  const auto length = size_t(p.size.cols), begin = size_t(rank_in(comm)) * length;
  return of_dtype<SumOfVectors>(comm, p.dtype, whole, begin, begin + length, length, device);
}

std::unique_ptr<Work> work_on(MPI_Comm comm, const Problem& p, int64_t block,
                              const std::vector<std::span<const std::byte>>& inputs,
                              const std::string& device) {
  if (p.operation != Operation::reduce) return matrices(comm, p, block, inputs, device);
  return (p.axis == Axis::all ? sum_of_all : sum_of_vectors)(comm, p, inputs[0], device);
}

std::function<void()> local_work(const Problem& p, int64_t block,
                                 const std::vector<std::span<const std::byte>>& inputs,
                                 const std::string& device, bool in_runs, MPI_Comm comm) {
  if (in_runs && p.operation == Operation::transpose)
    return transpose_in_runs(p, block, inputs[0], device, comm);
  return [work = std::shared_ptr<Work>(work_on(MPI_COMM_SELF, p, block, inputs, device))] {
    work->ours();
  };
}

}  // namespace trine::bench::ranks
