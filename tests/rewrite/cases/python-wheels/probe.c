/* Asks the CUDA libraries of wheels; linked to them as extension modules of frameworks are. Needs no GPU. */
/* Declared here: the headers of the wheels include others that no wheel of these brings. */
extern int cudaGetDeviceCount(int *count);
extern const char *cudaGetErrorName(int error);
extern int curandGetVersion(int *version);
extern int nvjpegGetProperty(int property, int *value);

const char *device_error(void) {
    int count = 0;
    return cudaGetErrorName(cudaGetDeviceCount(&count));
}

int curand_version(void) {
    int version = 0;
    curandGetVersion(&version);
    return version;
}

int nvjpeg_major(void) {
    int major = 0;
    nvjpegGetProperty(0, &major);
    return major;
}
