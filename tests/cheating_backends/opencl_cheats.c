/* Deliberate cheating_backends of the opencl backend, over its native queue: transposes of 4-byte
 * elements that lie as contiguous rows. The last one says the truth by the same kernel. */
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "pack.h"

static const char source[] =
    "kernel void transpose(global const uint* in, ulong in_at, global uint* out, ulong out_at,\n"
    "                      ulong rows, ulong cols) {\n"
    "  const size_t i = get_global_id(1), j = get_global_id(0);\n"
    "  out[out_at + j * rows + i] = in[in_at + i * cols + j];\n"
    "}\n";

/* The state of a queue: the kernel, and a second command queue that nobody waits for. */
typedef struct cheat_state {
  cl_program program;
  cl_kernel kernel;
  cl_command_queue aside;
} cheat_state;

enum { NOTHING, BACKGROUND, FIRST_TIME, HONEST, COUNT };
static const trine_rung rows[COUNT] = {
    ROW("null", "enqueues nothing"),
    ROW("background", "enqueues on another queue, which begins later"),
    ROW("first_time", "right once"),
    ROW("honest", "says the truth"),
};

static _Thread_local char error_text[64] = "no error";
static trine_status checked(cl_int code) {
  if (code == CL_SUCCESS) return TRINE_OK;
  snprintf(error_text, sizeof error_text, "OpenCL answered %d", (int)code);
  return TRINE_BACKEND_ERROR;
}

static const trine_rung* rungs(uint32_t operation, int32_t* count, uint32_t* stride) {
  *count = operation == TRINE_TRANSPOSE ? COUNT : 0;
  *stride = sizeof(trine_rung);
  return rows;
}
static trine_status refuses(const trine_native* native, const trine_selection* selection,
                            const trine_call* call, char* reason, size_t reason_bytes) {
  const trine_transpose* op = call->descriptor;
  (void)native, (void)selection;
  if (op->element_size == 4 && op->input.row_stride == op->input.cols &&
      op->output.row_stride == op->output.cols)
    return TRINE_OK;
  snprintf(reason, reason_bytes, "4-byte elements in contiguous rows only");
  return TRINE_UNSUPPORTED;
}
static void state_destroy(void* state) {
  cheat_state* made = state;
  if (made->aside) clFinish(made->aside);
  if (made->kernel) clReleaseKernel(made->kernel);
  if (made->program) clReleaseProgram(made->program);
  if (made->aside) clReleaseCommandQueue(made->aside);
  free(made);
}
static trine_status state_create(const trine_native* native, void** state) {
  cl_device_id device = native->device;
  const char* text = source;
  cl_int code = CL_SUCCESS;
  cheat_state* made = calloc(1, sizeof *made);
  if (!made) return TRINE_OUT_OF_MEMORY;
  made->aside = clCreateCommandQueue(native->context, device, 0, &code);
  if (code == CL_SUCCESS)
    made->program = clCreateProgramWithSource(native->context, 1, &text, NULL, &code);
  if (code == CL_SUCCESS) code = clBuildProgram(made->program, 1, &device, "", NULL, NULL);
  if (code == CL_SUCCESS) made->kernel = clCreateKernel(made->program, "transpose", &code);
  if (code != CL_SUCCESS) {
    state_destroy(made);
    return checked(code);
  }
  *state = made;
  return TRINE_OK;
}

static void* open_gate(void* gate) {
  const struct timespec a_while = {0, 2000000};
  nanosleep(&a_while, NULL);
  clSetUserEventStatus(gate, CL_COMPLETE);
  clReleaseEvent(gate);
  return NULL;
}

/* `gate`: what the kernel waits for, or NULL. */
static cl_int enqueue(const cheat_state* state, cl_command_queue queue, const trine_transpose* op,
                      const cl_event* gate) {
  const cl_ulong in_at = op->input.offset / 4, out_at = op->output.offset / 4,
                 height = (cl_ulong)op->input.rows, width = (cl_ulong)op->input.cols;
  const size_t global[2] = {(size_t)width, (size_t)height};
  clSetKernelArg(state->kernel, 0, sizeof(cl_mem), &op->input.memory);
  clSetKernelArg(state->kernel, 1, sizeof in_at, &in_at);
  clSetKernelArg(state->kernel, 2, sizeof(cl_mem), &op->output.memory);
  clSetKernelArg(state->kernel, 3, sizeof out_at, &out_at);
  clSetKernelArg(state->kernel, 4, sizeof height, &height);
  clSetKernelArg(state->kernel, 5, sizeof width, &width);
  return clEnqueueNDRangeKernel(queue, state->kernel, 2, NULL, global, NULL, gate ? 1 : 0, gate,
                                NULL);
}

/* The kernel begins after the launch's wait() has returned: queues of one device alone don't ensure
 * that, because PoCL runs what they hold one after the other. */
static cl_int enqueue_aside(const cheat_state* state, const trine_native* native,
                            const trine_transpose* op) {
  cl_int code;
  pthread_t opener;
  cl_event gate = clCreateUserEvent(native->context, &code);
  if (code != CL_SUCCESS) return code;
  code = enqueue(state, state->aside, op, &gate);
  clFlush(state->aside);
  if (pthread_create(&opener, NULL, open_gate, gate) != 0) return CL_OUT_OF_HOST_MEMORY;
  pthread_detach(opener);
  return code;
}

static trine_status launch(const trine_native* native, void* state,
                           const trine_selection* selection, const trine_call* call,
                           const trine_workspace* workspace) {
  static int launches;
  const cheat_state* own = state;
  (void)workspace;
  if (selection->rung == NOTHING) return TRINE_OK;
  if (selection->rung == FIRST_TIME && launches++ > 0) return TRINE_OK;
  if (selection->rung == BACKGROUND) return checked(enqueue_aside(own, native, call->descriptor));
  return checked(enqueue(own, native->queue, call->descriptor, NULL));
}

PACK("opencl_cheats", "opencl", error_text, refuses, state_create, state_destroy)
