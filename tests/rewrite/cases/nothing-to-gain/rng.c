#include <cuda_runtime_api.h>
#include <curand.h>
#include <stdio.h>

int main(void) {
    int version = 0;
    return curandGetVersion(&version) || printf("curand %d\n", version) < 0;
}
