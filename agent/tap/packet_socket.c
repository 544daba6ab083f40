// SPDX-License-Identifier: GPL-2.0
/* Packet sockets: see packet_socket.h. */
#include "packet_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <saluki/linktype.h>

#define BLOCKS_WANTED 16 /* V1, V2: blocks are only memory */

/* V3 passes on a block with any frame when its time is over, even if it is almost empty. With few
 * frames, a ring lasts for its number of blocks times this time. So it has as many blocks as
 * possible. Each holds several of the largest frames, so that little is wasted if the next one does
 * not fit. The kernel has a contiguous table of blocks. */
#define BLOCK_MS_DEFAULT 200
#define BLOCK_FRAMES 4
#define BLOCKS_MAX 16384

/* A protocol that no frame has ("internal only" in linux/if_ether.h): a socket bound to it gets no
 * frames. Older kernels do not bind to protocol 0. */
#define ETH_P_NOTHING ETH_P_DDCMP

#define COPY_ALL 0x40000 /* longer than any frame */

const char *packet_version_name(enum packet_version version)
{
	static const char *const names[] = { "mmap recv", "mmap v1", "mmap v2", "mmap v3" };

	return names[version];
}

/* ---- rings ----------------------------------------------------------------------------------- */

/* TPACKET_V1 depends on the kernel's word size, which may differ from this program's. V2 and V3
 * have fixed sizes. Before Linux 3.14 their headers were shorter after the fields that we read (28
 * for 32, 36 for 48 bytes), with the same space. */
static bool same_header(enum packet_version version, uint32_t theirs, uint32_t ours)
{
	if (version == PACKET_V1)
		return theirs == ours;
	return TPACKET_ALIGN(theirs) == TPACKET_ALIGN(ours);
}

/* Asks whether the kernel has a version, without a ring. */
static int ask_version(int fd, enum packet_version version)
{
	static const int header_len[] = { 0, sizeof(struct tpacket_hdr),
					  sizeof(struct tpacket2_hdr),
					  sizeof(struct tpacket3_hdr) };
	int number = version - PACKET_V1, value = number;
	socklen_t len = sizeof(value);

	if (getsockopt(fd, SOL_PACKET, PACKET_HDRLEN, &value, &len)) {
		if (version != PACKET_V1 || errno != ENOPROTOOPT) /* before Linux 2.6.27 */
			return -errno;
	} else if (!same_header(version, value, header_len[version])) {
		return -EPROTO;
	}
	if (setsockopt(fd, SOL_PACKET, PACKET_VERSION, &number, sizeof(number)) &&
	    (version != PACKET_V1 || errno != ENOPROTOOPT))
		return -errno;
	return 0;
}

static int ask_ring(int fd, const struct packet_layout *l)
{
	struct tpacket_req3 r = {
		.tp_block_size = l->block_size,
		.tp_block_nr = l->blocks,
		.tp_frame_size = l->frame_size,
		.tp_frame_nr = l->block_size / l->frame_size * l->blocks,
		.tp_retire_blk_tov = l->block_ms,
	};

	/* The older request is the first part of the newer. */
	return setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &r,
			  l->version == PACKET_V3 ? sizeof(r) : sizeof(struct tpacket_req))
		       ? -errno
		       : 0;
}

static uint32_t block_wanted(enum packet_version version, uint32_t ring_size, uint32_t need)
{
	uint32_t size = sysconf(_SC_PAGESIZE), most = ring_size / BLOCKS_WANTED;

	if (version != PACKET_V3)
		return most;
	while (size < most && (size / BLOCK_FRAMES < need || size < ring_size / BLOCKS_MAX))
		size *= 2;
	return size;
}

/* A block is contiguous memory, which the kernel may lack. Then tries smaller blocks, as long as a
 * frame fits. */
static int make_ring(int fd, struct packet_layout *l, enum packet_version version,
		     const struct capture_options *o)
{
	uint32_t need = TPACKET_ALIGN(packet_layout_overhead(version) + o->snaplen);
	uint32_t least = sysconf(_SC_PAGESIZE);
	int err = ask_version(fd, version);

	if (err)
		return err;
	while (least < need)
		least *= 2;
	l->version = version;
	l->frame_size = version == PACKET_V3 ? least / 2 : need; /* V3 only checks it */
	l->block_ms = version == PACKET_V3 ? o->delay_ms ?: BLOCK_MS_DEFAULT : 0;
	l->block_size = block_wanted(version, o->ring_size, need);
	do {
		if (l->block_size < least)
			l->block_size = least;
		l->blocks = o->ring_size / l->block_size;
		err = ask_ring(fd, l);
		l->block_size /= 2;
	} while (err == -ENOMEM && l->block_size >= least);
	l->block_size *= 2;
	return err;
}

/* Without a ring: a receive buffer of the same size, and the ring header's values as ancillary
 * data. */
static void make_buffer(struct packet_socket *s, uint32_t ring_size)
{
	int one = 1, half = ring_size / 2; /* the kernel doubles it */

	s->layout = (struct packet_layout){ .version = PACKET_RECV };
	if (setsockopt(s->fd, SOL_SOCKET, SO_RCVBUFFORCE, &half, sizeof(half)))
		setsockopt(s->fd, SOL_SOCKET, SO_RCVBUF, &half, sizeof(half));
	setsockopt(s->fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one));
	/* Before Linux 2.6.21 the original length of a truncated frame is not known. */
	if (setsockopt(s->fd, SOL_PACKET, PACKET_AUXDATA, &one, sizeof(one)))
		s->how.accept = COPY_ALL;
}

static void negotiate(struct packet_socket *s, enum packet_version best,
		      const struct capture_options *o)
{
	for (enum packet_version v = best; v >= PACKET_V1; v--) {
		s->refused[v] = make_ring(s->fd, &s->layout, v, o);
		if (!s->refused[v])
			return;
	}
	make_buffer(s, o->ring_size);
}

/* ---- filters --------------------------------------------------------------------------------- */

static int set_filter(int fd, struct sock_filter *code, int len)
{
	struct sock_fprog p = { len, code };

	if (len < 0)
		return len;
	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &p, sizeof(p)) ? -errno : 0;
}

static int refuse_all(int fd)
{
	struct sock_filter code = { .code = BPF_RET | BPF_K };

	return set_filter(fd, &code, 1);
}

static int accept_what(struct packet_socket *s, int fd, const struct filter *f)
{
	static struct sock_filter code[FILTER_PACKET_MAX];

	return set_filter(fd, code, filter_packet(code, f, &s->how));
}

/* ---- start and stop -------------------------------------------------------------------------- */

static int bind_to(int fd, int ifindex, int protocol)
{
	const struct sockaddr_ll to = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(protocol),
		.sll_ifindex = ifindex,
	};

	return bind(fd, (const struct sockaddr *)&to, sizeof(to)) ? -errno : 0;
}

/* Returns when no CPU runs the socket's code. */
static void bind_to_nothing(int fd)
{
	bind_to(fd, 0, ETH_P_NOTHING);
}

/* Starts to count. The kernel gives a frame to the newest socket first. `still`: the socket's own
 * filter refuses all frames so far. */
static int census_start(struct packet_socket *s, bool still)
{
	static struct filter all; /* not const, which would take 64 KiB of the program's file */
	bool first = !s->counts->counting;
	int err = refuse_all(s->census);

	err = err ?: bind_to(s->census, s->ifindex, ETH_P_ALL);
	if (!err && first && still)
		packet_counts_begin(s->counts, s->fd, s->census, true);
	err = err ?: accept_what(s, s->census, &all);
	if (!err && first && !still)
		packet_counts_begin(s->counts, s->fd, s->census, false);
	return err;
}

void packet_socket_snaplen(struct packet_socket *s, uint32_t snaplen)
{
	if (s->how.accept != COPY_ALL)
		s->how.accept = snaplen;
}

int packet_socket_start(struct packet_socket *s, int ifindex, int linktype, bool headers,
			bool received_only, const struct filter *f)
{
	int err;

	packet_counts_stopped(s->counts, false);
	s->ifindex = ifindex;
	if (received_only)
		s->how.direction = DIRECTION_IN;
	s->how.tags = linktype == LINKTYPE_ETHERNET ? s->tags : FILTER_TAGS_NONE;
	/* If the original length is not known, frames must not be truncated. */
	s->how.headers = headers && linktype == LINKTYPE_ETHERNET && s->how.accept != COPY_ALL;
	if (!f->len && !s->counts->counting) {
		err = accept_what(s, s->fd, f);
		return err ?: bind_to(s->fd, ifindex, ETH_P_ALL);
	}
	err = refuse_all(s->fd);
	err = err ?: bind_to(s->fd, ifindex, ETH_P_ALL);
	err = err ?: census_start(s, true);
	err = err ?: accept_what(s, s->fd, f);
	if (err)
		packet_socket_stop(s);
	return err;
}

int packet_socket_filter(struct packet_socket *s, const struct filter *f)
{
	int err = 0;

	if (f->len && !s->counts->counting)
		err = census_start(s, false);
	return err ?: accept_what(s, s->fd, f);
}

void packet_socket_stop(struct packet_socket *s)
{
	/* A frame between the two calls counts as refused, which is right. */
	refuse_all(s->fd);
	refuse_all(s->census);
	bind_to_nothing(s->fd);
	bind_to_nothing(s->census);
	packet_counts_stopped(s->counts, true);
}

/* ---- open and close -------------------------------------------------------------------------- */

static int open_one(void)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0); /* 0: no frames yet */

	return fd < 0 ? -errno : fd;
}

int packet_socket_open(struct packet_socket *s, enum packet_version best,
		       const struct capture_options *o, struct packet_counts *counts)
{
	int one = 1, least = 0;

	*s = (struct packet_socket){
		.fd = open_one(),
		.census = open_one(),
		.counts = counts,
		.how = { .direction = o->direction, .accept = o->snaplen },
	};
	if (s->fd < 0 || s->census < 0)
		return s->fd < 0 ? s->fd : s->census;
	negotiate(s, best, o);
	s->tags = filter_packet_tags(s->fd);
	setsockopt(s->census, SOL_SOCKET, SO_RCVBUF, &least, sizeof(least));
	/* Since Linux 4.20. Cheaper than a filter. */
	if (o->direction == DIRECTION_IN &&
	    !setsockopt(s->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)) &&
	    !setsockopt(s->census, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)))
		s->how.direction = DIRECTION_INOUT;
	return 0;
}

void packet_socket_close(struct packet_socket *s)
{
	if (s->fd >= 0)
		close(s->fd);
	if (s->census >= 0)
		close(s->census);
	s->fd = s->census = -1;
}
