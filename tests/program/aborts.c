/* An OpenCL driver that can't start, and ends the process, as PoCL does where there is no /sys. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void start(void) {
  fputs("no such processor\n", stderr);
  abort();
}
