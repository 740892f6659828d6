/* A stand-in for the driver's library on a device that is simulated. It is strict where the real one is: calls
   before cuInit, without a context, with foreign handles or addresses fail. Device addresses are none of the
   host's. Environment variables make it misbehave:

   FAKE_CUDA_FAIL=cuInit:802,cuMemAlloc_v2:2:3    a function returns a code, always or at its Nth call
   FAKE_CUDA_CRASH, FAKE_CUDA_HANG=FUNCTION[:2]   a segmentation fault, or sleep for ever; `load`, `unload`: while
                                                  it is loaded, or at the end of the process
   FAKE_CUDA_DEAF=1                               SIGTERM is ignored
   FAKE_CUDA_EXIT=CODE                            cuInit ends the process
   FAKE_CUDA_FORK=1                               cuInit leaves a process that holds all files open
   FAKE_CUDA_PRINT=stdout, flood, files           words at each call; 24 MiB without an end of line in cuInit;
                                                  words into every open file
   FAKE_CUDA_WRONG=first, one, last, nan, nothing what is read back after the kernel
   FAKE_CUDA_DEVICES, _CC, _DRIVER, _NAME         number of devices, 9.0, 13000, a name (`full`: no end)
   FAKE_CUDA_FREE=64                              MiB of memory that are free
   FAKE_CUDA_LOG=full                             the log of the compiler has no end
   FAKE_CUDA_STREAM_US=20                         what a launch on a stream costs
   FAKE_CUDA_LATE=1                               copies to the device arrive after they came back
   FAKE_CUDA_PIDFILE=FILE                         a line per process that loads it
   FAKE_CUDA_CALLS=FILE                           the names of functions as they are called

   Compiled with -DWITHOUT_GRAPHS, -DWITHOUT_FLAGS (of a graph) or -DWITHOUT_LAUNCH it lacks these functions, with
   -DNO_CUDA all. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ptx.h"

typedef uint64_t Address;
typedef struct Allocation { Address address; size_t bytes; int device; struct Allocation *next; } Allocation;
typedef struct Launch { const Kernel *kernel; unsigned grid, block; uint64_t parameters[MAX_PARAMETERS]; struct Launch *next; } Launch;
typedef struct { unsigned magic; Launch *first, **end; int invalid; } Graph;
typedef struct { unsigned magic; Graph *capturing; int device; } Stream;
typedef struct { unsigned magic; int recorded; struct timespec at; } Event;
typedef struct { unsigned magic; Kernel *kernels; int device; } Module;
typedef struct { unsigned magic; int device; } Context;
typedef struct { const Kernel *kernel; unsigned magic; int device; } Function;

enum { STREAM = 0x57EA, EVENT, MODULE, CONTEXT, GRAPH, EXECUTABLE, FUNCTION };
enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, INVALID_DEVICE = 101, INVALID_CONTEXT = 201,
       INVALID_PTX = 218, INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700,
       CAPTURE_UNSUPPORTED = 900, CAPTURE_INVALIDATED = 901 };

static const Address DEVICE_BIT = 1ull << 60;
static int started, broken;
static Allocation *allocations, *last_used;
static __thread Context *current;

static long number(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text && *text ? strtol(text, NULL, 10) : otherwise;
}

static int is(const char *name, const char *value) {
    const char *text = getenv(name);
    return text && !strcmp(text, value);
}

static void write_line(const char *variable, const char *line) {
    const char *path = getenv(variable);
    int file = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (file < 0) return;
    if (write(file, line, strlen(line)) < 0) _exit(99);
    close(file);
}

static void print_into(int file, int times) {
    static const char words[] = "NVIDIA says: {\"name\": \"verify\", \"ok\": true, \xff\x1b[31m}\n";
    while (times-- > 0)
        if (write(file, words, sizeof words - 1) < 0) return;
}

static void flood(int file) {
    char block[1 << 16];
    memset(block, 'x', sizeof block);
    for (int i = 0; i < 384; i++)
        if (write(file, block, sizeof block) < 0) return;
}

/* How often a function was called, this time included. */
static long count(const char *function) {
    static struct { char name[64]; long calls; } counted[128];
    for (int i = 0; i < 128; i++) {
        if (!*counted[i].name) strncpy(counted[i].name, function, 63);
        if (!strcmp(counted[i].name, function)) return ++counted[i].calls;
    }
    return 0;
}

/* Whether a variable names this function: alone, or with the number of this call. */
static int meant(const char *variable, const char *function, long calls) {
    const char *text = getenv(variable);
    size_t length = strlen(function);
    if (!text || strncmp(text, function, length)) return 0;
    return !text[length] || (text[length] == ':' && strtol(text + length + 1, NULL, 10) == calls);
}

static void misbehave(const char *function, long calls) {
    if (meant("FAKE_CUDA_HANG", function, calls)) {
        if (number("FAKE_CUDA_DEAF", 0)) signal(SIGTERM, SIG_IGN);
        for (;;) sleep(1000);
    }
    if (meant("FAKE_CUDA_CRASH", function, calls)) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
}

/* The code that a call is to fail with; 0 when it is not. */
static int failure(const char *function, long calls) {
    const char *list = getenv("FAKE_CUDA_FAIL");
    for (size_t length = strlen(function); list; list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL) {
        long code, nth = 0;
        if (strncmp(list, function, length) || list[length] != ':') continue;
        if (sscanf(list + length, ":%ld:%ld", &code, &nth) >= 1 && (!nth || nth == calls)) return (int)code;
    }
    return 0;
}

static int enter(const char *function) {
    long calls = count(function);
    if (getenv("FAKE_CUDA_CALLS")) {
        char line[80];
        snprintf(line, sizeof line, "%s\n", function);
        write_line("FAKE_CUDA_CALLS", line);
    }
    if (is("FAKE_CUDA_PRINT", "stdout")) { print_into(1, 1); print_into(2, 1); }
    misbehave(function, calls);
    return failure(function, calls);
}

#define EXPORT __attribute__((visibility("default"))) int
/* For functions that need nothing, the driver started, or a current context too. */
#define ENTER do { int code_ = enter(__func__); if (code_) return code_; } while (0)
#define ENTER_STARTED do { ENTER; if (!started) return NOT_INITIALIZED; } while (0)
#define ENTER_CONTEXT do { ENTER_STARTED; if (!current) return INVALID_CONTEXT; if (broken) return broken; } while (0)

__attribute__((constructor)) static void loaded(void) {
    char line[32];
    snprintf(line, sizeof line, "%d\n", (int)getpid());
    write_line("FAKE_CUDA_PIDFILE", line);
    if (is("FAKE_CUDA_PRINT", "stdout")) print_into(1, 3);
    misbehave("load", 1);
}

__attribute__((destructor)) static void unloaded(void) { misbehave("unload", 1); }

#ifndef NO_CUDA
EXPORT cuInit(unsigned flags) {
    ENTER;
    if (flags) return INVALID_VALUE;
    if (getenv("FAKE_CUDA_EXIT")) _exit((int)number("FAKE_CUDA_EXIT", 0));
    if (is("FAKE_CUDA_PRINT", "flood")) { flood(1); flood(2); }
    if (is("FAKE_CUDA_PRINT", "files")) for (int file = 1; file < 64; file++) print_into(file, 5);
    if (number("FAKE_CUDA_FORK", 0) && !fork()) {
        loaded();
        sleep(60);
        _exit(0);
    }
    started = 1;
    return 0;
}

EXPORT cuDriverGetVersion(int *version) {
    ENTER;
    *version = (int)number("FAKE_CUDA_DRIVER", 13000);
    return 0;
}

static int devices(void) { return (int)number("FAKE_CUDA_DEVICES", 1); }

EXPORT cuDeviceGetCount(int *count) {
    ENTER_STARTED;
    *count = devices();
    return 0;
}

EXPORT cuDeviceGet(int *device, int ordinal) {
    ENTER_STARTED;
    if (ordinal < 0 || ordinal >= devices()) return INVALID_DEVICE;
    *device = ordinal;
    return 0;
}

#define DEVICE_OF(device) do { if ((device) < 0 || (device) >= devices()) return INVALID_DEVICE; } while (0)

EXPORT cuDeviceGetName(char *name, int length, int device) {
    ENTER_STARTED;
    DEVICE_OF(device);
    const char *given = getenv("FAKE_CUDA_NAME");
    if (given && !strcmp(given, "full")) memset(name, 'N', (size_t)length);
    else snprintf(name, (size_t)length, "%s", given ? given : "Simulated GPU");
    return 0;
}

EXPORT cuDeviceGetAttribute(int *value, int attribute, int device) {
    ENTER_STARTED;
    DEVICE_OF(device);
    int major = 9, minor = 0;
    const char *capability = getenv("FAKE_CUDA_CC");
    if (capability) sscanf(capability, "%d.%d", &major, &minor);
    *value = attribute == 75 ? major : attribute == 76 ? minor : attribute == 16 ? 132 : attribute == 1 ? 1024 : 0;
    return 0;
}

EXPORT cuDeviceTotalMem_v2(size_t *bytes, int device) {
    ENTER_STARTED;
    DEVICE_OF(device);
    *bytes = 80ull << 30;
    return 0;
}

EXPORT cuDeviceGetUuid_v2(unsigned char *uuid, int device) {
    ENTER_STARTED;
    DEVICE_OF(device);
    for (int i = 0; i < 16; i++) uuid[i] = (unsigned char)(i + device);
    return 0;
}

EXPORT cuDeviceGetUuid(unsigned char *uuid, int device) { return cuDeviceGetUuid_v2(uuid, device); }

EXPORT cuDeviceGetPCIBusId(char *text, int length, int device) {
    ENTER_STARTED;
    DEVICE_OF(device);
    snprintf(text, (size_t)length, "0000:%02X:00.0", device + 1);
    return 0;
}

EXPORT cuGetErrorName(int code, const char **name) {
    static const struct { int code; const char *name; } all[] = {
        {0, "CUDA_SUCCESS"}, {1, "CUDA_ERROR_INVALID_VALUE"}, {2, "CUDA_ERROR_OUT_OF_MEMORY"},
        {3, "CUDA_ERROR_NOT_INITIALIZED"}, {34, "CUDA_ERROR_STUB_LIBRARY"}, {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
        {36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER"}, {100, "CUDA_ERROR_NO_DEVICE"}, {101, "CUDA_ERROR_INVALID_DEVICE"},
        {201, "CUDA_ERROR_INVALID_CONTEXT"}, {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"}, {218, "CUDA_ERROR_INVALID_PTX"},
        {221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND"}, {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
        {400, "CUDA_ERROR_INVALID_HANDLE"}, {500, "CUDA_ERROR_NOT_FOUND"}, {600, "CUDA_ERROR_NOT_READY"},
        {700, "CUDA_ERROR_ILLEGAL_ADDRESS"}, {719, "CUDA_ERROR_LAUNCH_FAILED"}, {801, "CUDA_ERROR_NOT_SUPPORTED"},
        {802, "CUDA_ERROR_SYSTEM_NOT_READY"}, {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
        {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"}, {805, "CUDA_ERROR_MPS_CONNECTION_FAILED"},
        {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"}, {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"}, {999, "CUDA_ERROR_UNKNOWN"}};
    ENTER;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].code == code) return *name = all[i].name, 0;
    *name = NULL;
    return INVALID_VALUE;
}

EXPORT cuGetErrorString(int code, const char **text) {
    const char *name;
    ENTER;
    *text = cuGetErrorName(code, &name) ? NULL : "words of the stand-in";
    return *text ? 0 : INVALID_VALUE;
}

EXPORT cuDevicePrimaryCtxRetain(Context **context, int device) {
    static Context primary[64];
    ENTER_STARTED;
    DEVICE_OF(device);
    if (device >= 64) return OUT_OF_MEMORY;
    primary[device] = (Context){CONTEXT, device};
    *context = &primary[device];
    return 0;
}

EXPORT cuDevicePrimaryCtxRelease_v2(int device) {
    ENTER_STARTED;
    DEVICE_OF(device);
    return 0;
}

EXPORT cuCtxSetCurrent(Context *context) {
    ENTER_STARTED;
    if (context && context->magic != CONTEXT) return INVALID_CONTEXT;
    current = context;
    return 0;
}

EXPORT cuCtxGetCurrent(Context **context) { ENTER_STARTED; *context = current; return 0; }
EXPORT cuCtxSynchronize(void) { ENTER_CONTEXT; return 0; }

#include "fatbin.h"

EXPORT cuModuleLoadDataEx(Module **module, const void *image, unsigned count, const int *options, void **values) {
    char log[4096] = "", *buffer = NULL;
    size_t bytes = 0, *size = NULL;
    int code = enter(__func__);
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == 5) buffer = values[i];
        if (options[i] == 6) size = (size_t *)&values[i];
    }
    if (size) bytes = (size_t)*(unsigned *)size;
    if (code) snprintf(log, sizeof log, "ptxas fatal : the stand-in was told to fail");
    else if (!started) return NOT_INITIALIZED;
    else if (!current) return INVALID_CONTEXT;
    else if (fatbin_is(image)) {
        code = fatbin_load(image);
        if (code) return code;
        *module = calloc(1, sizeof **module);
        **module = (Module){MODULE, NULL, current->device};
        return 0;
    } else {
        Kernel *kernels = ptx_parse(image, log, sizeof log);
        if (kernels) {
            *module = calloc(1, sizeof **module);
            **module = (Module){MODULE, kernels, current->device};
            return 0;
        }
        code = INVALID_PTX;
    }
    if (buffer && bytes && is("FAKE_CUDA_LOG", "full")) memset(buffer, 'L', bytes);
    else if (buffer && bytes) {
        snprintf(buffer, bytes, "%s", log);
        *size = strlen(buffer);
    }
    return code;
}

EXPORT cuModuleLoadData(Module **module, const void *image) { return cuModuleLoadDataEx(module, image, 0, NULL, NULL); }

EXPORT cuLibraryLoadData(void **library, const void *image, int *options, void **values, unsigned count, int *ours,
                         void **our_values, unsigned our_count) {
    ENTER_CONTEXT;
    if (options || values || count || ours || our_values || our_count) return INVALID_VALUE;
    static int loaded;
    int code = fatbin_load(image);
    if (!code) *library = &loaded;
    return code;
}

EXPORT cuLibraryUnload(void *library) { ENTER_CONTEXT; return library ? 0 : INVALID_HANDLE; }

EXPORT cuModuleUnload(Module *module) {
    ENTER_CONTEXT;
    return module && module->magic == MODULE ? 0 : INVALID_HANDLE;
}

EXPORT cuModuleGetFunction(Function **function, Module *module, const char *name) {
    ENTER_CONTEXT;
    if (!module || module->magic != MODULE) return INVALID_HANDLE;
    const Kernel *kernel = ptx_find(module->kernels, name);
    if (!kernel) return NOT_FOUND;
    *function = calloc(1, sizeof **function);
    **function = (Function){kernel, FUNCTION, module->device};
    return 0;
}
#include "memory.h"
#include "launch.h"
#endif
