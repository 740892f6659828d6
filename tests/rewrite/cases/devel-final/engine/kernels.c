#include <cuda_runtime_api.h>
#include <curand.h>

int kernels_curand(void) {
    int version = 0;
    return curandGetVersion(&version) == CURAND_STATUS_SUCCESS ? version : -1;
}

const char *kernels_device(void) {
    int count = 0;
    return cudaGetErrorName(cudaGetDeviceCount(&count));
}
