#include <cuda_runtime_api.h>
#include <cupti.h>
#include <stdint.h>

unsigned tracer_cupti(void) {
    uint32_t version = 0;
    return cuptiGetVersion(&version) == CUPTI_SUCCESS ? version : 0;
}

const char *tracer_device(void) {
    int count = 0;
    return cudaGetErrorName(cudaGetDeviceCount(&count));
}
