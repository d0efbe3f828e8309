/* A C program: an exact sum on the device that is predicted to be the fastest, and why that one. */
#include <stdio.h>
#include <trine/trine.h>

int main(void) {
  const float values[] = {1e30f, 1, -1e30f, 2};
  float sum;
  const trine_choice_t* choice;
  const trine_options_t options = {.choice = &choice};
  if (trine_host_sum(trine_host_vector(values, TRINE_F32, 4), &sum, &options) != TRINE_OK)
    return fprintf(stderr, "%s\n", trine_last_error()), 1;
  printf("%g: %s\n", (double)sum, choice->sentence);
  trine_free(choice);
  return 0;
}
