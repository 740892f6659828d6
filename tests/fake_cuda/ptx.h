/* Runs kernels of the plain sort on the processor: one thread after the other, 32 and 64 bit, no shared memory. */
#include <stddef.h>
#include <stdint.h>

enum { MAX_PARAMETERS = 16 };

typedef struct Kernel Kernel;

/* All entries of a module's text as a list; NULL with a reason in `log` when it holds what is not known here. */
Kernel *ptx_parse(const char *text, char *log, size_t log_bytes);
Kernel *ptx_find(Kernel *list, const char *name);
size_t ptx_parameter_bytes(const Kernel *kernel, int index);
int ptx_parameters(const Kernel *kernel);

/* 0, or -1 when a thread touched an address that `translate` does not know. */
int ptx_run(const Kernel *kernel, unsigned grid, unsigned block, const uint64_t *parameters,
            void *(*translate)(uint64_t address, size_t bytes));
