// Stands in front of the C library's pread64: a disk that cannot be read from some place on.
// FAULTY_NAME: end of the path of the file. FAULTY_FROM: the first offset that cannot be read.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int is_faulty(int fd) {
    const char *name = getenv("FAULTY_NAME");
    char link[64], path[PATH_MAX];
    if (!name) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    size_t end = strlen(name);
    if (length < (ssize_t)end) return 0;
    path[length] = 0;
    return strcmp(path + length - end, name) == 0;
}

ssize_t pread64(int fd, void *buffer, size_t count, off64_t offset) {
    static ssize_t (*real)(int, void *, size_t, off64_t);
    if (!real) real = (ssize_t(*)(int, void *, size_t, off64_t))dlsym(RTLD_NEXT, "pread64");
    const char *from = getenv("FAULTY_FROM");
    if (from && is_faulty(fd)) {
        long long first = atoll(from);
        if (offset >= first) {
            errno = EIO;
            return -1;
        }
        if (offset + (off64_t)count > first) count = (size_t)(first - offset);
    }
    return real(fd, buffer, count, offset);
}
