// A plug-in of a program that knows nothing of Trine: it leaves work in flight behind.
#include <trine/trine.hpp>

extern "C" __attribute__((visibility("default"))) void leave_work_in_flight(const char* name) {
  trine::Queue queue(trine::open(name));
  const trine::View view = trine::vector({queue.device(), 16 << 20}, trine::Dtype::f32, 4 << 20);
  const float one = 1;
  for (int i = 0; i < 10; ++i) trine::fill(queue, view, &one);
}

/// The ids of all devices, each with a zero behind it, and one more at the end.
extern "C" __attribute__((visibility("default"))) const char* devices() {
  static std::string ids;
  ids.clear();
  for (const trine::BackendInfo& info : trine::backends())
    for (const trine::Facts& facts : info.devices) ids += facts.id + '\0';
  return ids.c_str();
}
