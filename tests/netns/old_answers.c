// SPDX-License-Identifier: GPL-2.0
/*
 * Answers of Linux 2.6.27: see old_answers.h. In: a call with its arguments, and the caller's
 * memory. Out: that kernel's answer if it differs from the running one's. The numbers are from its
 * headers, which machines no longer have; names would be the running kernel's. An unknown option is
 * ENOPROTOOPT in all its protocols, not EINVAL.
 */
#include "old_answers.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SOL_NETLINK_ 270

/* ---- the caller's memory --------------------------------------------------------------------- */

static bool memory(const struct old_question *q, uint64_t at, void *bytes, size_t len, bool out)
{
	char path[64];
	ssize_t done;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", q->pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return false;
	done = out ? pwrite(fd, bytes, len, at) : pread(fd, bytes, len, at);
	close(fd);
	return done == (ssize_t)len;
}

static bool fetch(const struct old_question *q, uint64_t at, void *bytes, size_t len)
{
	return memory(q, at, bytes, len, false);
}

/* Reads the beginning of a string, page by page: memory after its end may be unmapped. */
static void fetch_name(const struct old_question *q, uint64_t at, char *name, size_t size)
{
	size_t got = 0, n;

	memset(name, 0, size);
	for (; got < size - 1 && !memchr(name, 0, got); got += n) {
		n = 4096 - (at + got) % 4096;
		if (n > size - 1 - got)
			n = size - 1 - got;
		if (!fetch(q, at + got, name + got, n))
			return;
	}
}

static int fetch_int(const struct old_question *q, uint64_t at)
{
	int value = -1;

	fetch(q, at, &value, sizeof(value));
	return value;
}

/* ---- packet sockets -------------------------------------------------------------------------- */

#define PACKET_LAST 12	 /* PACKET_RESERVE */
#define HEADER_LEN_V2 28 /* 32 since Linux 3.14, to have room for more */

static bool is_of_ring(int option)
{
	return option == PACKET_RX_RING || option == PACKET_VERSION || option == PACKET_HDRLEN ||
	       option == PACKET_RESERVE;
}

static int packet_option(const struct old_question *q, int option)
{
	int version, length = HEADER_LEN_V2;

	if (option > PACKET_LAST || (q->packets == OLD_RECV && is_of_ring(option)) ||
	    (q->packets == OLD_V1 && option > PACKET_ORIGDEV))
		return -ENOPROTOOPT;
	if (option != PACKET_VERSION && option != PACKET_HDRLEN)
		return 0;
	version = fetch_int(q, q->args[3]);
	if (version > TPACKET_V2)
		return -EINVAL;
	if (q->nr != SYS_getsockopt || option != PACKET_HDRLEN || version != TPACKET_V2)
		return 0;
	return memory(q, q->args[3], &length, sizeof(length), true) ? OLD_ANSWERED : -EFAULT;
}

/* ---- filters --------------------------------------------------------------------------------- */

/* The ancillary data of a filter: SKF_AD_PROTOCOL, PKTTYPE, IFINDEX, NLATTR and NLATTR_NEST. For
 * other ancillary data, 2.6.27 refuses the frame. This stand-in refuses the whole filter, so that
 * tests find every filter with such data. */
#define ANCILLARY_LAST 16

static bool is_old(const struct sock_filter *i)
{
	bool loads = BPF_CLASS(i->code) == BPF_LD && BPF_MODE(i->code) == BPF_ABS;

	if (BPF_CLASS(i->code) == BPF_ALU)
		return BPF_OP(i->code) <= BPF_NEG; /* BPF_MOD and BPF_XOR are higher */
	return !loads || i->k < (uint32_t)SKF_AD_OFF ||
	       i->k <= (uint32_t)SKF_AD_OFF + ANCILLARY_LAST;
}

static int filter(const struct old_question *q)
{
	static struct sock_filter code[BPF_MAXINSNS];
	struct sock_fprog p;

	if (!fetch(q, q->args[3], &p, sizeof(p)) || p.len > BPF_MAXINSNS ||
	    !fetch(q, (uintptr_t)p.filter, code, p.len * sizeof(code[0])))
		return -EFAULT;
	for (unsigned int i = 0; i < p.len; i++)
		if (!is_old(&code[i]))
			return -EINVAL;
	return 0;
}

/* ---- options --------------------------------------------------------------------------------- */

#define SO_LAST 36	    /* SO_MARK */
#ifdef __mips__		    /* it has BSD's numbers for the oldest ones */
#define SO_BSD_FIRST 0x1001 /* SO_SNDBUF */
#define SO_BSD_LAST 0x1009  /* SO_ACCEPTCONN */
#define SO_REUSEPORT_ 0x200
#define SO_IS_BIT(o) ((o) == 0x80 || (o) == 0x100) /* SO_LINGER, SO_OOBINLINE */
#else
#define SO_BSD_FIRST 1
#define SO_BSD_LAST 0
#define SO_REUSEPORT_ 15 /* since Linux 3.9 */
#define SO_IS_BIT(o) 0
#endif

static bool socket_has(int o)
{
	if (o == SO_REUSEPORT_)
		return false;
	return o <= SO_LAST || SO_IS_BIT(o) || (o >= SO_BSD_FIRST && o <= SO_BSD_LAST);
}

static bool ip_has(int o)
{
	/* Up to IP_PASSSEC; IP_MULTICAST_IF to MCAST_MSFILTER; netfilter's. */
	return o <= 18 || (o >= 32 && o <= 48) || o >= 64;
}

static bool ipv6_has(int o)
{
	/* IPV6_RECVPATHMTU, IPV6_PATHMTU and IPV6_DONTFRAG are Linux 2.6.35's; from IPV6_TCLASS on
	 * there is only IPV6_ADDR_PREFERENCES. */
	return o < 60 || (o > 62 && o <= 67) || o == 72;
}

static int option(const struct old_question *q)
{
	int level = q->args[1], o = q->args[2];
	bool has = true;

	if (level == SOL_PACKET)
		return packet_option(q, o);
	if (level == SOL_SOCKET && o == SO_ATTACH_FILTER && q->nr == SYS_setsockopt)
		return filter(q);
	if (level == SOL_SOCKET)
		has = socket_has(o);
	else if (level == IPPROTO_IP)
		has = ip_has(o);
	else if (level == IPPROTO_IPV6)
		has = ipv6_has(o);
	else if (level == IPPROTO_UDP)
		has = o == 1 || o == 100; /* UDP_CORK, UDP_ENCAP */
	else if (level == IPPROTO_TCP)
		has = o <= 14; /* TCP_MD5SIG */
	else if (level == SOL_NETLINK_)
		has = o <= 3; /* NETLINK_PKTINFO */
	return has ? 0 : -ENOPROTOOPT;
}

/* ---- the others ------------------------------------------------------------------------------ */

static int socket_of(int family, int protocol)
{
	if (family > 34) /* AF_ISDN */
		return -EAFNOSUPPORT;
	return family == AF_NETLINK && protocol > 19 ? -EPROTONOSUPPORT : 0; /* NETLINK_ECRYPTFS */
}

static int process_control(const struct old_question *q)
{
	int what = q->args[0];

	if (what > 28) /* PR_SET_SECUREBITS */
		return -EINVAL;
	if (what == PR_SET_SECCOMP && (int)q->args[1] != 1) /* SECCOMP_MODE_STRICT */
		return -EINVAL;
	if ((what == PR_CAPBSET_READ || what == PR_CAPBSET_DROP) && (int)q->args[1] > 33)
		return -EINVAL; /* CAP_MAC_ADMIN */
	return 0;
}

static int ethtool(const struct old_question *q)
{
	struct ifreq r;
	uint32_t command = 0;

	if (fetch(q, q->args[2], &r, sizeof(r)))
		fetch(q, (uintptr_t)r.ifr_data, &command, sizeof(command));
	return command > 0x2a ? -EOPNOTSUPP : 0; /* ETHTOOL_SRXFH */
}

static int device_control(const struct old_question *q)
{
	unsigned int request = q->args[1];

	switch (request) {
	case SIOCETHTOOL:
		return ethtool(q);
	case 0x894b: /* SIOCOUTQNSD, 2.6.35 */
	case 0x894c: /* SIOCGSKNS, 4.10 */
	case 0x89b0: /* SIOCSHWTSTAMP, 2.6.30 */
	case 0x89b1: /* SIOCGHWTSTAMP, 3.14 */
		return -EINVAL;
	}
	return 0;
}

static int file_control(int what)
{
	if (what >= 1024) /* up to F_DUPFD_CLOEXEC; F_SETPIPE_SZ is 2.6.35's */
		return what > 1030 ? -EINVAL : 0;
#ifdef __mips__
	return what > 35 ? -EINVAL : 0; /* F_SETLKW64; F_OFD_GETLK is 3.15's */
#else
	return what > 14 ? -EINVAL : 0; /* F_SETLKW64; F_SETOWN_EX is 2.6.32's */
#endif
}

static int memory_advice(int what)
{
	/* MADV_REMOVE, MADV_DONTFORK and MADV_DOFORK are the last. */
	return what > 11 || (what > 4 && what < 9) ? -EINVAL : 0;
}

static int path(const struct old_question *q, uint64_t at, uint64_t flags)
{
	static const char *const newer[] = {
		"/proc/self/ns",		 /* 3.0 */
		"/proc/thread-self",		 /* 3.17 */
		"/proc/sys/kernel/cap_last_cap", /* 3.2 */
		"/sys/fs/bpf",			 /* 4.4 */
		"/sys/fs/cgroup",		 /* 3.1 */
		"/sys/kernel/btf",		 /* 5.4 */
	};
	char name[64];

	if ((flags & O_TMPFILE) == O_TMPFILE) /* 3.11; before, as if written to a folder */
		return -EISDIR;
	fetch_name(q, at, name, sizeof(name));
	for (size_t i = 0; i < sizeof(newer) / sizeof(newer[0]); i++)
		if (!strncmp(name, newer[i], strlen(newer[i])))
			return -ENOENT;
	return 0;
}

/* It has only AT_SYMLINK_NOFOLLOW; AT_EMPTY_PATH is 2.6.39's. */
static int status_at(const struct old_question *q)
{
#ifndef __GLIBC__ /* musl uses it for fstat(), and needs Linux 3.2 */
	if (q->args[3] & ~AT_SYMLINK_NOFOLLOW)
		return -EINVAL;
#endif
	return path(q, q->args[1], 0);
}

const int old_asked[] = {
	SYS_setsockopt, SYS_getsockopt, SYS_socket,	SYS_prctl,     SYS_ioctl,
	SYS_fcntl,	SYS_madvise,	SYS_open,	SYS_openat,    SYS_access,
	SYS_faccessat,	SYS_readlink,	SYS_readlinkat, SYS_stat,      SYS_lstat,
#ifdef SYS_fcntl64
	SYS_fcntl64,	SYS_stat64,	SYS_lstat64,	SYS_fstatat64,
#else
	SYS_newfstatat,
#endif
};
const unsigned int old_asked_count = sizeof(old_asked) / sizeof(old_asked[0]);

int old_answer(const struct old_question *q)
{
	switch (q->nr) {
	case SYS_setsockopt:
	case SYS_getsockopt:
		return option(q);
	case SYS_socket:
		return socket_of(q->args[0], q->args[2]);
	case SYS_prctl:
		return process_control(q);
	case SYS_ioctl:
		return device_control(q);
	case SYS_madvise:
		return memory_advice(q->args[2]);
	case SYS_fcntl:
#ifdef SYS_fcntl64
	case SYS_fcntl64:
#endif
		return file_control(q->args[1]);
	case SYS_open:
		return path(q, q->args[0], q->args[1]);
	case SYS_openat:
		return path(q, q->args[1], q->args[2]);
	case SYS_access:
	case SYS_readlink:
	case SYS_stat:
	case SYS_lstat:
#ifdef SYS_stat64
	case SYS_stat64:
	case SYS_lstat64:
#endif
		return path(q, q->args[0], 0);
	case SYS_faccessat:
	case SYS_readlinkat:
		return path(q, q->args[1], 0);
	default: /* newfstatat, fstatat64 */
		return status_at(q);
	}
}
