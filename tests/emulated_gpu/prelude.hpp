// The words of the kernels' preludes (docs/writing-a-backend.md has the list), as host C++ over
// emulated.hpp: of a GPU with warps and without instructions of its own, so that all copies are
// loads and stores of this program.
#include <bit>
#include <cmath>
#include "emulated.hpp"

using uchar = unsigned char;
using ushort = unsigned short;
using uint = unsigned int;
using ulong = unsigned long;
using emulated::Numbers;
using int2 = Numbers<int, 2>;
using int4 = Numbers<int, 4>;
using uint2 = Numbers<uint, 2>;
using uint4 = Numbers<uint, 4>;
using ulong2 = Numbers<ulong, 2>;
using float2 = Numbers<float, 2>;
using float4 = Numbers<float, 4>;
using double2 = Numbers<double, 2>;
#define WORD_OF_NUMBERS static inline
WORD_OF_NUMBERS int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
WORD_OF_NUMBERS uint2 make_uint2(uint x, uint y) { return {x, y}; }
WORD_OF_NUMBERS uint4 make_uint4(uint x, uint y, uint z, uint w) { return {x, y, z, w}; }
WORD_OF_NUMBERS ulong2 make_ulong2(ulong x, ulong y) { return {x, y}; }
WORD_OF_NUMBERS float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
WORD_OF_NUMBERS double2 make_double2(double x, double y) { return {x, y}; }
using std::fabs;
using std::fma;
using std::isinf;
using std::isnan;
using std::sqrt;

#define GLOBAL
#define LOCAL static
#define LOCAL_POINTER
#define DEVICE static inline
#define INLINED DEVICE
#define NOT_INLINED static
#define RESTRICT
#define ALIGNED(bytes) __attribute__((aligned(bytes)))
#define LOCAL_ARENA(name, bytes)                       \
  static_assert((bytes) <= (int)emulated::kArena, ""); \
  uchar* const name = emulated::arena
#define GIVE_REGISTERS(keep) ((void)0)
#define TAKE_REGISTERS(count) ((void)0)
#define BEGIN_WITH_REGISTERS(count) ((void)0)
#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)
#define KERNEL_OF(name, x, y) static void name
#define KERNEL_BOUNDED(name, x, y, groups) static void name
#define HAVE_WARPS 1
#define HAVE_PTX 0
#define HAVE_F64 1
#define HAVE_LOCAL_48K 1

DEVICE int min(int a, int b) { return a < b ? a : b; }
DEVICE int max(int a, int b) { return a > b ? a : b; }
DEVICE long min(long a, long b) { return a < b ? a : b; }
DEVICE long max(long a, long b) { return a > b ? a : b; }
DEVICE int local_x() { return emulated::local; }
DEVICE int group_x() { return emulated::group; }
DEVICE int groups_x() { return emulated::groups; }
DEVICE void await_earlier_launches() {}
DEVICE void await_earlier_launches_alone() {}
DEVICE void sync() { emulated::sync_group(); }
DEVICE void sync_memory() { emulated::sync_group(); }
DEVICE void sync_warp() { emulated::sync_warp(); }
DEVICE void sync_part(int count) { emulated::sync_part(count); }
DEVICE uint atomic_add(uint* p, uint v) { return std::exchange(*p, *p + v); }
DEVICE uint atomic_or(uint* p, uint v) { return std::exchange(*p, *p | v); }
DEVICE uint take_ticket(uint* counter) { return atomic_add(counter, 1); }
DEVICE uint shuffle_xor(uint v, int mask) {
  return emulated::of_lane(v, emulated::local % 32 ^ mask);
}
DEVICE uint as_uint(float x) { return std::bit_cast<uint>(x); }
DEVICE float as_float(uint x) { return std::bit_cast<float>(x); }
DEVICE ulong as_ulong(double x) { return std::bit_cast<ulong>(x); }
DEVICE double as_double(ulong x) { return std::bit_cast<double>(x); }
DEVICE int clz(uint x) { return std::countl_zero(x); }
DEVICE int clz(ulong x) { return std::countl_zero(x); }
DEVICE uint mul_hi(uint a, uint b) { return (uint)((ulong)a * b >> 32); }
DEVICE ulong mul_hi(ulong a, ulong b) { return (ulong)((unsigned __int128)a * b >> 64); }
