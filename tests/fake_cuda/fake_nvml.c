/* A stand-in for NVML that knows the devices of the stand-in for libcuda. Environment variables:

   FAKE_NVML_INIT=CODE      nvmlInit_v2 returns it
   FAKE_NVML_HANG=1         nvmlInit_v2 never returns
   FAKE_NVML_SILENT=1       everything after it is not supported
   FAKE_NVML_MIG=1          the device is a part of a GPU
   FAKE_NVML_RESERVED=MIB   of the memory in use what the driver keeps; without it only the older function works
   FAKE_NVML_BRAND, _MODE, _FABRIC, _STATUS   numbers of nvml.h */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct { int part; } Device;
typedef struct { unsigned long long total, available, used; } Memory;
typedef struct { unsigned version; unsigned long long total, reserved, available, used; } MemoryV2;
typedef struct { unsigned char cluster[16]; unsigned status, clique; unsigned char state; } Fabric;

enum { UNINITIALIZED = 1, INVALID_ARGUMENT, NOT_SUPPORTED, NOT_FOUND = 6, INSUFFICIENT_SIZE, VERSION_MISMATCH = 25 };

static Device whole = {0}, part = {1};
static int started;

static unsigned number(const char *name, unsigned otherwise) {
    const char *text = getenv(name);
    return text && *text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

#define EXPORT __attribute__((visibility("default"))) int
#define ENTER do { if (!started) return UNINITIALIZED; if (number("FAKE_NVML_SILENT", 0)) return NOT_SUPPORTED; } while (0)
/* What a part of a GPU does not have of its own. */
#define ENTER_WHOLE(device) do { ENTER; if ((device) != &whole) return (device) == &part ? NOT_SUPPORTED : INVALID_ARGUMENT; } while (0)

EXPORT nvmlInit_v2(void) {
    while (number("FAKE_NVML_HANG", 0)) sleep(1000);
    int code = (int)number("FAKE_NVML_INIT", 0);
    started = !code;
    return code;
}

EXPORT nvmlSystemGetDriverVersion(char *text, unsigned bytes) {
    ENTER;
    if (bytes < 16) return INSUFFICIENT_SIZE;
    snprintf(text, bytes, "580.126.09");
    return 0;
}

EXPORT nvmlDeviceGetHandleByUUID(const char *uuid, Device **device) {
    ENTER;
    int is_part = number("FAKE_NVML_MIG", 0) != 0;
    if (strcmp(uuid, is_part ? "MIG-00010203-0405-0607-0809-0a0b0c0d0e0f" : "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f")) return NOT_FOUND;
    *device = is_part ? &part : &whole;
    return 0;
}

EXPORT nvmlDeviceGetDeviceHandleFromMigDeviceHandle(Device *device, Device **parent) {
    ENTER;
    if (device != &part) return INVALID_ARGUMENT;
    *parent = &whole;
    return 0;
}

EXPORT nvmlDeviceGetBrand(Device *device, unsigned *brand) {
    ENTER_WHOLE(device);
    *brand = number("FAKE_NVML_BRAND", 14);
    return 0;
}

EXPORT nvmlDeviceGetMemoryInfo(Device *device, Memory *memory) {
    ENTER;
    *memory = (Memory){80ull << 30, 79ull << 30, device->part ? 5 << 20 : 1 << 30};
    return 0;
}

EXPORT nvmlDeviceGetMemoryInfo_v2(Device *device, MemoryV2 *memory) {
    ENTER;
    unsigned long long reserved = (unsigned long long)number("FAKE_NVML_RESERVED", 0) << 20, used = device->part ? 5 << 20 : 1 << 30;
    if (!reserved || memory->version != (sizeof *memory | 2 << 24)) return VERSION_MISMATCH;
    *memory = (MemoryV2){memory->version, 80ull << 30, reserved, 79ull << 30, used - reserved};
    return 0;
}

EXPORT nvmlDeviceGetMigMode(Device *device, unsigned *now, unsigned *next) {
    ENTER_WHOLE(device);
    *now = *next = number("FAKE_NVML_MIG", 0);
    return 0;
}

EXPORT nvmlDeviceGetComputeMode(Device *device, unsigned *mode) {
    ENTER_WHOLE(device);
    *mode = number("FAKE_NVML_MODE", 0);
    return 0;
}

EXPORT nvmlDeviceGetTotalEccErrors(Device *device, unsigned type, unsigned counter, unsigned long long *errors) {
    ENTER_WHOLE(device);
    if (type != 1 || counter != 0) return INVALID_ARGUMENT;
    *errors = 7;
    return 0;
}

EXPORT nvmlDeviceGetTemperature(Device *device, unsigned sensor, unsigned *degrees) {
    ENTER_WHOLE(device);
    if (sensor) return INVALID_ARGUMENT;
    *degrees = 41;
    return 0;
}

EXPORT nvmlDeviceGetGpuFabricInfo(Device *device, Fabric *fabric) {
    ENTER_WHOLE(device);
    *fabric = (Fabric){.status = number("FAKE_NVML_STATUS", 0), .state = (unsigned char)number("FAKE_NVML_FABRIC", 0)};
    return 0;
}
