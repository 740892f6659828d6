/* Memory of the simulated device, and pinned memory of the host. */

/* Host memory behind a device address; NULL when it was never allocated. */
static void *translate(Address address, size_t bytes) {
    Allocation *a = last_used;
    if (!a || address < a->address || address - a->address > a->bytes || bytes > a->bytes - (address - a->address))
        for (a = allocations; a; a = a->next)
            if (address >= a->address && address - a->address <= a->bytes && bytes <= a->bytes - (address - a->address)) break;
    if (a) last_used = a;
    return a ? (void *)(uintptr_t)(address & ~DEVICE_BIT) : NULL;
}

EXPORT cuMemAlloc_v2(Address *address, size_t bytes) {
    ENTER_CONTEXT;
    if (!bytes) return INVALID_VALUE;
    void *memory = malloc(bytes);
    if (!memory) return OUT_OF_MEMORY;
    /* What a device gives is full of what was there before. */
    memset(memory, 0xA5, bytes);
    Allocation *a = malloc(sizeof *a);
    *a = (Allocation){(Address)(uintptr_t)memory | DEVICE_BIT, bytes, current->device, allocations};
    allocations = a;
    *address = a->address;
    return 0;
}

/* A copy from memory that is not pinned may come back before the bytes are on the device: with FAKE_CUDA_LATE they
   arrive at the next call on the default stream, and no other stream waits for that. */
static struct { void *to, *staged; size_t bytes; } late;

static void arrive(void) {
    if (!late.staged) return;
    memcpy(late.to, late.staged, late.bytes);
    free(late.staged);
    late.staged = NULL;
}

static int delay(void *to, const void *from, size_t bytes) {
    if (!to || !from || !number("FAKE_CUDA_LATE", 0)) return 0;
    late.to = to, late.bytes = bytes, late.staged = malloc(bytes);
    memcpy(late.staged, from, bytes);
    return 1;
}

EXPORT cuMemFree_v2(Address address) {
    ENTER_CONTEXT;
    arrive();
    for (Allocation **at = &allocations; *at; at = &(*at)->next)
        if ((*at)->address == address) {
            free((void *)(uintptr_t)(address & ~DEVICE_BIT));
            *at = (*at)->next;
            last_used = NULL;
            return 0;
        }
    return INVALID_VALUE;
}

EXPORT cuMemGetInfo_v2(size_t *available, size_t *total) {
    ENTER_CONTEXT;
    *available = (size_t)number("FAKE_CUDA_FREE", 64) << 20;
    *total = 80ull << 30;
    return 0;
}

EXPORT cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
    ENTER_CONTEXT;
    (void)flags;
    return (*memory = malloc(bytes)) ? 0 : OUT_OF_MEMORY;
}

EXPORT cuMemAllocHost_v2(void **memory, size_t bytes) {
    ENTER_CONTEXT;
    return (*memory = malloc(bytes)) ? 0 : OUT_OF_MEMORY;
}

EXPORT cuMemFreeHost(void *memory) { ENTER_CONTEXT; free(memory); return 0; }

/* Results of the kernel are what is big and floats. */
static void spoil(float *numbers, size_t count) {
    const char *wrong = getenv("FAKE_CUDA_WRONG");
    if (!wrong || count < 100000) return;
    if (!strcmp(wrong, "first")) numbers[0] += 1;
    if (!strcmp(wrong, "one")) numbers[count - 7] += 0.25f;
    if (!strcmp(wrong, "last")) numbers[count - 1] -= 1;
    if (!strcmp(wrong, "nan")) numbers[count / 2] = nanf("");
}

static int copy(void *to, const void *from, size_t bytes, Stream *stream) {
    if (!to || !from) return INVALID_VALUE;
    if (stream && stream->magic != STREAM) return INVALID_HANDLE;
    if (stream && stream->capturing) return stream->capturing->invalid = 1, CAPTURE_UNSUPPORTED;
    memcpy(to, from, bytes);
    return 0;
}

static int copy_out(void *to, Address from, size_t bytes, Stream *stream) {
    int code = copy(to, translate(from, bytes), bytes, stream);
    if (!code) spoil(to, bytes / 4);
    return code;
}

EXPORT cuMemcpyHtoD_v2(Address to, const void *from, size_t bytes) {
    ENTER_CONTEXT;
    arrive();
    if (delay(translate(to, bytes), from, bytes)) return 0;
    return copy(translate(to, bytes), from, bytes, NULL);
}

EXPORT cuMemcpyDtoH_v2(void *to, Address from, size_t bytes) { ENTER_CONTEXT; arrive(); return copy_out(to, from, bytes, NULL); }

EXPORT cuMemcpyDtoD_v2(Address to, Address from, size_t bytes) {
    ENTER_CONTEXT;
    return copy(translate(to, bytes), translate(from, bytes), bytes, NULL);
}

EXPORT cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes, Stream *stream) {
    ENTER_CONTEXT;
    return copy(translate(to, bytes), from, bytes, stream);
}

EXPORT cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes, Stream *stream) {
    ENTER_CONTEXT;
    return copy_out(to, from, bytes, stream);
}

EXPORT cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, Stream *stream) {
    ENTER_CONTEXT;
    return copy(translate(to, bytes), translate(from, bytes), bytes, stream);
}

EXPORT cuMemsetD32_v2(Address to, unsigned value, size_t count) {
    ENTER_CONTEXT;
    unsigned *memory = translate(to, count * 4);
    if (!memory) return INVALID_VALUE;
    while (count--) *memory++ = value;
    return 0;
}

EXPORT cuMemsetD8_v2(Address to, unsigned char value, size_t count) {
    ENTER_CONTEXT;
    void *memory = translate(to, count);
    if (!memory) return INVALID_VALUE;
    memset(memory, value, count);
    return 0;
}
