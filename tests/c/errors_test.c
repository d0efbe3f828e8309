/* Tests of the calls that the C API refuses, and of eight threads. */
#include <pthread.h>

#include "check.h"

static void refuse_null_places(void) {
  trine_queue_t* queue = (trine_queue_t*)&queue;
  int done = 77;
  const char* text = "as it was";
  const trine_facts_t* const* list = NULL;
  FAILS(TRINE_INVALID_ARGUMENT, "no place", trine_device_open("cpu", NULL));
  FAILS(TRINE_INVALID_ARGUMENT, "no place", trine_list_devices(&list, NULL));
  FAILS(TRINE_INVALID_ARGUMENT, "no place", trine_parse_dtype("f32", NULL));
  FAILS(TRINE_INVALID_ARGUMENT, "", trine_queue_create(NULL, &queue));
  FAILS(TRINE_INVALID_ARGUMENT, "", trine_queue_is_done(NULL, &done));
  FAILS(TRINE_INVALID_ARGUMENT, "", trine_queue_wait(NULL));
  FAILS(TRINE_INVALID_ARGUMENT, "", trine_queue_flush(NULL));
  FAILS(TRINE_INVALID_ARGUMENT, "", trine_device_get_id(NULL, &text));
  CHECK(queue == (trine_queue_t*)&queue && done == 77 && list == NULL);
  CHECK(strcmp(text, "as it was") == 0);
  FAILS(TRINE_INVALID_ARGUMENT, "reduction is null", trine_run_reduce(NULL, NULL, NULL, NULL));
  FAILS(TRINE_INVALID_ARGUMENT, "devices is null",
        trine_calibrate(NULL, 2, NULL, (const trine_calibrated_t**)&list));
  FAILS(TRINE_INVALID_ARGUMENT, "rows is null", trine_save_tuning(NULL, NULL, 1, NULL));
  CHECK(list == NULL);
}

static void refuse_bad_calls(void) {
  trine_device_t* device = NULL;
  FAILS(TRINE_NOT_FOUND, "No device is called 'abacus'", trine_device_open("abacus", &device));
  FAILS(TRINE_NOT_FOUND, "No device is called ''", trine_device_open(NULL, &device));
  CHECK(device == NULL);
  float x[] = {1, 2, 3, 4}, out = -7;
  const trine_host_view_t v = trine_host_vector(x, TRINE_F32, 4);
  const trine_options_t nowhere = {.device = "abacus"}, no_rung = {.rung = "abacus"};
  FAILS(TRINE_NOT_FOUND, "No device is called 'abacus'", trine_host_sum(v, &out, &nowhere));
  FAILS(TRINE_NOT_FOUND, "abacus", trine_host_sum(v, &out, &no_rung));
  FAILS(TRINE_INVALID_ARGUMENT, "null", trine_host_sum(v, NULL, NULL));
  FAILS(TRINE_INVALID_ARGUMENT, "", trine_host_sum(trine_host_vector(x, 99, 4), &out, NULL));
  FAILS(TRINE_INVALID_ARGUMENT, "",
        trine_host_reduce(99, 98, 97, v, trine_host_vector(&out, TRINE_F32, 1), NULL));
  FAILS(TRINE_INVALID_ARGUMENT, "",
        trine_host_reduce(TRINE_SUM, TRINE_IDENTITY, TRINE_ALL, v,
                          trine_host_vector(&out, TRINE_I32, 1), NULL));
  FAILS(TRINE_INVALID_ARGUMENT, "",
        trine_host_dot(v, trine_host_vector(x, TRINE_F32, 3), trine_host_vector(&out, TRINE_F32, 1),
                       TRINE_ALL, NULL));
  FAILS(TRINE_INVALID_ARGUMENT, "", trine_host_transpose(v, v, NULL));
  FAILS(TRINE_INVALID_ARGUMENT, "exact",
        trine_host_gemm(0.1, trine_host_row_major(x, TRINE_F32, 2, 2),
                        trine_host_row_major(x, TRINE_F32, 2, 2), 0,
                        trine_host_row_major(&out, TRINE_F32, 2, 2), NULL));
  const trine_options_t exact_in_parts = {.numerics = TRINE_EXACT, .continues = 1};
  FAILS(TRINE_INVALID_ARGUMENT, "rounded once",
        trine_host_gemm(1, trine_host_row_major(x, TRINE_F32, 1, 4),
                        trine_host_row_major(x, TRINE_F32, 4, 1), 0,
                        trine_host_row_major(&out, TRINE_F32, 1, 1), &exact_in_parts));
  CHECK(out == -7 && x[0] == 1 && x[3] == 4);
}

/* A number that names nothing stays one on its way to C++; 0 alone stands for a default. */
static void refuse_wrong_numbers(void) {
  trine_device_t* device = NULL;
  trine_queue_t* queue = NULL;
  trine_buffer_t* buffer = NULL;
  OK(trine_device_open("cpu", &device));
  OK(trine_queue_create(device, &queue));
  OK(trine_buffer_allocate(device, 64, 0, &buffer));
  float x[16] = {0};
  trine_exact_sum_t sum = {{0}};
  trine_partial_t partial;
  const trine_rung_info_t* const* rungs = NULL;
  const trine_crossing_t* const* crossings = NULL;
  const trine_choice_t* choice = NULL;
  const trine_placement_t* placement = NULL;
  size_t count = 0;
  const trine_host_view_t host = trine_host_vector(x, TRINE_F32, 16);
  const trine_host_view_t one = trine_host_vector(x, TRINE_F32, 1);
  const trine_view_t v = trine_vector(buffer, TRINE_F32, 4, 0);
  const trine_view_t result = trine_vector(buffer, TRINE_F32, 1, 32);
  const uint32_t numbers[] = {99, 257, UINT32_MAX};
  for (int i = 0; i < 3; ++i) {
    const uint32_t n = numbers[i];
    const trine_options_t options = {.device = "cpu", .numerics = n};
    const trine_reduce_t reductions[] = {{.function = n, .input = v, .output = result},
                                         {.map = n, .input = v, .output = result},
                                         {.axis = n, .input = v, .output = result},
                                         {.numerics = n, .input = v, .output = result}};
    for (int r = 0; r < 4; ++r)
      FAILS(TRINE_INVALID_ARGUMENT, "", trine_choose_reduce(device, &reductions[r], NULL, &choice));
    FAILS(TRINE_INVALID_ARGUMENT, "", trine_device_list_rungs(device, n, &rungs, &count));
    FAILS(TRINE_INVALID_ARGUMENT, "", trine_buffer_allocate(device, 4, n, &buffer));
    FAILS(TRINE_INVALID_ARGUMENT, "", trine_exact_sum_add(&sum, n, host, NULL));
    FAILS(TRINE_INVALID_ARGUMENT, "", trine_exact_sum_add_on_queue(&sum, queue, n, v));
    FAILS(TRINE_INVALID_ARGUMENT, "", trine_partial_init(&partial, n, TRINE_ABS, TRINE_F32));
    FAILS(TRINE_INVALID_ARGUMENT, "", trine_partial_init(&partial, TRINE_MAX, n, TRINE_F32));
    FAILS(TRINE_INVALID_ARGUMENT, "", trine_host_sum(host, x, &options));
    FAILS(TRINE_INVALID_ARGUMENT, "", trine_host_dot(host, host, one, n, NULL));
    FAILS(TRINE_INVALID_ARGUMENT, "", trine_run_dot(queue, v, v, result, n, NULL, NULL));
    FAILS(TRINE_INVALID_ARGUMENT, "", trine_fill(queue, trine_vector(buffer, n, 4, 0), x));
    FAILS(TRINE_INVALID_ARGUMENT, "",
          trine_place_reduce(&(trine_reduce_t){.input = v, .output = result}, n, 1, NULL, 0,
                             &placement));
    FAILS(TRINE_INVALID_ARGUMENT, "",
          trine_list_break_even(TRINE_GEMM, 0, TRINE_F32, n, device, device, &crossings, &count));
  }
  OK(trine_queue_wait(queue));
  trine_buffer_release(buffer);
  trine_queue_release(queue);
  trine_device_close(device);
}

void test_errors(void) {
  refuse_null_places();
  refuse_bad_calls();
  refuse_wrong_numbers();
  char sentence[200];
  snprintf(sentence, sizeof sentence, "%s", trine_last_error());
  float x = 1, sum = 0;
  OK(trine_host_sum(trine_host_vector(&x, TRINE_F32, 1), &sum, NULL));
  CHECK(strncmp(sentence, trine_last_error(), 150) == 0); /* a success leaves it alone */
}

/* Structs of other versions are refused in unit/sizes_test.cpp. */
void test_reserved(void) {
  float x[] = {1, 2}, sum = -7;
  const trine_options_t marked = {.device = "cpu", .reserved = 1};
  FAILS(TRINE_INVALID_ARGUMENT, "reserved",
        trine_host_sum(trine_host_vector(x, TRINE_F32, 2), &sum, &marked));
  CHECK(sum == -7);
}

/* Each thread has its own last error, and its calls are those of a program alone. */
static void* work(void* argument) {
  const int number = *(const int*)argument;
  char device_name[20], words[40];
  snprintf(device_name, sizeof device_name, "none%d", number);
  snprintf(words, sizeof words, "No device is called 'none%d'", number);
  CHECK(trine_last_error()[0] == 0);
  for (int round = 0; round < 200; ++round) {
    double values[64], sum = 0, expected = 0;
    for (int i = 0; i < 64; ++i) expected += values[i] = number * 64 + i + round;
    trine_device_t* device = NULL;
    FAILS(TRINE_NOT_FOUND, words, trine_device_open(device_name, &device));
    const trine_choice_t* choice = NULL;
    const trine_options_t options = {.device = "cpu", .choice = &choice};
    OK(trine_host_sum(trine_host_vector(values, TRINE_F64, 64), &sum, &options));
    CHECK(sum == expected && strstr(trine_last_error(), words) != NULL);
    trine_free(choice);
  }
  return NULL;
}

void test_threads(void) {
  enum { kThreads = 8 };
  pthread_t threads[kThreads];
  int numbers[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    numbers[i] = i;
    CHECK(pthread_create(&threads[i], NULL, work, &numbers[i]) == 0);
  }
  for (int i = 0; i < kThreads; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
}
