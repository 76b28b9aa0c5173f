/* A program in C that links nothing of ours but libtilewright_runtime: c_api_program MODEL.so */
#include <stdio.h>
#include <string.h>

#include "tilewright/c_api.h"

static int num_failures = 0;

#define EXPECT(condition)                                                                              \
  do {                                                                                                 \
    if (!(condition)) {                                                                                \
      printf("line %d: %s is false; last error: %s\n", __LINE__, #condition, tilewright_last_error()); \
      ++num_failures;                                                                                  \
    }                                                                                                  \
  } while (0)
#define EXPECT_MESSAGE(text) EXPECT(strcmp(tilewright_last_error(), text) == 0)

static const DLDataType kFloat = {2, 32, 1};

static void run_model(const TilewrightModule* model) {
  int64_t shape[] = {5, 7}, num_results = 0;
  TilewrightTensor *x = NULL, *results[2] = {NULL, NULL};
  EXPECT(tilewright_tensor_create(shape, 2, kFloat, &x) == 0);
  float* elements = tilewright_tensor_info(x)->data;
  for (int n = 0; n < 35; ++n) elements[n] = (float)n;
  EXPECT(tilewright_module_run(model, "main", &x, 1, results, 2, &num_results) == 0);
  EXPECT(num_results == 2);
  float read[35];
  EXPECT(tilewright_tensor_read(results[1], read, sizeof read) == 0);
  EXPECT(read[34] == 36.0f);
  EXPECT(tilewright_tensor_read(results[1], read, 8) == -1);
  EXPECT_MESSAGE("error: float32[5, 7] takes 140 bytes, got 8");

  TilewrightTensor* untouched = NULL;
  EXPECT(tilewright_module_run(model, "main", &x, 1, &untouched, 1, NULL) == -1);
  EXPECT_MESSAGE("error: main returns 2 tensors, there is room for 1");
  EXPECT(untouched == NULL);
  EXPECT(tilewright_module_run(model, "main", NULL, 0, results, 2, NULL) == -1);
  EXPECT_MESSAGE(
      "error: main: got 0 arguments, expected 1 (x)\n"
      "help: the function is main(x: float32[n, 7]) -> y: float32[n, 7], z: float32[n, 7]");
  EXPECT(tilewright_last_error_kind() == kTilewrightUserError);
  EXPECT(tilewright_module_run(model, "mian", &x, 1, results, 2, NULL) == -1);
  EXPECT_MESSAGE("error: the model has no function \"mian\"\nhelp: did you mean main?");
  tilewright_tensor_free(x);
  tilewright_tensor_free(results[0]);
  tilewright_tensor_free(results[1]);
}

static void describe_model(const TilewrightModule* model) {
  int64_t count = 0;
  const char* name = NULL;
  TilewrightDescription description;
  EXPECT(tilewright_module_num_functions(model, &count) == 0 && count == 1);
  EXPECT(tilewright_module_function_name(model, 0, &name) == 0 && strcmp(name, "main") == 0);
  EXPECT(tilewright_module_function_name(model, 1, &name) == -1);
  EXPECT_MESSAGE("error: function 1 does not exist: there are 1");
  EXPECT(tilewright_module_num_parameters(model, "main", &count) == 0 && count == 1);
  EXPECT(tilewright_module_parameter(model, "main", 0, &description) == 0);
  EXPECT(strcmp(description.name, "x") == 0 && strcmp(description.type, "float32[n, 7]") == 0);
  EXPECT(tilewright_module_num_results(model, "main", &count) == 0 && count == 2);
  EXPECT(tilewright_module_result(model, "main", 1, &description) == 0 && strcmp(description.name, "z") == 0);
  EXPECT(tilewright_module_result(model, "main", 2, &description) == -1);
  EXPECT_MESSAGE("error: result 2 does not exist: there are 2");
}

static void call_kernels(const TilewrightModule* model) {
  int64_t shape[] = {7};
  TilewrightTensor* x = NULL;
  EXPECT(tilewright_tensor_create(shape, 1, kFloat, &x) == 0);
  TilewrightAny arg = {kTilewrightDLTensor, 0, {0}}, result;
  arg.v_ptr = (void*)tilewright_tensor_info(x);
  EXPECT(tilewright_module_call(model, "first_dimension", &arg, 1, &result) == 0);
  EXPECT(result.type_index == kTilewrightInt && result.v_int64 == 7);
  EXPECT(tilewright_module_call(model, "fails", NULL, 0, NULL) == -1);
  EXPECT_MESSAGE("error: fails: as it should");
  tilewright_tensor_free(x);
}

static void count_release(void* context) { ++*(int*)context; }

static void lend_tensors(void) {
  float elements[6] = {0, 1, 2, 3, 4, 5};
  int64_t shape[] = {2, 3};
  int num_released = 0;
  TilewrightTensor *view = NULL, *back = NULL;
  DLManagedTensorVersioned* managed = NULL;
  EXPECT(tilewright_tensor_view(elements, shape, 2, kFloat, count_release, &num_released, &view) == 0);
  EXPECT(tilewright_tensor_to_dlpack(view, &managed) == 0);
  tilewright_tensor_free(view);
  EXPECT(num_released == 0);
  EXPECT(tilewright_tensor_from_dlpack(managed, &back) == 0);
  EXPECT(tilewright_tensor_info(back)->data == elements);
  tilewright_tensor_free(back);
  EXPECT(num_released == 1);
  EXPECT(tilewright_tensor_view(NULL, shape, 2, kFloat, count_release, &num_released, &view) == -1);
  EXPECT_MESSAGE("error: data is null");
  shape[1] = -3;
  EXPECT(tilewright_tensor_create(shape, 2, kFloat, &view) == -1);
  EXPECT_MESSAGE("error: tensor: shape [2, -3] has the negative dimension -3");
  EXPECT(tilewright_tensor_create(shape, -1, kFloat, &view) == -1);
  EXPECT_MESSAGE("error: ndim is -1, expected 0 to 64");
  EXPECT(tilewright_tensor_create(shape, 2, (DLDataType){2, 0, 1}, &view) == -1);
  EXPECT_MESSAGE("error: invalid dtype of 0 bits and 1 lanes");
  EXPECT(num_released == 1);
  EXPECT(tilewright_tensor_info(NULL) == NULL);
  tilewright_tensor_free(NULL);
  tilewright_module_free(NULL);
}

static int32_t answer(void* self, const TilewrightAny* args, int32_t num_args, TilewrightAny* result) {
  tilewright_set_error("ValueError", "no answer");
  return -1;
}

static void use_process_state(void) {
  int32_t threads = 0;
  EXPECT(tilewright_set_num_threads(2) == 0);
  EXPECT(tilewright_num_threads(&threads) == 0 && threads == 2);
  EXPECT(tilewright_set_num_threads(-2) == -1);
  EXPECT_MESSAGE("error: the number of threads is -2, expected 1 to 1024, or 0 for the default");
  EXPECT(tilewright_num_devices(kDLCPU) == 1);
  EXPECT(tilewright_num_devices(kDLCUDA) == 0);
  EXPECT(tilewright_c_api_version() == TILEWRIGHT_C_API_VERSION);
  EXPECT(strlen(tilewright_version()) > 0);
  EXPECT(tilewright_register_function("c.answer", answer, NULL, 0) == 0);
  EXPECT(tilewright_register_function("c.answer", answer, NULL, 0) == -1);
  EXPECT_MESSAGE(
      "error: register_function: \"c.answer\" is registered already\nhelp: pass override=True to replace it");
  EXPECT(tilewright_register_function("c.answer", answer, NULL, 1) == 0);
}

int main(int argc, char** argv) {
  TilewrightModule* model = NULL;
  if (argc != 2) return 1;
  EXPECT(tilewright_module_load("/no/such.so", &model) == -1);
  EXPECT_MESSAGE("error: cannot load /no/such.so: there is no such file\nhelp: check the path");
  EXPECT(tilewright_module_load(argv[1], &model) == 0);
  if (!model) return 1;
  use_process_state();
  run_model(model);
  describe_model(model);
  call_kernels(model);
  lend_tensors();
  tilewright_module_free(model);
  printf("%d failures\n", num_failures);
  return num_failures != 0;
}
