// SPDX-License-Identifier: GPL-2.0
/*
 * clock.so (LD_PRELOAD): moves the time of day that a program reads. The file named by SALUKI_CLOCK
 * gives the offset in seconds ("-90.5", and blanks, 31 bytes). The file is mapped, so a test can
 * move a running program's clock, also in a sandbox without files. Other clocks are not changed.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

#define SECOND 1000000000LL
#define TEXT_LEN 31

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

static int64_t offset_ns(void)
{
	char copy[TEXT_LEN + 1] = { 0 };

	for (int i = 0; text && i < TEXT_LEN; i++)
		copy[i] = text[i];
	return strtod(copy, NULL) * SECOND;
}

/* Before the constructor has run, only the loader and sanitizers ask. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
	int err = real_clock ? real_clock(clock, t) : -1;
	int64_t ns;

	if (err || clock != CLOCK_REALTIME)
		return err;
	ns = t->tv_sec * SECOND + t->tv_nsec + offset_ns();
	t->tv_sec = ns / SECOND;
	t->tv_nsec = ns % SECOND;
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
