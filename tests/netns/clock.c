// SPDX-License-Identifier: GPL-2.0
/*
 * clock.so (LD_PRELOAD): moves the time of day that a program reads, and its CLOCK_MONOTONIC_RAW,
 * as if the kernel slewed its other clocks. The file named by SALUKI_CLOCK has numbers (63 bytes
 * with blanks): the offset of the time of day in seconds ("-90.5"); and of CLOCK_MONOTONIC_RAW,
 * where given, the offset in ns at a CLOCK_MONOTONIC time in ns, that time, and the rate in ppm.
 * The file is mapped, so a test can move a running program's clocks, also in a sandbox without
 * files.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

#define SECOND 1000000000LL
#define TEXT_LEN 63

static const volatile char *text;
static int (*real_clock)(clockid_t clock, struct timespec *t);

__attribute__((constructor)) static void clock_open(void)
{
	const char *path = getenv("SALUKI_CLOCK");
	int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *p;

	*(void **)&real_clock = dlsym(RTLD_NEXT, "clock_gettime");
	if (file < 0)
		return;
	p = mmap(NULL, TEXT_LEN, PROT_READ, MAP_SHARED, file, 0);
	text = p == MAP_FAILED ? NULL : p;
}

/* Copies the text. A test may be writing it: then it is copied again. */
static void copy_text(char copy[TEXT_LEN + 1])
{
	char before[TEXT_LEN + 1] = { 1 };

	memset(copy, 0, TEXT_LEN + 1);
	while (text && memcmp(copy, before, TEXT_LEN)) {
		memcpy(before, copy, TEXT_LEN + 1);
		for (int i = 0; i < TEXT_LEN; i++)
			copy[i] = text[i];
	}
}

static void add(struct timespec *t, int64_t offset_ns)
{
	int64_t ns = t->tv_sec * SECOND + t->tv_nsec + offset_ns;

	t->tv_sec = ns / SECOND;
	t->tv_nsec = ns % SECOND;
}

static void add_raw(struct timespec *t, char *numbers)
{
	int64_t offset = strtoll(numbers, &numbers, 10), since = strtoll(numbers, &numbers, 10);
	double ppm = strtod(numbers, NULL);
	struct timespec now;

	if (!since)
		return;
	real_clock(CLOCK_MONOTONIC, &now);
	add(t, offset + (int64_t)((now.tv_sec * SECOND + now.tv_nsec - since) * ppm / 1e6));
}

/* Before the constructor has run, only the loader and sanitizers ask. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
	int err = real_clock ? real_clock(clock, t) : -1;
	char copy[TEXT_LEN + 1], *more;
	double seconds;

	if (!err && clock == CLOCK_MONOTONIC_RAW && getenv("SALUKI_NO_RAW")) {
		errno = EINVAL;
		return -1;
	}
	if (err || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE &&
		    clock != CLOCK_MONOTONIC_RAW))
		return err;
	copy_text(copy);
	seconds = strtod(copy, &more);
	if (clock != CLOCK_MONOTONIC_RAW)
		add(t, seconds * SECOND);
	else
		add_raw(t, more);
	return 0;
}

int gettimeofday(struct timeval *restrict v, void *restrict zone)
{
	struct timespec t = { 0 };

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &t);
	v->tv_sec = t.tv_sec;
	v->tv_usec = t.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *out)
{
	struct timespec t = { 0 };

	clock_gettime(CLOCK_REALTIME, &t);
	if (out)
		*out = t.tv_sec;
	return t.tv_sec;
}
