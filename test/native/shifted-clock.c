// Loaded before a process's C library: shifts what it takes for the time of day by the seconds that the file named by
// SHIFTED_CLOCK begins with, as somebody does who sets the clock while it runs. Clocks that only measure go on as they are.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *shift;

__attribute__((constructor)) static void map_shift(void) {
  int file = open(getenv("SHIFTED_CLOCK"), O_RDONLY | O_CLOEXEC);
  void *mapped = mmap(NULL, sizeof *shift, PROT_READ, MAP_SHARED, file, 0);
  shift = mapped == MAP_FAILED ? NULL : mapped;
  close(file);
}

static int64_t shifted(void) { return shift == NULL ? 0 : *shift; }

int clock_gettime(clockid_t clock, struct timespec *now) {
  static int (*real)(clockid_t, struct timespec *);
  if (real == NULL) real = dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += shifted();
  return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  static int (*real)(struct timeval *, void *);
  if (real == NULL) real = dlsym(RTLD_NEXT, "gettimeofday");
  int result = real(now, zone);
  if (result == 0) now->tv_sec += shifted();
  return result;
}
