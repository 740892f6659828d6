/* Reads its configuration and a page, and says which libraries it runs with; needs no GPU. */
#include <omp.h>
#include <stdio.h>

int kernels_curand(void);
const char *kernels_device(void);

static int line_of(const char *path) {
    char line[128] = "";
    FILE *file = fopen(path, "r");
    if (!file || !fgets(line, sizeof line, file)) return 0;
    fputs(line, stdout);
    return 1;
}

int main(int count, char **words) {
    if (count < 2 || !line_of(words[1]) || !line_of("/opt/engine/share/web/index.html")) return 3;
    printf("curand %d, %s, OpenMP %d\n", kernels_curand(), kernels_device(), omp_get_max_threads() > 0);
    return 0;
}
