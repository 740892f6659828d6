/* Streams, events, launches, and graphs that replay what was captured. Everything is done at once. */

static int made(void **handle, size_t bytes, unsigned magic) {
    unsigned *object = calloc(1, bytes);
    *object = magic;
    *handle = object;
    return 0;
}

static int gone(unsigned *handle, unsigned magic) {
    if (!handle || *handle != magic) return INVALID_HANDLE;
    *handle = 0;
    return 0;
}

static int stream_of(Stream *stream) { return !stream || stream->magic == STREAM ? 0 : INVALID_HANDLE; }

EXPORT cuStreamCreate(Stream **stream, unsigned flags) {
    ENTER_CONTEXT;
    if (flags > 1) return INVALID_VALUE;
    return made((void **)stream, sizeof **stream, STREAM);
}

EXPORT cuStreamDestroy_v2(Stream *stream) { ENTER_CONTEXT; return gone((unsigned *)stream, STREAM); }

EXPORT cuStreamSynchronize(Stream *stream) {
    ENTER_CONTEXT;
    if (stream_of(stream)) return INVALID_HANDLE;
    if (stream && stream->capturing) return stream->capturing->invalid = 1, CAPTURE_UNSUPPORTED;
    if (!stream) arrive();
    return 0;
}

EXPORT cuStreamQuery(Stream *stream) { ENTER_CONTEXT; return stream_of(stream); }

EXPORT cuEventCreate(Event **event, unsigned flags) {
    ENTER_CONTEXT;
    (void)flags;
    return made((void **)event, sizeof **event, EVENT);
}

EXPORT cuEventDestroy_v2(Event *event) { ENTER_CONTEXT; return gone((unsigned *)event, EVENT); }

EXPORT cuEventRecord(Event *event, Stream *stream) {
    ENTER_CONTEXT;
    if (!event || event->magic != EVENT || stream_of(stream)) return INVALID_HANDLE;
    event->recorded = 1;
    clock_gettime(CLOCK_MONOTONIC, &event->at);
    return 0;
}

EXPORT cuEventSynchronize(Event *event) { ENTER_CONTEXT; return event && event->magic == EVENT ? 0 : INVALID_HANDLE; }

EXPORT cuEventQuery(Event *event) { ENTER_CONTEXT; return event && event->magic == EVENT ? 0 : INVALID_HANDLE; }

EXPORT cuEventElapsedTime(float *ms, Event *from, Event *to) {
    ENTER_CONTEXT;
    if (!from || !to || from->magic != EVENT || to->magic != EVENT || !from->recorded || !to->recorded) return INVALID_HANDLE;
    double seconds = (double)(to->at.tv_sec - from->at.tv_sec) + (double)(to->at.tv_nsec - from->at.tv_nsec) * 1e-9;
    *ms = (float)(seconds * 1000);
    return 0;
}

EXPORT cuEventElapsedTime_v2(float *ms, Event *from, Event *to) { return cuEventElapsedTime(ms, from, to); }

#ifndef WITHOUT_LAUNCH
static int carry_out(const Launch *launch) {
    if (is("FAKE_CUDA_WRONG", "nothing")) return 0;
    if (ptx_run(launch->kernel, launch->grid, launch->block, launch->parameters, translate)) broken = ILLEGAL_ADDRESS;
    return 0;
}

EXPORT cuLaunchKernel(Function *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared, Stream *stream, void **parameters, void **extra) {
    ENTER_CONTEXT;
    if (!function || function->magic != FUNCTION || stream_of(stream)) return INVALID_HANDLE;
    if (function->device != current->device) return INVALID_HANDLE;
    if (gy != 1 || gz != 1 || by != 1 || bz != 1 || !gx || !bx || bx > 1024 || shared || extra) return INVALID_VALUE;
    Launch launch = {.kernel = function->kernel, .grid = gx, .block = bx};
    for (int i = 0; i < ptx_parameters(function->kernel); i++)
        memcpy(&launch.parameters[i], parameters[i], ptx_parameter_bytes(function->kernel, i));
    if (stream && stream->capturing) {
        Launch *kept = malloc(sizeof *kept);
        *kept = launch;
        *stream->capturing->end = kept;
        stream->capturing->end = &kept->next;
        return 0;
    }
    struct timespec begin, now;
    long cost = number("FAKE_CUDA_STREAM_US", 0) * 1000;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < cost);
    return carry_out(&launch);
}
#endif

#if !defined WITHOUT_GRAPHS && !defined WITHOUT_LAUNCH
EXPORT cuStreamBeginCapture_v2(Stream *stream, int mode) {
    ENTER_CONTEXT;
    if (mode < 0 || mode > 2) return INVALID_VALUE;
    if (!stream) return CAPTURE_UNSUPPORTED;
    if (stream_of(stream)) return INVALID_HANDLE;
    made((void **)&stream->capturing, sizeof(Graph), GRAPH);
    stream->capturing->end = &stream->capturing->first;
    return 0;
}

EXPORT cuStreamEndCapture(Stream *stream, Graph **graph) {
    ENTER_CONTEXT;
    if (!stream || stream_of(stream) || !stream->capturing) return INVALID_HANDLE;
    *graph = stream->capturing->invalid ? NULL : stream->capturing;
    stream->capturing = NULL;
    return *graph ? 0 : CAPTURE_INVALIDATED;
}

static int instantiated(Graph **executable, Graph *graph) {
    if (!graph || graph->magic != GRAPH) return INVALID_HANDLE;
    made((void **)executable, sizeof(Graph), EXECUTABLE);
    (*executable)->first = graph->first;
    return 0;
}

#ifndef WITHOUT_FLAGS
EXPORT cuGraphInstantiateWithFlags(Graph **executable, Graph *graph, unsigned long long flags) {
    ENTER_CONTEXT;
    return flags & ~15ull ? INVALID_VALUE : instantiated(executable, graph);
}
#endif

EXPORT cuGraphInstantiate_v2(Graph **executable, Graph *graph, void **node, char *log, size_t bytes) {
    ENTER_CONTEXT;
    (void)node, (void)log, (void)bytes;
    return instantiated(executable, graph);
}

EXPORT cuGraphGetNodes(Graph *graph, void **nodes, size_t *count) {
    ENTER_CONTEXT;
    if (!graph || graph->magic != GRAPH || nodes) return INVALID_VALUE;
    *count = 0;
    for (Launch *at = graph->first; at; at = at->next) ++*count;
    return 0;
}

EXPORT cuGraphUpload(Graph *executable, Stream *stream) {
    ENTER_CONTEXT;
    return executable && executable->magic == EXECUTABLE ? stream_of(stream) : INVALID_HANDLE;
}

EXPORT cuGraphLaunch(Graph *executable, Stream *stream) {
    ENTER_CONTEXT;
    if (!executable || executable->magic != EXECUTABLE || stream_of(stream)) return INVALID_HANDLE;
    for (Launch *at = executable->first; at; at = at->next) carry_out(at);
    return 0;
}

EXPORT cuGraphExecDestroy(Graph *executable) { ENTER_CONTEXT; return gone((unsigned *)executable, EXECUTABLE); }
EXPORT cuGraphDestroy(Graph *graph) { ENTER_CONTEXT; return gone((unsigned *)graph, GRAPH); }
#endif
