// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into `saluki-collector ctl`: prints when it connects to the collector, in ns since
 * 1970. An emulated machine's time to start a program is not part of the order.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifdef __GLIBC__
#define ADDRESS __CONST_SOCKADDR_ARG
#else
#define ADDRESS const struct sockaddr *
#endif

int connect(int fd, ADDRESS address, socklen_t len)
{
	int (*next)(int, ADDRESS, socklen_t) = dlsym(RTLD_NEXT, "connect");
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	dprintf(STDOUT_FILENO, "%lld%09ld\n", (long long)t.tv_sec, t.tv_nsec);
	return next(fd, address, len);
}
