// SPDX-License-Identifier: GPL-2.0
/*
 * newer_calls [v2|v1|recv]: asks the kernel for features newer than Linux 2.6.27, and for some
 * older ones. Prints one line per answer that differs from 2.6.27's, and their number; the exit
 * status is 1 if there are any. Run directly, it reports nearly all; under old_kernel none. The
 * argument is old_kernel's --packets.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SO_BPF_EXTENSIONS
#define SO_BPF_EXTENSIONS 48
#endif
#define DONE 0

static int wrong, asked;

/* `got`: a call's result; negative with errno. */
static void expect(const char *what, int wanted, long got)
{
	int err = got < 0 ? errno : DONE;

	asked++;
	if (err == wanted)
		return;
	wrong++;
	printf("%s: %s, and not: %s\n", what, strerror(err), strerror(wanted));
}

#define CALL(wanted, name, ...) expect(#name, wanted, syscall(SYS_##name, __VA_ARGS__))

/* Calls with arguments that a kernel with the call refuses for another reason, or ignores.
 */
static void calls(void)
{
	const char signals[_NSIG / 8] = { 0 };

	CALL(ENOSYS, accept4, -1, 0, 0, 0);
	CALL(ENOSYS, preadv, -1, 0, 0, 0, 0);
	CALL(ENOSYS, recvmmsg, -1, 0, 0, 0, 0);
	CALL(ENOSYS, sendmmsg, -1, 0, 0, 0);
	CALL(ENOSYS, prlimit64, 0, 0, 0, 0);
	CALL(ENOSYS, getrandom, 0, 0, 0);
	CALL(ENOSYS, memfd_create, "", 0);
	CALL(ENOSYS, seccomp, 99, 0, 0);
	CALL(ENOSYS, bpf, 0, 0, 0);
	CALL(ENOSYS, membarrier, 0, 0, 0);
	CALL(ENOSYS, copy_file_range, -1, 0, -1, 0, 0, 0);
	CALL(ENOSYS, statx, -1, "", 0, 0, 0);
	CALL(ENOSYS, rseq, 0, 0, 0, 0);
	CALL(ENOSYS, clone3, 0, 0);
	CALL(ENOSYS, close_range, 5, 4, 0);
	CALL(ENOSYS, faccessat2, -1, "", 0, 0);
	CALL(ENOSYS, landlock_create_ruleset, 0, 0, 0);
#ifdef SYS_clock_gettime64
	CALL(ENOSYS, clock_gettime64, 0, 0);
	CALL(ENOSYS, futex_time64, 0, 0, 0, 0, 0, 0);
	CALL(ENOSYS, ppoll_time64, 0, 1, 0, 0, 0);
#endif
	/* The last one in 2.6.27. */
	CALL(EINVAL, signalfd4, -1, signals, _NSIG / 8, 0xff);
	CALL(EINVAL, eventfd2, 0, 0x10);
	CALL(EBADF, dup3, -1, 1, 0);
	CALL(EINVAL, pipe2, 0, 0x10);
}

#define CONTROL(wanted, ...) expect("prctl " #__VA_ARGS__, wanted, prctl(__VA_ARGS__))

static void others(void)
{
	struct ifreq r = { .ifr_name = "lo" };
	unsigned int command[9] = { 0x3c }; /* ETHTOOL_GCHANNELS */
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	CONTROL(EINVAL, 36 /* PR_SET_CHILD_SUBREAPER */, 0);
	CONTROL(EINVAL, 38 /* PR_SET_NO_NEW_PRIVS */, 1, 0, 0, 0);
	CONTROL(EINVAL, PR_SET_SECCOMP, 2 /* a filter */, 0, 0, 0);
	CONTROL(EINVAL, PR_CAPBSET_READ, 39 /* CAP_BPF */, 0, 0, 0);
	CONTROL(DONE, PR_CAPBSET_READ, 33 /* CAP_MAC_ADMIN */, 0, 0, 0);
	CONTROL(DONE, PR_SET_NAME, "newer_calls");
	expect("socket AF_XDP", EAFNOSUPPORT, socket(44, SOCK_RAW, 0));
	expect("socket AF_UNIX", DONE, fd);
	r.ifr_data = (void *)command;
	expect("ETHTOOL_GCHANNELS", EOPNOTSUPP, ioctl(fd, SIOCETHTOOL, &r));
	expect("SIOCGIFINDEX", DONE, ioctl(fd, SIOCGIFINDEX, &r));
	expect("F_SETPIPE_SZ", EINVAL, fcntl(fd, 1031, 4096));
	expect("F_DUPFD_CLOEXEC", DONE, fcntl(fd, F_DUPFD_CLOEXEC, 3));
	expect("MADV_HUGEPAGE", EINVAL, madvise(0, 0, 14));
	expect("O_TMPFILE", EISDIR, open("/tmp", O_TMPFILE | O_RDWR, 0600));
	expect("/proc/self/ns", ENOENT, access("/proc/self/ns/net", F_OK));
	expect("/proc/self/stat", DONE, access("/proc/self/stat", R_OK));
}

static void set(const char *what, int wanted, int fd, int level, int option)
{
	int one = 1;

	/* musl's own wrapper asks a second time, for the older option. */
	expect(what, wanted, syscall(SYS_setsockopt, fd, level, option, &one, sizeof(one)));
}

static void options(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0), value;
	socklen_t len = sizeof(value);

	set("SO_REUSEPORT", ENOPROTOOPT, fd, SOL_SOCKET, SO_REUSEPORT);
	set("SO_RXQ_OVFL", ENOPROTOOPT, fd, SOL_SOCKET, 40);
	set("SO_REUSEADDR", DONE, fd, SOL_SOCKET, SO_REUSEADDR);
	set("SO_RCVBUF", DONE, fd, SOL_SOCKET, SO_RCVBUF);
	set("SO_TIMESTAMPNS of old", DONE, fd, SOL_SOCKET, 35);
	set("SO_TIMESTAMPNS_NEW", ENOPROTOOPT, fd, SOL_SOCKET, 64);
	set("IP_TRANSPARENT", ENOPROTOOPT, fd, IPPROTO_IP, 19);
	set("IP_RECVTTL", DONE, fd, IPPROTO_IP, 12);
	set("UDP_SEGMENT", ENOPROTOOPT, fd, IPPROTO_UDP, 103);
	expect("SO_BPF_EXTENSIONS", ENOPROTOOPT,
	       getsockopt(fd, SOL_SOCKET, SO_BPF_EXTENSIONS, &value, &len));
	expect("SO_ERROR", DONE, getsockopt(fd, SOL_SOCKET, SO_ERROR, &value, &len));
	close(fd);
}

/* ---- packet sockets: old_kernel's --packets -------------------------------------------------- */

static void packet_version(const char *what, int wanted, int version)
{
	int fd = socket(AF_PACKET, SOCK_RAW, 0);
	struct tpacket_req r = { 4096, 1, 2048, 2 };

	expect(what, wanted, setsockopt(fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)));
	if (wanted == DONE)
		expect("a ring of it", DONE,
		       setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &r, sizeof(r)));
	close(fd);
}

static void header_len(const char *what, int wanted, int version, int wanted_len)
{
	int fd = socket(AF_PACKET, SOCK_RAW, 0), value = version;
	socklen_t len = sizeof(value);

	expect(what, wanted, getsockopt(fd, SOL_PACKET, PACKET_HDRLEN, &value, &len));
	if (wanted == DONE && value != wanted_len) {
		wrong++;
		printf("%s: %d, and not %d\n", what, value, wanted_len);
	}
	close(fd);
}

static void ancillary(const char *what, int wanted, uint32_t k)
{
	struct sock_filter code[] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SKF_AD_OFF + k),
				      BPF_STMT(BPF_RET | BPF_A, 0) };
	struct sock_fprog p = { 2, code };
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	expect(what, wanted, setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &p, sizeof(p)));
	close(fd);
}

static void packets(const char *packets)
{
	int none = strcmp(packets, "v2") ? ENOPROTOOPT : 0; /* 2.6.26 has no such option */
	int fd = socket(AF_PACKET, SOCK_RAW, 0);
	struct tpacket_req r = { 4096, 1, 2048, 2 };

	packet_version("V3", none ?: EINVAL, TPACKET_V3);
	packet_version("V2", none ?: DONE, TPACKET_V2);
	packet_version("V1", none ?: DONE, TPACKET_V1);
	header_len("header of V3", none ?: EINVAL, TPACKET_V3, 0);
	header_len("header of V2", none ?: DONE, TPACKET_V2, 28);
	header_len("header of V1", none ?: DONE, TPACKET_V1, sizeof(struct tpacket_hdr));
	expect("PACKET_RX_RING", strcmp(packets, "recv") ? DONE : ENOPROTOOPT,
	       setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &r, sizeof(r)));
	set("PACKET_IGNORE_OUTGOING", ENOPROTOOPT, fd, SOL_PACKET, 23);
	set("PACKET_AUXDATA", DONE, fd, SOL_PACKET, PACKET_AUXDATA);
	close(fd);
	ancillary("SKF_AD_PKTTYPE", DONE, SKF_AD_PKTTYPE);
	ancillary("SKF_AD_VLAN_TAG", EINVAL, SKF_AD_VLAN_TAG);
}

int main(int argc, char **argv)
{
	calls();
	others();
	options();
	packets(argc > 1 ? argv[1] : "v2");
	printf("%d of %d answers are not those of Linux 2.6.27\n", wrong, asked);
	return wrong ? 1 : 0;
}
