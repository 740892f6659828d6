#include <cuda_runtime_api.h>
#include <curand.h>
#include <stdio.h>

int main(void) {
    int version = 0, devices = 0;
    const char *device = cudaGetErrorName(cudaGetDeviceCount(&devices));
    return curandGetVersion(&version) || printf("curand %d: %s\n", version, device) < 0;
}
