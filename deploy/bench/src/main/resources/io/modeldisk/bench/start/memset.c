/* Fills fresh memory with zeros. `modeldisk bench start` compares the start of a shard with this program. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t nanos(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* Argument: the size of the memory in bytes. Prints the duration of malloc and memset in nanoseconds. */
int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    size_t bytes = strtoull(argv[1], NULL, 10);
    int64_t begun = nanos();
    char *memory = malloc(bytes);
    if (!memory)
        return 1;
    /* Without the two barriers, the compiler calls calloc, or nothing at all. */
    __asm__ volatile("" : "+r"(memory) : : "memory");
    memset(memory, 0, bytes);
    __asm__ volatile("" : : "r"(memory) : "memory");
    printf("%lld\n", (long long)(nanos() - begun));
    return 0;
}
