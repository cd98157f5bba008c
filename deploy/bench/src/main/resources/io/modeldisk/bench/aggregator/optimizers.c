/* The optimizers as plain loops. `modeldisk bench aggregator` compares an aggregator with its loop. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOP(name) __attribute__((noinline)) static void name( \
    float *restrict w, float *restrict m, float *restrict v, const float *restrict g, size_t n, float lr)

static const float MOMENTUM = 0.9f, ALPHA = 0.99f, BETA1 = 0.9f, BETA2 = 0.999f, EPS = 1e-8f, DECAY = 0.01f;
/* The number of passes so far. adam and adamw need it to correct the bias of their averages. */
static int passes = 0;

LOOP(sgd)
{
    (void)m, (void)v;
    for (size_t i = 0; i < n; i++)
        w[i] -= lr * g[i];
}

LOOP(momentum)
{
    (void)v;
    for (size_t i = 0; i < n; i++) {
        m[i] = MOMENTUM * m[i] + g[i];
        w[i] -= lr * m[i];
    }
}

LOOP(nesterov)
{
    (void)v;
    for (size_t i = 0; i < n; i++) {
        m[i] = MOMENTUM * m[i] + g[i];
        w[i] -= lr * (g[i] + MOMENTUM * m[i]);
    }
}

LOOP(adagrad)
{
    (void)v;
    for (size_t i = 0; i < n; i++) {
        m[i] += g[i] * g[i];
        w[i] -= lr * g[i] / (sqrtf(m[i]) + EPS);
    }
}

LOOP(rmsprop)
{
    (void)v;
    for (size_t i = 0; i < n; i++) {
        m[i] = ALPHA * m[i] + (1 - ALPHA) * g[i] * g[i];
        w[i] -= lr * g[i] / (sqrtf(m[i]) + EPS);
    }
}

static inline void adam_step(float *restrict w, float *restrict m, float *restrict v, const float *restrict g, size_t n,
                             float lr, float shrink)
{
    float rate = lr / (1 - powf(BETA1, passes)), root = 1 / sqrtf(1 - powf(BETA2, passes));
    for (size_t i = 0; i < n; i++) {
        m[i] = BETA1 * m[i] + (1 - BETA1) * g[i];
        v[i] = BETA2 * v[i] + (1 - BETA2) * g[i] * g[i];
        w[i] = shrink * w[i] - rate * m[i] / (root * sqrtf(v[i]) + EPS);
    }
}

LOOP(adam)
{
    adam_step(w, m, v, g, n, lr, 1);
}

LOOP(adamw)
{
    adam_step(w, m, v, g, n, lr, 1 - lr * DECAY);
}

LOOP(copy)
{
    (void)m, (void)v, (void)lr;
    memcpy(w, g, n * sizeof *w);
}

static const struct {
    const char *name;
    void (*run)(float *restrict, float *restrict, float *restrict, const float *restrict, size_t, float);
} loops[] = {{"sgd", sgd}, {"momentum", momentum}, {"nesterov", nesterov}, {"adagrad", adagrad}, {"rmsprop", rmsprop},
             {"adam", adam}, {"adamw", adamw}, {"copy", copy}};

static int64_t nanos(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/*
 * Arguments: the size of an array and the size of a block, in bytes. For each input line with the name of a loop, the program
 * passes once over the arrays, block by block, and prints the duration in nanoseconds. An unknown name ends the program.
 */
int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    size_t bytes = strtoull(argv[1], NULL, 10), block = strtoull(argv[2], NULL, 10);
    float *w = aligned_alloc(4096, bytes), *g = aligned_alloc(4096, bytes);
    float *m = aligned_alloc(4096, bytes), *v = aligned_alloc(4096, bytes);
    if (!w || !g || !m || !v)
        return 1;
    for (size_t i = 0; i < bytes / 4; i++) {
        w[i] = 1;
        g[i] = 0.5f;
        m[i] = v[i] = 0;
    }
    char line[16];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        size_t loop = 0, count = sizeof loops / sizeof *loops;
        while (loop < count && strcmp(line, loops[loop].name))
            loop++;
        if (loop == count)
            return 3;
        passes++;
        int64_t begun = nanos();
        for (size_t at = 0; at < bytes / 4; at += block / 4)
            loops[loop].run(w + at, m + at, v + at, g + at, block / 4, 0.001f);
        printf("%lld %a\n", (long long)(nanos() - begun), w[bytes / 4 - 1]);
        fflush(stdout);
    }
    return 0;
}
