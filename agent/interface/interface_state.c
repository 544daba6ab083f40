// SPDX-License-Identifier: GPL-2.0
/* Interface state: see interface_state.h. */
#include "interface_state.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <saluki/linktype.h>

/* Drivers without this flag report 0. */
static bool interface_state_strips_vlan(int sock, struct ifreq *r)
{
	struct ethtool_value flags = { .cmd = ETHTOOL_GFLAGS };

	r->ifr_data = (void *)&flags;
	return ioctl(sock, SIOCETHTOOL, r) == 0 && flags.data & ETH_FLAG_RXVLAN;
}

static int interface_state_ioctls(int sock, struct ifreq *r, struct interface_state *s)
{
	if (ioctl(sock, SIOCGIFINDEX, r))
		return errno == ENODEV ? 0 : -errno;
	s->ifindex = r->ifr_ifindex;
	if (ioctl(sock, SIOCGIFHWADDR, r))
		return -errno;
	s->arphrd = r->ifr_hwaddr.sa_family;
	s->linktype = linktype_from_arphrd(s->arphrd);
	if (ioctl(sock, SIOCGIFFLAGS, r))
		return -errno;
	s->up = r->ifr_flags & IFF_UP;
	/* A station without an access point is not running either, but a monitor on its radio can
	 * hear others. So the carrier counts for Ethernet only. */
	s->carrier = s->up && (r->ifr_flags & IFF_RUNNING || s->linktype != LINKTYPE_ETHERNET);
	if (ioctl(sock, SIOCGIFMTU, r))
		return -errno;
	s->mtu = r->ifr_mtu;
	s->strips_vlan = interface_state_strips_vlan(sock, r);
	return 0;
}

int interface_state_query(const char *name, struct interface_state *s)
{
	struct ifreq r = { 0 };
	/* Sockets of every family answer these ioctls; this kind has no peer (sandbox.c). */
	int sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;

	memset(s, 0, sizeof(*s));
	s->linktype = -1;
	if (sock < 0)
		return -errno;
	strncpy(r.ifr_name, name, IFNAMSIZ - 1);
	err = strlen(name) < IFNAMSIZ ? interface_state_ioctls(sock, &r, s) : 0;
	close(sock);
	if (err == -ENODEV) { /* it disappeared between two requests */
		memset(s, 0, sizeof(*s));
		err = 0;
	}
	return err;
}

const char *interface_state_word(const struct interface_state *s)
{
	if (!s->ifindex)
		return "absent";
	return s->carrier ? "up" : s->up ? "no carrier" : "down";
}

int interface_state_set_up(const char *name, bool up)
{
	struct ifreq r = { 0 };
	int sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0),
	    err; /* as in interface_state_query */

	if (sock < 0)
		return -errno;
	strncpy(r.ifr_name, name, IFNAMSIZ - 1);
	err = ioctl(sock, SIOCGIFFLAGS, &r) ? -errno : 0;
	if (!err && !(r.ifr_flags & IFF_UP) == up) {
		r.ifr_flags ^= IFF_UP;
		err = ioctl(sock, SIOCSIFFLAGS, &r) ? -errno : 0;
	}
	close(sock);
	return err;
}

/* As ethtool -l; 0 if the driver does not report it. */
static unsigned int channels(const char *name)
{
	struct ethtool_channels c = { .cmd = ETHTOOL_GCHANNELS };
	struct ifreq r = { .ifr_data = (void *)&c };
	int sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	unsigned int queues = 0;

	strncpy(r.ifr_name, name, IFNAMSIZ - 1);
	if (sock >= 0 && ioctl(sock, SIOCETHTOOL, &r) == 0)
		queues = c.rx_count + c.combined_count;
	if (sock >= 0)
		close(sock);
	return queues;
}

static unsigned int num_rx_queues(const struct nlmsghdr *h, int len)
{
	const struct rtattr *a;

	if (!NLMSG_OK(h, (unsigned int)len) || h->nlmsg_type != RTM_NEWLINK)
		return 0;
	a = IFLA_RTA(NLMSG_DATA(h));
	len = IFLA_PAYLOAD(h);
	for (; RTA_OK(a, len); a = RTA_NEXT(a, len))
		if (a->rta_type == IFLA_NUM_RX_QUEUES)
			return *(const unsigned int *)RTA_DATA(a);
	return 0;
}

static unsigned int queues_at_most(const char *name)
{
	struct {
		struct nlmsghdr h;
		struct ifinfomsg i;
	} ask = {
		.h = { .nlmsg_len = sizeof(ask),
		       .nlmsg_type = RTM_GETLINK,
		       .nlmsg_flags = NLM_F_REQUEST },
		.i = { .ifi_family = AF_UNSPEC, .ifi_index = if_nametoindex(name) },
	};
	_Alignas(struct nlmsghdr) char buffer[32768];
	int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	unsigned int queues = 0;
	ssize_t len = -1;

	if (sock >= 0 && send(sock, &ask, sizeof(ask), 0) >= 0)
		len = recv(sock, buffer, sizeof(buffer), 0);
	if (len > 0)
		queues = num_rx_queues((const struct nlmsghdr *)buffer, len);
	if (sock >= 0)
		close(sock);
	return queues;
}

unsigned int interface_state_receive_queues(const char *name)
{
	return channels(name) ?: queues_at_most(name) ?: 1;
}

/* Counts a dump's filters; -EAGAIN until the dump ends. */
static int count_filters(const char *buffer, ssize_t len, int *count)
{
	const struct nlmsghdr *h = (const struct nlmsghdr *)buffer;

	for (; NLMSG_OK(h, len); h = NLMSG_NEXT(h, len)) {
		if (h->nlmsg_type == NLMSG_DONE)
			return 0;
		if (h->nlmsg_type == NLMSG_ERROR)
			return ((const struct nlmsgerr *)NLMSG_DATA(h))->error;
		/* The dump also has an entry for each chain, with handle 0. */
		if (h->nlmsg_type == RTM_NEWTFILTER)
			*count += ((const struct tcmsg *)NLMSG_DATA(h))->tcm_handle != 0;
	}
	return -EAGAIN;
}

static int dump_filters(int sock, int ifindex, unsigned int parent, int *count)
{
	struct {
		struct nlmsghdr h;
		struct tcmsg t;
	} ask = {
		.h = {
			.nlmsg_len = sizeof(ask),
			.nlmsg_type = RTM_GETTFILTER,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		},
		.t = { .tcm_family = AF_UNSPEC, .tcm_ifindex = ifindex, .tcm_parent = parent },
	};
	_Alignas(struct nlmsghdr) char buffer[16384];
	int err = -EAGAIN;

	if (send(sock, &ask, sizeof(ask), 0) < 0)
		return -errno;
	while (err == -EAGAIN) {
		ssize_t len = recv(sock, buffer, sizeof(buffer), 0);

		if (len < 0)
			return -errno;
		err = count_filters(buffer, len, count);
	}
	return err;
}

int interface_state_tc_filters(int ifindex)
{
	int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), count = 0, err;

	if (sock < 0)
		return -errno;
	err = dump_filters(sock, ifindex, TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS), &count);
	if (!err)
		err = dump_filters(sock, ifindex, TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS), &count);
	close(sock);
	return err ? err : count;
}

int interface_state_watch_open(void)
{
	struct sockaddr_nl nl = { .nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE), err;

	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&nl, sizeof(nl))) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

void interface_state_watch_drain(int fd)
{
	char byte;

	/* The rest of a message is discarded. ENOBUFS: some were lost, to the same effect. */
	while (recv(fd, &byte, 1, 0) > 0 || errno == ENOBUFS || errno == EINTR)
		;
}
