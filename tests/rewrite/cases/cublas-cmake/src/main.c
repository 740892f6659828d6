/* Reads its configuration and names the libraries it runs with; needs no GPU. */
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <jansson.h>
#include <stdio.h>

int main(int count, char **words) {
    int major = 0, minor = 0, devices = 0;
    json_t *config = json_load_file(count > 2 ? words[2] : "gemm.json", 0, NULL);
    if (!config) return 3;
    if (cublasGetProperty(MAJOR_VERSION, &major) || cublasGetProperty(MINOR_VERSION, &minor)) return 4;
    printf("cublas %d.%d\n", major, minor);
    printf("size %d: %s\n", (int)json_integer_value(json_object_get(config, "size")),
           cudaGetErrorName(cudaGetDeviceCount(&devices)));
    return 0;
}
