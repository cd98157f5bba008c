/* The smallest learner in C. Each iteration reads the weights, writes a gradient, and calls fsync. The gradient is that of the
 * loss |w - 1|^2 / 2: all weights become 1. cc -O2 learner.c -o learner && ./learner DIR/model ITERATIONS */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void fail(const char *what) {
    perror(what);
    exit(1);
}

int main(int argc, char **argv) {
    if (argc != 3 || atol(argv[2]) < 1) {
        fprintf(stderr, "usage: %s DIR/model ITERATIONS\n", argv[0]);
        return 2;
    }
    int fd = open(argv[1], O_RDWR);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0) fail(argv[1]);
    size_t size = status.st_size;
    float *weights = malloc(size), *gradient = malloc(size);
    if (!weights || !gradient) fail("malloc");

    for (long iteration = 1; iteration <= atol(argv[2]); iteration++) {
        ssize_t count;
        for (size_t done = 0; done < size; done += count) {
            count = pread(fd, (char *)weights + done, size - done, done);
            if (count < 0 && errno == EINTR) count = 0;
            else if (count <= 0) fail("read");
        }
        for (size_t i = 0; i < size / sizeof *gradient; i++) gradient[i] = weights[i] - 1;
        for (size_t done = 0; done < size; done += count) {
            count = pwrite(fd, (char *)gradient + done, size - done, done);
            if (count < 0 && errno == EINTR) count = 0;
            else if (count <= 0) fail("write");
        }
        if (fsync(fd) != 0) fail("fsync");
        printf("%ld: the first weight was %g\n", iteration, size ? weights[0] : 0);
    }
    return close(fd) == 0 ? 0 : 1;
}
