/* Says which CUDA libraries it runs with; needs no GPU. */
#include <cuda_runtime_api.h>
#include <curand.h>
#include <stdio.h>

int main(void) {
    int version = 0, devices = 0;
    char seeds[64] = "";
    if (curandGetVersion(&version) != CURAND_STATUS_SUCCESS) return 3;
    printf("curand %d\n", version);
    cudaRuntimeGetVersion(&version);
    printf("cudart %d: %s\n", version, cudaGetErrorName(cudaGetDeviceCount(&devices)));
    FILE *file = fopen("/app/data/seeds.txt", "r");
    if (!file || !fgets(seeds, sizeof seeds, file)) return 4;
    printf("seeds %s", seeds);
    return 0;
}
