// One kernel, its result checked. Built as a program (with PROGRAM), or as a library that a program calls.
#include <cstdio>

__global__ void twice(const int *from, int *to) { to[threadIdx.x] = 2 * from[threadIdx.x]; }

#define CHECK(call)                                                                                               \
    do {                                                                                                          \
        const cudaError_t error = (call);                                                                         \
        if (error != cudaSuccess) {                                                                               \
            std::printf("%d %s\n", static_cast<int>(error), cudaGetErrorName(error));                             \
            return 1;                                                                                             \
        }                                                                                                         \
    } while (0)

extern "C" int run() {
    constexpr int count = 64;
    int numbers[count], *from = nullptr, *to = nullptr;
    for (int i = 0; i < count; ++i) numbers[i] = i;
    CHECK(cudaMalloc(&from, sizeof numbers));
    CHECK(cudaMalloc(&to, sizeof numbers));
    CHECK(cudaMemcpy(from, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    twice<<<1, count>>>(from, to);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(numbers, to, sizeof numbers, cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (numbers[i] != 2 * i) {
            std::puts("0 wrong-result");
            return 1;
        }
    }
    std::puts("ok");
    return 0;
}

#ifdef PROGRAM
int main() { return run(); }
#endif
