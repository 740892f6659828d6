#include <cuda_runtime_api.h>
#include <curand.h>
#include <stdio.h>

/* The stand-in of cuBLAS has one function. */
int cublas_stand_in(void);

int main(void) {
    int runtime = 0, random = 0;
    cudaRuntimeGetVersion(&runtime);
    curandGetVersion(&random);
    printf("CUDA %d, cuRAND %d, cuBLAS %d\n", runtime, random, cublas_stand_in());
    return 0;
}
