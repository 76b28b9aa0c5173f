/* run_model MODEL.so ROWS: runs the function "main" on float32[ROWS, 7], whose element n is n / 10 - 1, and
   prints what it returns.  C99 and libtilewright_runtime, nothing else. */
#include <stdio.h>
#include <stdlib.h>

#include "tilewright/c_api.h"

static int fail(void) {
  fprintf(stderr, "%s\n", tilewright_last_error());
  return 2;
}

int main(int argc, char** argv) {
  const DLDataType float32 = {2, 32, 1};
  TilewrightModule* model = NULL;
  TilewrightTensor *x = NULL, *y = NULL;
  int64_t num_results = 0, num_elements = 1;
  if (argc != 3) return 1;
  const int64_t shape[] = {atoi(argv[2]), 7};
  if (tilewright_module_load(argv[1], &model) != 0) return fail();
  if (tilewright_tensor_create(shape, 2, float32, &x) != 0) return fail();
  float* elements = tilewright_tensor_info(x)->data;
  for (int64_t n = 0; n < shape[0] * shape[1]; ++n) elements[n] = (float)n / 10 - 1;
  if (tilewright_module_run(model, "main", &x, 1, &y, 1, &num_results) != 0) return fail();
  const DLTensor* result = tilewright_tensor_info(y);
  for (int32_t axis = 0; axis < result->ndim; ++axis) num_elements *= result->shape[axis];
  float* values = malloc((size_t)num_elements * sizeof(float));
  if (tilewright_tensor_read(y, values, (uint64_t)num_elements * sizeof(float)) != 0) return fail();
  for (int64_t n = 0; n < num_elements; ++n) printf("%.9g\n", (double)values[n]);
  free(values);
  tilewright_tensor_free(x);
  tilewright_tensor_free(y);
  tilewright_module_free(model);
  return 0;
}
