/* run_model MODEL.so OUTPUT INPUT...: runs the function "main" on the tensors in the files INPUT, and writes its results to the
   files OUTPUT0, OUTPUT1, ...  A file is int64 code, bits and number of dimensions, int64 extents, elements.  C99 and
   libtilewright_runtime, nothing else. */
#include <stdio.h>
#include <stdlib.h>

#include "tilewright/c_api.h"

enum { kMost = 64 };

static void fail(const char* message) {
  fprintf(stderr, "%s\n", message);
  exit(2);
}

static void check(int32_t status) {
  if (status != 0) fail(tilewright_last_error());
}

static size_t num_bytes(const DLTensor* tensor) {
  size_t bits = tensor->dtype.bits;
  for (int32_t axis = 0; axis < tensor->ndim; ++axis) bits *= (size_t)tensor->shape[axis];
  return (bits + 7) / 8;
}

static TilewrightTensor* read_tensor(const char* path) {
  int64_t head[3], shape[kMost];
  TilewrightTensor* tensor = NULL;
  FILE* file = fopen(path, "rb");
  if (!file || fread(head, sizeof head, 1, file) != 1 || head[2] < 0 || head[2] > kMost)
    fail("cannot read the header");
  const size_t ndim = (size_t)head[2];
  if (fread(shape, sizeof(int64_t), ndim, file) != ndim) fail("cannot read the shape");
  const DLDataType dtype = {(uint8_t)head[0], (uint8_t)head[1], 1};
  check(tilewright_tensor_create(shape, (int32_t)ndim, dtype, &tensor));
  const DLTensor* made = tilewright_tensor_info(tensor);
  if (fread(made->data, 1, num_bytes(made), file) != num_bytes(made)) fail("cannot read the elements");
  fclose(file);
  return tensor;
}

static void write_tensor(const char* path, const TilewrightTensor* tensor) {
  const DLTensor* made = tilewright_tensor_info(tensor);
  const int64_t head[] = {made->dtype.code, made->dtype.bits, made->ndim};
  void* elements = malloc(num_bytes(made) + 1);
  FILE* file = fopen(path, "wb");
  if (!file || !elements) fail("cannot write a result");
  check(tilewright_tensor_read(tensor, elements, num_bytes(made)));
  fwrite(head, sizeof head, 1, file);
  fwrite(made->shape, sizeof(int64_t), (size_t)made->ndim, file);
  fwrite(elements, 1, num_bytes(made), file);
  if (fclose(file) != 0) fail("cannot write a result");
  free(elements);
}

int main(int argc, char** argv) {
  TilewrightModule* model = NULL;
  TilewrightTensor *inputs[kMost], *results[kMost];
  char path[4096];
  int64_t num_inputs = argc - 3, num_results = 0;
  if (argc < 3 || num_inputs > kMost) return 1;
  check(tilewright_module_load(argv[1], &model));
  for (int64_t n = 0; n < num_inputs; ++n) inputs[n] = read_tensor(argv[3 + n]);
  check(tilewright_module_run(model, "main", inputs, num_inputs, results, kMost, &num_results));
  for (int64_t n = 0; n < num_results; ++n) {
    snprintf(path, sizeof path, "%s%d", argv[2], (int)n);
    write_tensor(path, results[n]);
    tilewright_tensor_free(results[n]);
  }
  for (int64_t n = 0; n < num_inputs; ++n) tilewright_tensor_free(inputs[n]);
  tilewright_module_free(model);
  return 0;
}
