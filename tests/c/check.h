/* The macros of the C tests. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trine/abi.h>
#include <trine/ops.h>
#include <trine/trine.h>

/* Ends the test with the line and the sentence unless `condition` holds. */
#define CHECK(condition)                                                                      \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      fprintf(stderr, "%s:%d: not so: %s (last error: %s)\n", __FILE__, __LINE__, #condition, \
              trine_last_error());                                                            \
      exit(1);                                                                                \
    }                                                                                         \
  } while (0)
#define OK(call)               \
  do {                         \
    CHECK((call) == TRINE_OK); \
    check_surroundings(#call); \
  } while (0)
/* The call fails with this status and a sentence that contains the words. */
#define FAILS(status, words, call)                                            \
  do {                                                                        \
    CHECK((call) == (status) && strstr(trine_last_error(), (words)) != NULL); \
    check_surroundings(#call);                                                \
  } while (0)

/* Gives the program a handler of its own for each signal, a mask, a stack for handlers, and traps.
 */
void make_surroundings(void);
/* Ends the test if a call has changed one of them, or if an integer's division by zero is no SIGFPE
 * any more. */
void check_surroundings(const char* call);

void test_names(void);
void test_devices(void);
void test_queues(void);
void test_buffers(void);
void test_operations(void);
void test_placement(void);
void test_host_calls(void);
void test_exact_sums(void);
void test_partials(void);
void test_tuning(void);
void test_errors(void);
void test_reserved(void);
void test_threads(void);
