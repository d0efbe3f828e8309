// Trampolines: each name that the shim doesn't compute jumps through a slot of its own. The slot
// begins at a stub, which asks trine_blas_resolve(index, the caller's address) for the function of
// the next BLAS; that keeps every argument register, so it serves any signature, varargs and
// complex results included.
#define SPELLING(prefix, suffix, integer)
#define COMPUTED(name)
#define FORWARD(name) forward name;

.altmacro
.set index, 0

#if defined(__x86_64__)
.macro stub name, number
stub_\name: movl $\number, %r11d
  jmp resolve
.endm
.macro forward name
  .globl \name
  .type \name, @function
\name: jmp *slot_\name(%rip)
  stub \name, %index
  .size \name, . - \name
  .pushsection .data.rel.local, "aw"
slot_\name: .quad stub_\name
  .popsection
  .set index, index + 1
.endm
#elif defined(__aarch64__)
.macro stub name, number
stub_\name: mov w17, #\number
  b resolve
.endm
.macro forward name
  .globl \name
  .type \name, @function
\name: adrp x16, slot_\name
  ldr x16, [x16, #:lo12:slot_\name]
  br x16
  stub \name, %index
  .size \name, . - \name
  .pushsection .data.rel.local, "aw"
slot_\name: .quad stub_\name
  .popsection
  .set index, index + 1
.endm
#else
#error "the BLAS shim has trampolines for x86-64 and aarch64"
#endif

  .pushsection .data.rel.local, "aw"
  .balign 8
  .globl trine_blas_slots
  .hidden trine_blas_slots
trine_blas_slots:
  .popsection
  .hidden trine_blas_resolve

  .text
#if defined(__x86_64__)
resolve:
  .irp register, rdi, rsi, rdx, rcx, r8, r9, rax
  push %\register
  .endr
  sub $128, %rsp
  .irp number, 0, 1, 2, 3, 4, 5, 6, 7
  movaps %xmm\number, 16 * \number(%rsp)
  .endr
  mov %r11d, %edi
  mov 184(%rsp), %rsi
  call trine_blas_resolve
  mov %rax, %r11
  .irp number, 0, 1, 2, 3, 4, 5, 6, 7
  movaps 16 * \number(%rsp), %xmm\number
  .endr
  add $128, %rsp
  .irp register, rax, r9, r8, rcx, rdx, rsi, rdi
  pop %\register
  .endr
  jmp *%r11
#else
resolve:
  stp x29, x30, [sp, #-224]!
  mov x29, sp
  stp x0, x1, [sp, #16]
  stp x2, x3, [sp, #32]
  stp x4, x5, [sp, #48]
  stp x6, x7, [sp, #64]
  str x8, [sp, #80]
  stp q0, q1, [sp, #96]
  stp q2, q3, [sp, #128]
  stp q4, q5, [sp, #160]
  stp q6, q7, [sp, #192]
  mov w0, w17
  mov x1, x30
  bl trine_blas_resolve
  mov x16, x0
  ldp x0, x1, [sp, #16]
  ldp x2, x3, [sp, #32]
  ldp x4, x5, [sp, #48]
  ldp x6, x7, [sp, #64]
  ldr x8, [sp, #80]
  ldp q0, q1, [sp, #96]
  ldp q2, q3, [sp, #128]
  ldp q4, q5, [sp, #160]
  ldp q6, q7, [sp, #192]
  ldp x29, x30, [sp], #224
  br x16
#endif

#include "names.def"

  .section .note.GNU-stack, "", %progbits
