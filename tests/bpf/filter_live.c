// SPDX-License-Identifier: GPL-2.0
/*
 * Live interfaces for filter_run: see filter_live.h. The kernel receives a frame written to a TUN
 * device before write(2) returns. A TAP device with IFF_NAPI_FRAGS takes a frame in pieces, and
 * keeps the pieces.
 */
#include "filter_live.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/if_tun.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define ARPHRD_IEEE80211_RADIOTAP 803
#define PIECE 1500

static int xdp_fd, tc_fd, pieces_fd, xdp_link = -1;

static void die(const char *what)
{
	fprintf(stderr, "filter_run: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void up(int sock, const char *name)
{
	struct ifreq r = { .ifr_flags = IFF_UP };
	struct ethtool_value no_gro = { .cmd = ETHTOOL_SGRO };

	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", name);
	if (ioctl(sock, SIOCSIFFLAGS, &r))
		die("up");
	r.ifr_data = (void *)&no_gro;
	if (ioctl(sock, SIOCETHTOOL, &r))
		die("no GRO");
}

static int tun(const char *name, int flags, int sock)
{
	struct ifreq r = { .ifr_flags = flags };
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", name);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &r))
		die("/dev/net/tun");
	if (flags == IFF_TUN && ioctl(fd, TUNSETLINK, ARPHRD_IEEE80211_RADIOTAP))
		die("TUNSETLINK");
	up(sock, name);
	return fd;
}

static void clsact(const char *name)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = if_nametoindex(name),
		    .attach_point = BPF_TC_INGRESS);

	if (bpf_tc_hook_create(&hook))
		die("clsact");
}

void live_open(void)
{
	int sock;

	if (unshare(CLONE_NEWNET))
		die("unshare");
	sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	xdp_fd = tun("xdp", IFF_TUN, sock);
	tc_fd = tun("tc", IFF_TUN, sock);
	pieces_fd = tun("pieces", IFF_TAP | IFF_NO_PI | IFF_NAPI | IFF_NAPI_FRAGS, sock);
	clsact("tc");
	clsact("pieces");
	close(sock);
}

static void attach_tc(const char *name, int prog)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = if_nametoindex(name),
		    .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = prog, .handle = 1, .priority = 1,
		    .flags = BPF_TC_F_REPLACE);

	if (bpf_tc_attach(&hook, &opts))
		die("tc");
}

void live_attach(int xdp, int tc)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = XDP_FLAGS_SKB_MODE);

	if (xdp_link < 0)
		xdp_link = bpf_link_create(xdp, if_nametoindex("xdp"), BPF_XDP, &opts);
	else if (bpf_link_update(xdp_link, xdp, NULL))
		die("XDP");
	if (xdp_link < 0)
		die("XDP");
	attach_tc("tc", tc);
	attach_tc("pieces", tc);
}

static void put(int fd, const uint8_t *frame, uint32_t len)
{
	static uint8_t info[4] = { 0, 0, 0, 4 };
	struct iovec v[2] = { { info, sizeof(info) }, { (void *)frame, len } };

	if (writev(fd, v, 2) != (ssize_t)(sizeof(info) + len))
		die("write");
}

void live_xdp(const uint8_t *frame, uint32_t len)
{
	put(xdp_fd, frame, len);
}

void live_tc(const uint8_t *frame, uint32_t len)
{
	put(tc_fd, frame, len);
}

void live_tc_pieces(const uint8_t *frame, uint32_t len, uint32_t first)
{
	struct iovec v[16] = { { (void *)frame, first } };
	uint32_t n = 1;

	for (uint32_t at = first; at < len && n < 16; at += PIECE, n++)
		v[n] = (struct iovec){ (void *)(frame + at), len - at < PIECE ? len - at : PIECE };
	if (writev(pieces_fd, v, n) < 0)
		die("writev");
}
