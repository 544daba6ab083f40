// SPDX-License-Identifier: GPL-2.0
/*
 * monitor: monitor IF [CHANNEL] makes a wireless interface a monitor interface, takes it up and
 * sets its channel, as iwconfig and ifconfig would, which the virtual AP70 lacks.
 */
#include <linux/wireless.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int ask(int sock, const char *what, const char *interface, int request, struct iwreq r)
{
	strncpy(r.ifr_name, interface, IFNAMSIZ - 1);
	if (!ioctl(sock, request, &r))
		return 0;
	fprintf(stderr, "monitor: %s: %s: ", interface, what);
	perror(NULL);
	return 1;
}

static int take_up(int sock, const char *interface)
{
	struct ifreq r = { .ifr_flags = IFF_UP };

	strncpy(r.ifr_name, interface, IFNAMSIZ - 1);
	if (!ioctl(sock, SIOCSIFFLAGS, &r))
		return 0;
	fprintf(stderr, "monitor: %s: ", interface);
	perror("up");
	return 1;
}

int main(int argc, char **argv)
{
	struct iwreq mode = { .u.mode = IW_MODE_MONITOR };
	struct iwreq channel = { .u.freq = { .flags = IW_FREQ_FIXED } };
	int sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (argc < 2 || argc > 3 || sock < 0) {
		fprintf(stderr, "Usage: monitor IF [CHANNEL]\n");
		return 2;
	}
	if (ask(sock, "mode", argv[1], SIOCSIWMODE, mode) || take_up(sock, argv[1]))
		return 1;
	if (argc < 3)
		return 0;
	channel.u.freq.m = atoi(argv[2]);
	return ask(sock, "channel", argv[1], SIOCSIWFREQ, channel);
}
