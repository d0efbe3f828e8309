// One function compiled for several instruction sets, picked when the program starts: the oracle's
// hot loops run at the machine's speed without a build per machine.
#pragma once

// ThreadSanitizer's start-up runs before the picker can: there, one version must do.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define TRINE_ORACLE_CLONES __attribute__((target_clones("avx512f", "fma", "default")))
#else
#define TRINE_ORACLE_CLONES
#endif
