/* The user's own library, which goes between those of the toolkit. */
#include <curand.h>

int kernels_version(void) {
    int version = 0;
    return curandGetVersion(&version) == CURAND_STATUS_SUCCESS ? version : -1;
}
