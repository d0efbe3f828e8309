/* The lists of which words, tables and switches are made, each once: X(VALUE, word) for every value
 * of an enumeration of ops.h, in order. Plain C11; installed as <trine/lists.h>.
 *
 *   static const char* const axes[] = {TRINE_AXES(TRINE_WORD)};
 *
 * A value that is added to an enumeration of ops.h is added here and in <trine/types.hpp>. */
#ifndef TRINE_LISTS_H
#define TRINE_LISTS_H

/* X for common uses: the word as a string, the value, each with a comma behind it; for counting. */
#define TRINE_WORD(VALUE, word, ...) #word,
#define TRINE_VALUE(VALUE, ...) TRINE_##VALUE,
#define TRINE_ONE(...) +1

/* X(VALUE, word, Struct): the descriptor is trine_<word>, the C++ API's struct trine::<Struct>.
 * `between()` stands between two of them. */
#define TRINE_OPERATIONS_BY(X, between) \
  X(REDUCE, reduce, Reduce)             \
  between() X(TRANSPOSE, transpose, Transpose) between() X(GEMM, gemm, Gemm)
#define TRINE_NOTHING()
#define TRINE_COMMA() ,
#define TRINE_OPERATIONS(X) TRINE_OPERATIONS_BY(X, TRINE_NOTHING)
#define TRINE_OPERATION_COUNT (TRINE_OPERATIONS(TRINE_ONE))

/* All structs and all descriptors, as template arguments; all descriptors as members of a union. */
#define TRINE_STRUCT(VALUE, word, Struct) Struct
#define TRINE_STRUCTS TRINE_OPERATIONS_BY(TRINE_STRUCT, TRINE_COMMA)
#define TRINE_DESCRIPTOR(VALUE, word, Struct) trine_##word
#define TRINE_DESCRIPTORS TRINE_OPERATIONS_BY(TRINE_DESCRIPTOR, TRINE_COMMA)
#define TRINE_DESCRIPTOR_MEMBER(VALUE, word, Struct) trine_##word word;
#define TRINE_DESCRIPTOR_MEMBERS TRINE_OPERATIONS(TRINE_DESCRIPTOR_MEMBER)

#define TRINE_FUNCTIONS(X) \
  X(SUM, sum)              \
  X(PROD, prod)            \
  X(MIN, min)              \
  X(MAX, max)              \
  X(ARGMIN, argmin)        \
  X(ARGMAX, argmax)

#define TRINE_MAPS(X)   \
  X(IDENTITY, identity) \
  X(ABS, abs)           \
  X(SQUARE, square)     \
  X(PRODUCT, product)

#define TRINE_AXES(X)   \
  X(ALL, all)           \
  X(EACH_ROW, each_row) \
  X(EACH_COLUMN, each_column)

#define TRINE_NUMERICS(X)       \
  X(REPRODUCIBLE, reproducible) \
  X(FAST, fast)                 \
  X(STUDY, study)               \
  X(VENDOR, vendor)             \
  X(EXACT, exact)

#define TRINE_DTYPES(X) \
  X(F32, f32)           \
  X(F64, f64)           \
  X(I32, i32)           \
  X(I64, i64)           \
  X(U32, u32)           \
  X(U64, u64)           \
  X(F16, f16)           \
  X(BF16, bf16)         \
  X(B8, b8)             \
  X(B16, b16)           \
  X(B32, b32)           \
  X(B64, b64)           \
  X(B128, b128)

#endif /* TRINE_LISTS_H */
