/* sgd as a plain loop. `modeldisk bench aggregator` compares an aggregator with this loop. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

__attribute__((noinline)) static void sgd(float *restrict w, const float *restrict g, size_t n, float lr)
{
    for (size_t i = 0; i < n; i++)
        w[i] -= lr * g[i];
}

static int64_t nanos(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/*
 * Arguments: the size of an array and the size of a block, in bytes. For each input line, "sgd" or "copy", the program passes
 * once over the arrays, block by block, and prints the duration in nanoseconds.
 */
int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    size_t bytes = strtoull(argv[1], NULL, 10), block = strtoull(argv[2], NULL, 10);
    char *w = aligned_alloc(4096, bytes), *g = aligned_alloc(4096, bytes);
    if (!w || !g)
        return 1;
    for (size_t i = 0; i < bytes / 4; i++) {
        ((float *)w)[i] = 1;
        ((float *)g)[i] = 0.5f;
    }
    char line[16];
    while (fgets(line, sizeof line, stdin)) {
        int64_t begun = nanos();
        for (size_t at = 0; at < bytes; at += block) {
            if (line[0] == 's')
                sgd((float *)(w + at), (const float *)(g + at), block / 4, 0.001f);
            else
                memcpy(w + at, g + at, block);
        }
        printf("%lld %a\n", (long long)(nanos() - begun), ((float *)w)[bytes / 4 - 1]);
        fflush(stdout);
    }
    return 0;
}
