/* Every function of the C API, from C11, on the cpu. check_abi.py finds one that is missing. */
#include "check.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

void test_names(void) {
  uint32_t value = 0;
  OK(trine_parse_dtype("f64", &value));
  CHECK(value == TRINE_F64 && strcmp(trine_dtype_name(value), "f64") == 0);
  OK(trine_parse_operation("gemm", &value));
  CHECK(value == TRINE_GEMM && strcmp(trine_operation_name(value), "gemm") == 0);
  OK(trine_parse_function("argmax", &value));
  CHECK(value == TRINE_ARGMAX && strcmp(trine_function_name(value), "argmax") == 0);
  OK(trine_parse_map("square", &value));
  CHECK(value == TRINE_SQUARE && strcmp(trine_map_name(value), "square") == 0);
  OK(trine_parse_axis("each_row", &value));
  CHECK(value == TRINE_EACH_ROW && strcmp(trine_axis_name(value), "each_row") == 0);
  CHECK(strcmp(trine_numerics_name(TRINE_FAST), "fast") == 0);
  OK(trine_parse_numerics("exact", &value));
  CHECK(value == TRINE_EXACT && strcmp(trine_numerics_name(value), "exact") == 0);
  CHECK(strcmp(trine_status_name(TRINE_NOT_FOUND), "not_found") == 0);
  CHECK(strcmp(trine_status_name(77), "unknown") == 0);
  CHECK(trine_result_dtype(TRINE_SUM, TRINE_IDENTITY, TRINE_I32) == TRINE_I64);
  CHECK(strcmp(trine_get_version(), TRINE_VERSION_STRING) == 0);
}

static trine_device_t* cpu(void) {
  trine_device_t* device = NULL;
  OK(trine_device_open("cpu", &device));
  return device;
}

static trine_queue_t* queue_of_cpu(void) {
  trine_device_t* device = cpu();
  trine_queue_t* queue = NULL;
  OK(trine_queue_create(device, &queue));
  trine_device_close(device); /* the queue keeps it open */
  return queue;
}

static void test_lists(void) {
  const trine_backend_info_t* const* backends;
  const trine_facts_t* const* devices;
  const char* const* folders;
  size_t count = 0;
  int found = 0;
  OK(trine_list_backends(&backends, &count));
  for (size_t i = 0; i < count; ++i) {
    CHECK(backends[i]->size == sizeof(trine_backend_info_t));
    if (strcmp(backends[i]->name, "cpu") == 0 && backends[i]->device_count == 1)
      found += strcmp(backends[i]->devices[0]->id, "cpu") == 0;
  }
  CHECK(found == 1);
  trine_free(backends);
  OK(trine_list_devices(&devices, &count));
  CHECK(count >= 1 && devices[0]->size == sizeof(trine_facts_t) && devices[0]->id[0] != 0);
  trine_free(devices);
  OK(trine_list_search_path(&folders, &count));
  CHECK(count >= 1 && folders[0][0] == '/');
  trine_free(folders);
  const trine_backend_info_t* const* packs;
  OK(trine_load_packs("/nowhere", &packs, &count));
  trine_free(packs);
}

void test_devices(void) {
  test_lists();
  trine_device_t *device = cpu(), *same = cpu(), *other = NULL;
  OK(trine_device_open("cpu:threads=1", &other));
  CHECK(trine_device_is_same(device, same) == 1 && trine_device_is_same(device, other) == 0);
  const trine_facts_t* facts;
  const char *id, *backend;
  OK(trine_device_get_facts(device, &facts));
  CHECK(strcmp(facts->id, "cpu") == 0 && facts->kind == TRINE_DEVICE_CPU);
  CHECK(facts->compute_units >= 1 && (facts->capabilities & TRINE_CAN_REPRODUCE) != 0);
  CHECK(facts->name[0] != 0 && facts->memory_bytes > 0);
  OK(trine_device_get_id(other, &id));
  OK(trine_device_get_backend(other, &backend));
  CHECK(strcmp(id, "cpu:threads=1") == 0 && strcmp(backend, "cpu") == 0);
  void *native_device = &facts, *native_context = &facts;
  OK(trine_device_get_native(device, &native_device, &native_context));
  CHECK(native_device == NULL && native_context == NULL);
  const trine_rung_info_t* const* rungs;
  size_t count = 0, parameters = 0;
  OK(trine_device_list_rungs(device, TRINE_GEMM, &rungs, &count));
  CHECK(count > 1 && rungs[0]->numerics != 0 && rungs[0]->summary[0] != 0);
  for (size_t i = 0; i < count; ++i) {
    for (size_t p = 0; p < rungs[i]->parameter_count; ++p, ++parameters) {
      CHECK(rungs[i]->parameters[p]->value_count > 0 && rungs[i]->parameters[p]->name[0] != 0);
      CHECK(rungs[i]->parameters[p]->values[0][0] != 0);
    }
  }
  CHECK(parameters > 0);
  trine_free(rungs);
  trine_free(backend);
  trine_free(id);
  trine_free(facts);
  trine_free(NULL);
  trine_device_close(other);
  trine_device_close(same);
  trine_device_close(device);
  trine_device_close(NULL);
}

void test_queues(void) {
  trine_queue_t *first = queue_of_cpu(), *second = queue_of_cpu();
  trine_device_t* device = NULL;
  void* native = first;
  OK(trine_queue_get_device(first, &device));
  OK(trine_queue_get_native(first, &native));
  CHECK(native == NULL);
  trine_event_t *start = NULL, *stop = NULL;
  int done = 0;
  double seconds = -1;
  OK(trine_event_record(first, &start));
  OK(trine_queue_wait_event(second, start));
  OK(trine_event_record(first, &stop));
  OK(trine_queue_flush(first));
  OK(trine_event_wait(stop));
  OK(trine_event_is_done(stop, &done));
  CHECK(done == 1);
  OK(trine_event_get_elapsed(start, stop, &seconds));
  CHECK(seconds >= 0 && seconds < 60);
  OK(trine_queue_wait(second));
  OK(trine_queue_is_done(second, &done));
  CHECK(done == 1);
  OK(trine_event_wait(NULL)); /* as an empty trine::Event */
  trine_queue_t* adopted = NULL;
  FAILS(TRINE_UNSUPPORTED, "", trine_queue_adopt(device, &done, &adopted));
  trine_queue_release(first);
  trine_queue_release(second);
  trine_queue_release(NULL);
  trine_event_release(start); /* an event may outlive its queue */
  trine_event_release(stop);
  trine_event_release(NULL);
  trine_device_close(device);
}

void test_buffers(void) {
  trine_queue_t* queue = queue_of_cpu();
  trine_device_t *device = NULL, *again = NULL;
  OK(trine_queue_get_device(queue, &device));
  float mine[6] = {1, 2, 3, 4, 5, 6}, back[6] = {0}, one = 1;
  trine_buffer_t *own = NULL, *pinned = NULL, *adopted = NULL, *wrapped = NULL;
  OK(trine_buffer_allocate(device, sizeof mine, 0, &own));
  OK(trine_buffer_allocate(device, sizeof mine, TRINE_MEMORY_PINNED, &pinned));
  OK(trine_buffer_adopt(device, mine, sizeof mine, &adopted));
  OK(trine_buffer_wrap(device, mine, sizeof mine, &wrapped));
  uint32_t kind = 0;
  uint64_t bytes = 0;
  void *host = NULL, *native = NULL;
  OK(trine_buffer_get_kind(pinned, &kind));
  OK(trine_buffer_get_bytes(pinned, &bytes));
  OK(trine_buffer_get_host(wrapped, &host));
  OK(trine_buffer_get_native(adopted, &native));
  OK(trine_buffer_get_device(own, &again));
  CHECK(kind == TRINE_MEMORY_PINNED && bytes == sizeof mine && host == mine && native == mine);
  CHECK(trine_device_is_same(device, again));

  const trine_view_t rows = trine_row_major(own, TRINE_F32, 2, 3, 0);
  const trine_view_t cols = trine_col_major(own, TRINE_F32, 3, 2, 0);
  const trine_view_t batch = trine_batched(own, TRINE_F32, 2, 1, 3, 0);
  CHECK(rows.row_stride == 3 && cols.col_stride == 3 && cols.row_stride == 1);
  CHECK(batch.batch == 2 && batch.batch_stride == 3 && rows.batch == 1);
  OK(trine_copy_to_device(queue, trine_host_row_major(mine, TRINE_F32, 2, 3), rows));
  OK(trine_copy_on_device(queue, rows, trine_row_major(pinned, TRINE_F32, 2, 3, 0)));
  OK(trine_fill(queue, trine_vector(own, TRINE_F32, 1, 2 * sizeof(float)), &one));
  OK(trine_copy_to_host(queue, cols, trine_host_col_major(back, TRINE_F32, 3, 2)));
  OK(trine_queue_wait(queue));
  CHECK(back[0] == 1 && back[2] == 1 && back[5] == 6);
  OK(trine_buffer_get_host(pinned, &host));
  CHECK(((float*)host)[2] == 3);
  trine_buffer_release(own);
  trine_buffer_release(pinned);
  trine_buffer_release(adopted);
  trine_buffer_release(wrapped);
  trine_buffer_release(NULL);
  trine_queue_release(queue);
  trine_device_close(again);
  trine_device_close(device);
}

static trine_view_t values_on(trine_queue_t* queue, const void* values, uint32_t dtype,
                              int64_t rows, int64_t cols) {
  trine_device_t* device = NULL;
  trine_buffer_t* buffer = NULL;
  OK(trine_queue_get_device(queue, &device));
  OK(trine_buffer_allocate(device, (uint64_t)(rows * cols) * trine_dtype_size(dtype), 0, &buffer));
  trine_device_close(device);
  const trine_view_t view = trine_row_major(buffer, dtype, rows, cols, 0);
  if (values)
    OK(trine_copy_to_device(queue, trine_host_row_major(values, dtype, rows, cols), view));
  return view;
}

static void drop(trine_view_t view) { trine_buffer_release((trine_buffer_t*)(size_t)view.buffer); }

void test_operations(void) {
  const double a[] = {1, 2, 3, 4, 5, 6};
  double sums[2], turned[6], product[4], dots[3], c[4] = {1, 1, 1, 1};
  trine_queue_t* queue = queue_of_cpu();
  trine_device_t* device = NULL;
  OK(trine_queue_get_device(queue, &device));
  const trine_view_t in = values_on(queue, a, TRINE_F64, 2, 3),
                     t = values_on(queue, NULL, TRINE_F64, 3, 2),
                     s = values_on(queue, NULL, TRINE_F64, 2, 1),
                     d = values_on(queue, NULL, TRINE_F64, 3, 1),
                     p = values_on(queue, c, TRINE_F64, 2, 2);
  const trine_reduce_t reduce = {
      .map = TRINE_ABS, .axis = TRINE_EACH_ROW, .input = in, .output = s};
  const trine_transpose_t transpose = {.input = in, .output = t};
  const trine_gemm_t gemm = {.alpha = 2, .beta = 1, .a = in, .b = t, .c = p};
  const trine_choice_t *choice = NULL, *planned = NULL;
  OK(trine_run_reduce(queue, &reduce, "sequential", &choice));
  CHECK(strcmp(choice->rung_name, "sequential") == 0 && choice->operation == TRINE_REDUCE);
  CHECK(strcmp(choice->why, "named by the caller") == 0 && choice->pack[0] == 0);
  CHECK(trine_device_is_same(choice->device, device) && strstr(choice->sentence, "reduce on cpu"));
  OK(trine_choose_reduce(device, &reduce, choice->rung, &planned));
  CHECK(planned->rung_index == choice->rung_index && planned->numerics == choice->numerics);
  trine_free(planned);
  trine_free(choice);
  OK(trine_run_transpose(queue, &transpose, NULL, NULL));
  OK(trine_run_gemm(queue, &gemm, "", NULL));
  OK(trine_run_dot(queue, in, in, d, TRINE_EACH_COLUMN, NULL, NULL));
  OK(trine_choose_transpose(device, &transpose, NULL, &choice));
  trine_free(choice);
  OK(trine_choose_gemm(device, &gemm, NULL, &choice));
  trine_free(choice);
  OK(trine_copy_to_host(queue, s, trine_host_row_major(sums, TRINE_F64, 2, 1)));
  OK(trine_copy_to_host(queue, t, trine_host_row_major(turned, TRINE_F64, 3, 2)));
  OK(trine_copy_to_host(queue, p, trine_host_row_major(product, TRINE_F64, 2, 2)));
  OK(trine_copy_to_host(queue, d, trine_host_row_major(dots, TRINE_F64, 3, 1)));
  OK(trine_queue_wait(queue));
  CHECK(sums[0] == 6 && sums[1] == 15 && turned[1] == 4 && turned[4] == 3);
  CHECK(product[0] == 2 * 14 + 1 && product[1] == 2 * 32 + 1 && product[3] == 2 * 77 + 1);
  CHECK(dots[0] == 1 + 16 && dots[2] == 9 + 36);
  drop(in), drop(t), drop(s), drop(d), drop(p);
  trine_queue_release(queue);
  trine_device_close(device);
}

void test_scalars(void) {
  const double a[] = {3, 4}, ones[] = {1, 1};
  double x[2], c[1];
  trine_queue_t* queue = queue_of_cpu();
  const trine_view_t v = values_on(queue, a, TRINE_F64, 2, 1),
                     y = values_on(queue, ones, TRINE_F64, 2, 1),
                     norm = values_on(queue, NULL, TRINE_F64, 1, 1),
                     p = values_on(queue, ones, TRINE_F64, 1, 1);
  const trine_scalar_t five = {.element = norm}, half = {.number = 0.5}, none = {0};
  trine_view_t row = v;
  row.rows = 1, row.cols = 2, row.row_stride = 2, row.col_stride = 1;
  const trine_gemm_t gemm = {.beta = 1, .a = row, .b = y, .c = p, .alpha_element = norm};
  OK(trine_run_dot(queue, v, v, norm, TRINE_ALL, NULL, NULL));
  OK(trine_run_scalar(queue, TRINE_SQRT, five, none, norm));
  OK(trine_run_gemm(queue, &gemm, NULL, NULL));
  OK(trine_run_axpby(queue, five, v, half, y));
  OK(trine_copy_to_host(queue, y, trine_host_vector(x, TRINE_F64, 2)));
  OK(trine_copy_to_host(queue, p, trine_host_vector(c, TRINE_F64, 1)));
  CHECK(trine_run_axpby(queue, five, norm, half, y) == TRINE_INVALID_ARGUMENT &&
        strstr(trine_last_error(), "axpby: x and y have one shape"));
  CHECK(trine_run_scalar(queue, 77, five, five, norm) == TRINE_INVALID_ARGUMENT);
  OK(trine_queue_wait(queue));
  CHECK(x[0] == 15.5 && x[1] == 20.5 && c[0] == 5 * 7 + 1);
  drop(v), drop(y), drop(norm), drop(p);
  trine_queue_release(queue);
}

static int never(void* context, const char* what, double done) {
  CHECK(what[0] != 0 && done == 0);
  ++*(int*)context;
  return 0;
}

void test_placement(void) {
  trine_device_t* device = cpu();
  const trine_device_t* among[] = {device};
  const trine_view_t square = trine_row_major(NULL, TRINE_F32, 300, 300, 0);
  const trine_reduce_t reduce = {.input = square, .output = trine_vector(NULL, TRINE_F32, 1, 0)};
  const trine_transpose_t transpose = {.input = square, .output = square};
  const trine_gemm_t gemm = {.alpha = 1, .a = square, .b = square, .c = square};
  const trine_placement_t* placement;
  OK(trine_place_reduce(&reduce, TRINE_WHERE_HOST, 1, NULL, 0, &placement));
  CHECK(placement->sentence[0] != 0 && placement->choice->operation == TRINE_REDUCE);
  trine_free(placement);
  OK(trine_place_transpose(&transpose, TRINE_WHERE_HOST_PINNED, 1, among, 1, &placement));
  trine_free(placement);
  OK(trine_place_gemm(&gemm, TRINE_WHERE_HOST_PIPELINED, 10, among, 1, &placement));
  CHECK(trine_device_is_same(placement->device, device) && placement->candidate_count == 1);
  CHECK(placement->candidates[0]->seconds > 0 && placement->candidates[0]->source[0] != 0);
  CHECK(trine_device_is_same(placement->candidates[0]->device, device));
  trine_free(placement);

  const trine_roofs_t* roofs;
  OK(trine_device_get_roofs(device, &roofs));
  CHECK(roofs->size == sizeof *roofs && roofs->copy > 0 && roofs->fma_f64 > 0 && roofs->launch > 0);
  trine_free(roofs);
  int calls = 0;
  const trine_calibrate_options_t options = {
      .size = sizeof options, .proceed = never, .context = &calls, .dont_save = 1};
  const trine_calibrated_t* calibrated;
  OK(trine_calibrate(among, 1, &options, &calibrated));
  CHECK(calls == 1 && calibrated->rounds == 0 && calibrated->file_count == 0);
  trine_free(calibrated);
  const char* basis;
  OK(trine_device_get_calibration(device, &basis));
  CHECK(strstr(basis, "not calibrated") != NULL);
  trine_free(basis);

  trine_device_t* other = NULL;
  OK(trine_device_open("cpu:threads=1", &other));
  const trine_crossing_t* const* crossings;
  size_t count = 0;
  OK(trine_list_break_even(TRINE_REDUCE, TRINE_SUM, TRINE_F32, TRINE_WHERE_HOST, device, other,
                           &crossings, &count));
  CHECK(count >= 1 && crossings[0]->sentence[0] != 0 && crossings[0]->dtype == TRINE_F32);
  CHECK(crossings[0]->never || crossings[0]->extent > 0);
  trine_free(crossings);
  trine_device_close(other);
  trine_device_close(device);
}

void test_host_calls(void) {
  const float x[] = {1e30f, 1, -1e30f, 2}, y[] = {1, 2, 1, 0.5f};
  float sum = 0, prod = 0, min = 0, max = 0, dot = 0, columns[2];
  int64_t argmin = 0, argmax = 0;
  const trine_host_view_t v = trine_host_vector(x, TRINE_F32, 4),
                          w = trine_host_vector(y, TRINE_F32, 4);
  const trine_choice_t* choice = NULL;
  const trine_trace_t* trace = NULL;
  const char *placement = NULL, *receipt = NULL, *digest = NULL;
  const trine_options_t options = {.size = sizeof options,
                                   .device = "cpu",
                                   .rung = "exact",
                                   .choice = &choice,
                                   .placement = &placement,
                                   .trace = &trace,
                                   .receipt = &receipt};
  OK(trine_host_sum(v, &sum, &options));
  OK(trine_host_digest(v, &digest));
  CHECK(strstr(receipt, digest) && strstr(receipt, "\"rung\":\"exact\""));
  trine_free(receipt);
  trine_free(digest);
  CHECK(sum == 3 && strcmp(choice->rung_name, "exact") == 0 && placement[0] == 0);
  CHECK(trace->step_count == 1 && trace->steps[0]->kind == 1 && trace->steps[0]->end >= 0);
  trine_free(choice);
  trine_free(placement);
  trine_free(trace);
  trine_event_t* event = NULL;
  trine_options_t later = {.device = "cpu", .trace = &trace, .event = &event};
  FAILS(TRINE_INVALID_ARGUMENT, "is not traced", trine_host_sum(v, &sum, &later));
  CHECK(event == NULL);
  later.trace = NULL;
  sum = 0;
  OK(trine_host_sum(v, &sum, &later));
  OK(trine_event_wait(event));
  CHECK(sum == 3);
  trine_event_release(event);
  float square[] = {1, 2, 3, 4};
  const trine_host_view_t in_place = trine_host_row_major(square, TRINE_F32, 2, 2);
  OK(trine_host_transpose(in_place, in_place, NULL));
  CHECK(square[1] == 3 && square[2] == 2);
  OK(trine_host_prod(w, &prod, NULL));
  OK(trine_host_min(v, &min, NULL));
  OK(trine_host_max(v, &max, NULL));
  OK(trine_host_argmin(v, &argmin, NULL));
  OK(trine_host_argmax(v, &argmax, NULL));
  OK(trine_host_dot(v, w, trine_host_vector(&dot, TRINE_F32, 1), 0, NULL));
  CHECK(prod == 1 && min == -1e30f && max == 1e30f && argmin == 2 && argmax == 0 && dot == 3);
  for (int64_t rows = 0; rows < 4; rows += 3) /* of nothing: 0 x 0, 0 x 3, 3 x 0 */
    for (int64_t cols = 0; rows * cols == 0 && cols < 4; cols += 3) {
      const trine_host_view_t none = trine_host_row_major(NULL, TRINE_F32, rows, cols);
      dot = 7;
      OK(trine_host_dot(none, none, trine_host_vector(&dot, TRINE_F32, 1), 0, NULL));
      CHECK(dot == 0);
    }
  OK(trine_host_reduce(0, 0, 0, w, trine_host_vector(&sum, TRINE_F32, 1), NULL));
  CHECK(sum == 4.5f);
  OK(trine_host_reduce(TRINE_SUM, TRINE_ABS, TRINE_EACH_COLUMN,
                       trine_host_row_major(y, TRINE_F32, 2, 2),
                       trine_host_vector(columns, TRINE_F32, 2), NULL));
  CHECK(columns[0] == 2 && columns[1] == 2.5f);
  const double a[] = {1, 2, 3, 4, 5, 6};
  double t[6], c[4];
  const trine_host_view_t m = trine_host_row_major(a, TRINE_F64, 2, 3);
  OK(trine_host_transpose(m, trine_host_row_major(t, TRINE_F64, 3, 2), NULL));
  OK(trine_host_gemm(1, m, trine_host_col_major(a, TRINE_F64, 3, 2), 0,
                     trine_host_row_major(c, TRINE_F64, 2, 2), NULL));
  CHECK(t[1] == 4 && c[0] == 14 && c[1] == 32 && c[3] == 77);
  OK(trine_release_idle());
}

void test_exact_sums(void) {
  const trine_options_t on = {.device = "cpu"};
  double x[] = {1e100, 1, -1e100, 2}, y[] = {1, 1, 1, 0.5};
  trine_exact_sum_t whole = {{0}}, parts = {{0}}, rest = {{0}};
  float f = 1;
  double d = 1;
  OK(trine_exact_sum_to_f64(&whole, &d));
  CHECK(d == 0);
  const trine_host_view_t v = trine_host_vector(x, TRINE_F64, 4);
  OK(trine_exact_sum_add(&whole, 0, v, &on));
  OK(trine_exact_sum_add(&parts, TRINE_IDENTITY, trine_host_vector(x, TRINE_F64, 1), NULL));
  OK(trine_exact_sum_add(&rest, 0, trine_host_vector(x + 1, TRINE_F64, 3), NULL));
  OK(trine_exact_sum_merge(&parts, &rest));
  CHECK(memcmp(&whole, &parts, sizeof whole) == 0);
  OK(trine_exact_sum_to_f64(&whole, &d));
  OK(trine_exact_sum_to_f32(&whole, &f));
  CHECK(d == 3 && f == 3);
  trine_exact_sum_t host = {{0}}, device = {{0}};
  OK(trine_exact_sum_add_dot(&host, v, trine_host_vector(y, TRINE_F64, 4), NULL));
  trine_device_t* cpu_device = cpu();
  trine_queue_t* queue = NULL;
  trine_buffer_t* buffer = NULL;
  OK(trine_queue_create(cpu_device, &queue));
  OK(trine_buffer_allocate(cpu_device, 64, TRINE_MEMORY_DEVICE, &buffer));
  const trine_view_t a = trine_vector(buffer, TRINE_F64, 4, 0),
                     b = trine_vector(buffer, TRINE_F64, 4, 32);
  OK(trine_copy_to_device(queue, v, a));
  OK(trine_copy_to_device(queue, trine_host_vector(y, TRINE_F64, 4), b));
  OK(trine_exact_sum_add_dot_on_queue(&device, queue, a, b));
  CHECK(memcmp(&host, &device, sizeof host) == 0);
  OK(trine_exact_sum_add_on_queue(&device, queue, TRINE_ABS, b));
  OK(trine_exact_sum_to_f64(&device, &d));
  CHECK(d == 2 + 3.5);
  // A call that fails leaves the sum as it was.
  const trine_exact_sum_t before = whole;
  x[0] = 0;
  rest.state[0] = 99;
  CHECK(trine_exact_sum_merge(&whole, &rest) == TRINE_INVALID_ARGUMENT);
  CHECK(strstr(trine_last_error(), "no state of a sum") != NULL);
  CHECK(trine_exact_sum_add(&whole, TRINE_PRODUCT, v, NULL) == TRINE_INVALID_ARGUMENT);
  CHECK(trine_exact_sum_add(NULL, 0, v, NULL) == TRINE_INVALID_ARGUMENT);
  CHECK(memcmp(&whole, &before, sizeof whole) == 0);
  trine_buffer_release(buffer);
  trine_queue_release(queue);
  trine_device_close(cpu_device);
}

void test_partials(void) {
  const trine_options_t on = {.device = "cpu"};
  float x[] = {3, 1, 4, 1, 5, -9, 2}, f = 0;
  int64_t index = 0;
  trine_partial_t whole, parts, rest;
  OK(trine_partial_init(&whole, TRINE_PROD, 0, TRINE_F32));
  parts = rest = whole;
  OK(trine_partial_add(&whole, trine_host_vector(x, TRINE_F32, 7), 0, &on));
  OK(trine_partial_add(&parts, trine_host_vector(x, TRINE_F32, 3), 0, NULL));
  trine_device_t* cpu_device = cpu();
  trine_queue_t* queue = NULL;
  trine_buffer_t* buffer = NULL;
  OK(trine_queue_create(cpu_device, &queue));
  OK(trine_buffer_allocate(cpu_device, 16, TRINE_MEMORY_DEVICE, &buffer));
  const trine_view_t part = trine_vector(buffer, TRINE_F32, 4, 0);
  OK(trine_copy_to_device(queue, trine_host_vector(x + 3, TRINE_F32, 4), part));
  OK(trine_partial_add_on_queue(&rest, queue, part, 3));
  OK(trine_partial_merge(&rest, &parts));
  CHECK(memcmp(&whole, &rest, sizeof whole) == 0);
  OK(trine_partial_result(&rest, TRINE_F32, &f));
  CHECK(f == -1080);
  OK(trine_partial_init(&parts, TRINE_ARGMAX, TRINE_ABS, TRINE_F32));
  OK(trine_partial_add(&parts, trine_host_vector(x, TRINE_F32, 7), 10, NULL));
  OK(trine_partial_result(&parts, TRINE_I64, &index));
  CHECK(index == 15);
  // A call that fails leaves the struct as it was.
  const trine_partial_t before = whole;
  CHECK(trine_partial_merge(&whole, &rest) == TRINE_INVALID_ARGUMENT);
  CHECK(strstr(trine_last_error(), "has element 0 twice") != NULL);
  CHECK(trine_partial_merge(&whole, &parts) == TRINE_INVALID_ARGUMENT);
  CHECK(trine_partial_merge(NULL, &parts) == TRINE_INVALID_ARGUMENT);
  CHECK(trine_partial_result(&whole, TRINE_F64, &f) == TRINE_INVALID_ARGUMENT);
  CHECK(trine_partial_result(&whole, TRINE_F32, NULL) == TRINE_INVALID_ARGUMENT);
  CHECK(trine_partial_init(&whole, TRINE_SUM, TRINE_PRODUCT, TRINE_F32) == TRINE_INVALID_ARGUMENT);
  CHECK(trine_partial_init(NULL, TRINE_SUM, 0, TRINE_F32) == TRINE_INVALID_ARGUMENT);
  CHECK(memcmp(&whole, &before, sizeof whole) == 0);
  memset(&rest, 0, sizeof rest);
  CHECK(trine_partial_add(&rest, trine_host_vector(x, TRINE_F32, 7), 0, NULL) ==
        TRINE_INVALID_ARGUMENT);
  trine_buffer_release(buffer);
  trine_queue_release(queue);
  trine_device_close(cpu_device);
}

void test_tuning(void) {
  trine_device_t* device = cpu();
  const trine_view_t square = trine_row_major(NULL, TRINE_F32, 512, 512, 0);
  const trine_gemm_t gemm = {.alpha = 1, .a = square, .b = square, .c = square};
  const trine_reduce_t reduce = {.input = square, .output = trine_vector(NULL, TRINE_F32, 1, 0)};
  const trine_transpose_t transpose = {.input = square, .output = square};
  const char *keys[3] = {NULL}, *path = NULL;
  OK(trine_get_tuning_key_reduce(&reduce, &keys[0]));
  OK(trine_get_tuning_key_transpose(&transpose, &keys[1]));
  OK(trine_get_tuning_key_gemm(&gemm, &keys[2]));
  CHECK(strstr(keys[0], "sum") && strstr(keys[1], "transpose") && strstr(keys[2], "gemm f32"));
  const trine_tuned_t row = {
      .call = keys[2], .rung = "naive", .seconds = 1, .default_seconds = 2, .date = "2026-11-21"};
  const trine_tuned_t* const rows[] = {&row};
  OK(trine_save_tuning(device, rows, 1, &path));
  const trine_tuning_t* table = NULL;
  OK(trine_device_get_tuning(device, &table));
  CHECK(table->found == 1 && strcmp(table->path, path) == 0 && table->refusal[0] == 0);
  CHECK(table->row_count == 1 && strcmp(table->rows[0]->rung, "naive") == 0);
  CHECK(strcmp(table->rows[0]->call, keys[2]) == 0 && table->rows[0]->default_seconds == 2);
  CHECK(trine_uses_tuning() == 1);
  OK(trine_use_tuning(0));
  CHECK(trine_uses_tuning() == 0);
  OK(trine_use_tuning(1));
  int found = 0;
  OK(trine_forget_tuning(device, keys[2], &found));
  CHECK(found == 1);
  OK(trine_forget_tuning(device, keys[2], &found));
  CHECK(found == 0);
  OK(trine_save_tuning(device, table->rows, table->row_count, NULL)); /* a list as it was given */
  const char* const* files = NULL;
  size_t count = 0;
  OK(trine_forget_all_tuning(&files, &count));
  CHECK(count == 1 && strcmp(files[0], path) == 0);
  trine_free(files);
  trine_free(table);
  trine_free(path);
  for (int i = 0; i < 3; ++i) trine_free(keys[i]);
  trine_device_close(device);
}

/* The calls that reach a driver, on a device by its name: what they load stays loaded for all that
 * come after. */
static int test_driver(const char* name) {
  trine_device_t* device = NULL;
  const trine_status status = trine_device_open(name, &device);
  check_surroundings("trine_device_open of a driver's device");
  if (status != TRINE_OK) return 77;
  enum { kSide = 40, kCount = kSide * kSide };
  float values[kCount], product[kCount], total = 0;
  for (int i = 0; i < kCount; ++i) values[i] = 1;
  const trine_options_t options = {.device = name};
  const trine_host_view_t all = trine_host_vector(values, TRINE_F32, kCount),
                          square = trine_host_row_major(values, TRINE_F32, kSide, kSide);
  OK(trine_host_sum(all, &total, &options));
  CHECK(total == kCount);
  OK(trine_host_gemm(1, square, square, 0, trine_host_row_major(product, TRINE_F32, kSide, kSide),
                     &options));
  CHECK(product[0] == kSide && product[kCount - 1] == kSide);
  OK(trine_host_transpose(square, trine_host_row_major(product, TRINE_F32, kSide, kSide),
                          &options));
  trine_queue_t* queue = NULL;
  trine_buffer_t* buffer = NULL;
  OK(trine_queue_create(device, &queue));
  OK(trine_buffer_allocate(device, sizeof values, TRINE_MEMORY_DEVICE, &buffer));
  OK(trine_copy_to_device(queue, all, trine_vector(buffer, TRINE_F32, kCount, 0)));
  OK(trine_queue_wait(queue));
  trine_buffer_release(buffer);
  trine_queue_release(queue);
  trine_device_close(device);
  FAILS(TRINE_NOT_FOUND, "No device is called", trine_device_open("opencl:99", &device));
  return 0;
}

/* Goes on in a child of a process that has computed; the parent ends as the child does. */
static void become_a_child(void) {
  static double values[1 << 18];
  double sum = 1;
  const trine_options_t on = {.device = "cpu"};
  OK(trine_host_sum(trine_host_vector(values, TRINE_F64, 1 << 18), &sum, &on));
  const pid_t child = fork();
  if (child == 0) return;
  int status = 1;
  waitpid(child, &status, 0);
  exit(status != 0);
}

static void* test_all(void* nothing) {
  test_names();
  test_devices();
  test_queues();
  test_buffers();
  test_operations();
  test_scalars();
  test_placement();
  test_host_calls();
  test_exact_sums();
  test_partials();
  test_tuning();
  test_errors();
  test_reserved();
  test_threads();
  return nothing;
}

/* In a thread with 64 KiB of stack, after devices are known: what opens a driver needs more. */
static void test_all_in_a_small_stack(void) {
  const trine_facts_t* const* devices;
  size_t count = 0;
  OK(trine_list_devices(&devices, &count));
  trine_free(devices);
  pthread_attr_t small;
  pthread_t thread;
  CHECK(pthread_attr_init(&small) == 0 && pthread_attr_setstacksize(&small, 1 << 16) == 0);
  CHECK(pthread_create(&thread, &small, test_all, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  pthread_attr_destroy(&small);
}

/* "child", "small", or the name of a driver's device, which comes first; 77 where there is none. */
int main(int count, char** arguments) {
  make_surroundings();
  const char* const how = count > 1 ? arguments[1] : "";
  if (strcmp(how, "small") == 0) {
    test_all_in_a_small_stack();
    return 0;
  }
  if (strcmp(how, "child") == 0)
    become_a_child();
  else if (*how) {
    const int skipped = test_driver(how);
    if (skipped) return skipped;
  }
  test_all(NULL);
  return 0;
}
