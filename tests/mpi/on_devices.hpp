// A rank's data on its device: a device whose name begins with @ has it in its own memory, on a
// queue.
#pragma once

#include <trine/mpi_matrix.hpp>

#include <string_view>

#include "ranks.hpp"

namespace ranks {

inline bool is_resident(std::string_view device) { return device.starts_with('@'); }

/// jobs(), the same with the data on devices, and a mixture of both.
inline std::vector<std::vector<std::string>> jobs_and_resident_ones() {
  auto all = jobs();
  all.insert(all.end(), {{"@cpu"}, {"@cpu", "cpu"}});
  for (const std::string& device : other_devices())
    all.insert(all.end(), {{"@" + device}, {"@" + device, "cpu", "@cpu", device, "auto"}});
  return all;
}

/// Host memory on a device, and back.
class Resident {
 public:
  explicit Resident(std::string_view device) : queue(trine::open(device.substr(1))) {}

  /// Copies all of `memory` to the device and gives `view` of the copy; `view` begins where
  /// `memory` does. download() brings all of it back.
  template <class T>
  trine::View upload(std::vector<T>& memory, const trine::ConstHostView& view) {
    const int64_t bytes = int64_t(memory.size() * sizeof(T));
    const trine::HostView all = trine::host_vector(memory.data(), trine::Dtype::b8, bytes);
    trine::Buffer buffer;
    // Memory without elements gets an empty handle, or now and then a buffer of no bytes.
    static int empty = 0;
    if (bytes != 0 || ++empty % 3 == 0) buffer = trine::Buffer(queue.device(), uint64_t(bytes));
    copies_.push_back({all, trine::vector(buffer, trine::Dtype::b8, bytes)});
    trine::copy(queue, all, copies_.back().there);
    return {buffer,          view.dtype,       0, view.rows, view.cols, view.batch, view.row_stride,
            view.col_stride, view.batch_stride};
  }
  template <class T>
  trine::View upload(std::vector<T>& memory) {
    return upload(memory,
                  trine::host_vector(memory.data(), trine::dtype_of<T>, int64_t(memory.size())));
  }
  template <class Part>
  trine::mpi::DeviceMatrix upload(Part& part, trine::Dtype dtype) {
    const trine::mpi::Matrix matrix = part.matrix(dtype);
    return {matrix.distribution, upload(part.memory, matrix.local)};
  }
  void download() {
    for (const Copy& copy : copies_) trine::copy(queue, copy.there, copy.here);
    queue.wait();
  }

  trine::Queue queue;

 private:
  struct Copy {
    trine::HostView here;
    trine::View there;
  };
  std::vector<Copy> copies_;
};

/// The calls, where the options say: on host data, or with the data on the device.
template <class Part>
void transpose(Part& a, Part& b, trine::Dtype dtype, const trine::HostOptions& options) {
  if (!is_resident(options.device))
    return trine::mpi::transpose(a.matrix(dtype), b.matrix(dtype), MPI_COMM_WORLD, options);
  Resident on(options.device);
  const auto from = on.upload(a, dtype), to = on.upload(b, dtype);
  trine::mpi::transpose(on.queue, from, to, MPI_COMM_WORLD);
  on.download();
}

template <class Part>
void gemm(double alpha, Part& a, Part& b, double beta, Part& c, trine::Dtype dtype,
          const trine::HostOptions& options) {
  if (!is_resident(options.device))
    return trine::mpi::gemm(alpha, a.matrix(dtype), b.matrix(dtype), beta, c.matrix(dtype),
                            MPI_COMM_WORLD, options);
  Resident on(options.device);
  const auto of_a = on.upload(a, dtype), of_b = on.upload(b, dtype), of_c = on.upload(c, dtype);
  trine::mpi::gemm(on.queue, alpha, of_a, of_b, beta, of_c, MPI_COMM_WORLD,
                   {.numerics = options.numerics, .continues = options.continues});
  on.download();
}

/// To `root`, or to all with -1; in place where input and output are one vector.
template <class T, class Result>
void reduce(trine::Function function, std::vector<T>& input, std::vector<Result>& output, int root,
            bool does_block, const trine::HostOptions& options) {
  namespace mpi = trine::mpi;
  const MPI_Comm comm = MPI_COMM_WORLD;
  if (is_resident(options.device)) {
    Resident on(options.device);
    const trine::View from = on.upload(input);
    const bool is_in_place = static_cast<void*>(&input) == &output;
    const trine::View to = is_in_place ? from : on.upload(output);
    if (!does_block)
      (root < 0 ? mpi::iallreduce(function, on.queue, from, to, comm)
                : mpi::ireduce(function, on.queue, from, to, root, comm))
          .wait();
    else if (root < 0)
      mpi::allreduce(function, on.queue, from, to, comm);
    else
      mpi::reduce(function, on.queue, from, to, root, comm);
    return on.download();
  }
  if (!does_block)
    (root < 0 ? mpi::iallreduce(function, input, output, comm, options)
              : mpi::ireduce(function, input, output, root, comm, options))
        .wait();
  else if (root < 0)
    mpi::allreduce(function, input, output, comm, options);
  else
    mpi::reduce(function, input, output, root, comm, options);
}

}  // namespace ranks
