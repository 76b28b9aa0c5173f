/* Uses the runtime library alone, from C: a tensor there and back, and the error for a model that is not
 * there. */
#include <stdio.h>
#include <string.h>

#include "tilewright/c_api.h"

int main(void) {
  const int64_t shape[] = {2, 3};
  const float numbers[] = {0, 1, 2, 3, 4, 5};
  float back[6] = {0};
  TilewrightTensor* tensor = NULL;
  TilewrightModule* module = NULL;
  if (tilewright_tensor_create(shape, 2, (DLDataType){2, 32, 1}, &tensor) != 0) return 1;
  memcpy(tilewright_tensor_info(tensor)->data, numbers, sizeof numbers);
  if (tilewright_tensor_read(tensor, back, sizeof back) != 0) return 1;
  tilewright_tensor_free(tensor);
  if (memcmp(numbers, back, sizeof back) != 0) return 1;
  if (tilewright_module_load("missing.so", &module) == 0) return 1;
  printf("version %s\n%s\n", tilewright_version(), tilewright_last_error());
  return 0;
}
