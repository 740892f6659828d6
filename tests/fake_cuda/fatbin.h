/* Containers of GPU code: which of their entries the device can run. */

enum { NO_BINARY_FOR_GPU = 209, JIT_COMPILATION_DISABLED = 223 };
/* Architectures that no GPU has: what the stand-in does when it meets such an entry. */
enum { ARCH_CRASHES = 9001, ARCH_HANGS = 9002, ARCH_BREAKS = 9003 };

static unsigned long long fatbin_number(const unsigned char *bytes, int count) {
    unsigned long long value = 0;
    while (count--) value = value << 8 | bytes[count];
    return value;
}

static int fatbin_is(const unsigned char *image) { return fatbin_number(image, 4) == 0xBA55ED50u; }

static int fatbin_load(const unsigned char *image) {
    int major = 9, minor = 0, found = 0, compiles = 0;
    const char *capability = getenv("FAKE_CUDA_CC");
    if (capability) sscanf(capability, "%d.%d", &major, &minor);
    const unsigned char *at = image + fatbin_number(image + 6, 2), *end = at + fatbin_number(image + 8, 8);
    if ((unsigned long)image % 8) return INVALID_VALUE;
    while (at < end) {
        unsigned kind = (unsigned)fatbin_number(at, 2), arch = (unsigned)fatbin_number(at + 28, 4);
        if (arch == ARCH_CRASHES) {
            signal(SIGSEGV, SIG_DFL);
            raise(SIGSEGV);
        }
        while (arch == ARCH_HANGS) pause();
        if (arch == ARCH_BREAKS) return ILLEGAL_ADDRESS;
        if (kind == 2) found |= (int)(arch / 10) == major && (int)(arch % 10) <= minor;
        if (kind == 1) compiles |= (int)arch <= major * 10 + minor;
        at += fatbin_number(at + 4, 4) + fatbin_number(at + 8, 8);
    }
    if (found || !compiles) return found ? 0 : NO_BINARY_FOR_GPU;
    const char *disabled = getenv("CUDA_DISABLE_PTX_JIT");
    return disabled && *disabled == '1' ? JIT_COMPILATION_DISABLED : 0;
}
