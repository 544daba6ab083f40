// SPDX-License-Identifier: GPL-2.0
/* Packet socket reader: see packet_ring.h. The kernel's Documentation/networking/packet_mmap.rst
 * has the layouts. */
#include "packet_ring.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

#define VLAN_TAG_LEN 4
#define VLAN_TAG_OFFSET 12 /* after the two MAC addresses */
#define VLAN_TPID_DEFAULT 0x8100
#define ARPHRD_ETHER 1

/* The offset of a frame's address after its header of `type`. */
#define ADDRESS_OFFSET(type) TPACKET_ALIGN(sizeof(struct type))

/* ---- what the kernel says of a frame --------------------------------------------------------- */

/* The common fields of all headers, or of a message's ancillary data. */
struct description {
	uint32_t status, len, snaplen, mac;
	uint16_t tci, tpid;
};

static bool has_tag(const struct description *d)
{
	/* Linux before 3.0 has no flag for it. */
	return d->status & TP_STATUS_VLAN_VALID || d->tci;
}

/* Inserts the tag where it was on the wire. The bytes before it move down, into space that the
 * header or the caller left. */
static void put_tag(struct packet *p, uint8_t *data, const struct description *d)
{
	uint16_t tpid = d->status & TP_STATUS_VLAN_TPID_VALID ? d->tpid : VLAN_TPID_DEFAULT;
	uint8_t *start = data - VLAN_TAG_LEN;

	p->orig_len += VLAN_TAG_LEN;
	if (p->cap_len < VLAN_TAG_OFFSET)
		return;
	memmove(start, data, VLAN_TAG_OFFSET);
	start[VLAN_TAG_OFFSET] = tpid >> 8;
	start[VLAN_TAG_OFFSET + 1] = tpid;
	start[VLAN_TAG_OFFSET + 2] = d->tci >> 8;
	start[VLAN_TAG_OFFSET + 3] = d->tci;
	p->data = start;
	p->cap_len += VLAN_TAG_LEN;
}

static void describe(struct packet *p, uint8_t *data, const struct description *d,
		     const struct sockaddr_ll *from)
{
	p->arphrd = from->sll_hatype;
	p->outgoing = from->sll_pkttype == PACKET_OUTGOING;
	p->data = data;
	p->cap_len = d->snaplen;
	p->orig_len = d->len;
	if (p->arphrd == ARPHRD_ETHER && has_tag(d))
		put_tag(p, data, d);
}

/* Describes the frame with the header at `start`, `room` bytes up to the end of its slot or block,
 * and its address at `address`. Returns 0, or -EBADMSG if the header is malformed. */
static int describe_at(struct packet *p, uint8_t *start, uint32_t room, uint32_t address,
		       const struct description *d)
{
	struct sockaddr_ll from;

	if (d->mac < address + PACKET_HEADROOM || d->mac > room || d->snaplen > room - d->mac ||
	    d->snaplen > d->len)
		return -EBADMSG;
	memcpy(&from, start + address, sizeof(from));
	describe(p, start + d->mac, d, &from);
	return 0;
}

static uint64_t time_of(uint32_t seconds, uint32_t ns)
{
	return seconds * 1000000000ULL + ns;
}

/* ---- V3: blocks ------------------------------------------------------------------------------ */

static struct tpacket_block_desc *block_at(const struct packet_ring *r)
{
	return (void *)(r->memory + (size_t)r->at * r->layout.block_size);
}

static void block_give_back(struct packet_ring *r)
{
	__atomic_store_n(&block_at(r)->hdr.bh1.block_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
	r->at = r->at + 1 == r->layout.blocks ? 0 : r->at + 1;
	r->held = false;
}

/* Returns whether the kernel passed on the block. It may have no frame. */
static bool block_take(struct packet_ring *r)
{
	struct tpacket_block_desc *b = block_at(r);

	if (!(__atomic_load_n(&b->hdr.bh1.block_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
		return false;
	r->held = true;
	r->left = b->hdr.bh1.num_pkts;
	r->offset = b->hdr.bh1.offset_to_first_pkt;
	return true;
}

/* Returns the held block's next frame. After a malformed header the next one cannot be found: the
 * rest of the block is lost and counted. */
static int block_frame(struct packet_ring *r, struct packet *p)
{
	uint32_t size = r->layout.block_size, address = ADDRESS_OFFSET(tpacket3_hdr);
	uint8_t *start = (uint8_t *)block_at(r) + r->offset;
	const struct tpacket3_hdr *h = (const void *)start;
	struct description d;

	if (r->offset > size || r->offset % sizeof(uint64_t) ||
	    size - r->offset < address + sizeof(struct sockaddr_ll))
		goto lies;
	d = (struct description){ h->tp_status, h->tp_len,	    h->tp_snaplen,
				  h->tp_mac,	h->hv1.tp_vlan_tci, h->hv1.tp_vlan_tpid };
	p->time_ns = time_of(h->tp_sec, h->tp_nsec);
	if (h->tp_next_offset > size - r->offset)
		goto lies;
	r->offset += h->tp_next_offset;
	if (describe_at(p, start, (uint8_t *)block_at(r) + size - start, address, &d))
		goto lies;
	r->left--;
	return 1;
lies:
	r->nonsense += r->left;
	r->left = 0;
	return 0;
}

static int block_next(struct packet_ring *r, struct packet *p)
{
	for (;;) {
		if (r->held && r->left && block_frame(r, p))
			return 1;
		if (r->held)
			block_give_back(r);
		if (!block_take(r))
			return 0;
	}
}

bool packet_ring_filling(const struct packet_ring *r, uint64_t *since_ns)
{
	const struct tpacket_hdr_v1 *h;

	if (r->layout.version != PACKET_V3)
		return false;
	h = &block_at(r)->hdr.bh1;
	if (!__atomic_load_n(&h->num_pkts, __ATOMIC_RELAXED))
		return false;
	/* The time when the kernel opened the block, until it closes it. */
	*since_ns = time_of(h->ts_first_pkt.ts_sec, h->ts_first_pkt.ts_nsec);
	return true;
}

bool packet_ring_is_half_full(const struct packet_ring *r)
{
	struct packet_ring ahead = *r;

	if (r->layout.version != PACKET_V3)
		return false;
	ahead.at = (r->at + r->layout.blocks / 2) % r->layout.blocks;
	return __atomic_load_n(&block_at(&ahead)->hdr.bh1.block_status, __ATOMIC_ACQUIRE) &
	       TP_STATUS_USER;
}

/* ---- V1, V2: slots --------------------------------------------------------------------------- */

static uint8_t *slot_at(const struct packet_ring *r)
{
	uint32_t a_block = r->layout.block_size / r->layout.frame_size;

	return r->memory + (size_t)(r->at / a_block) * r->layout.block_size +
	       (size_t)(r->at % a_block) * r->layout.frame_size;
}

static void slot_give_back(struct packet_ring *r)
{
	uint8_t *start = slot_at(r);

	if (r->layout.version == PACKET_V1)
		__atomic_store_n(&((struct tpacket_hdr *)start)->tp_status, TP_STATUS_KERNEL,
				 __ATOMIC_RELEASE);
	else
		__atomic_store_n(&((struct tpacket2_hdr *)start)->tp_status, TP_STATUS_KERNEL,
				 __ATOMIC_RELEASE);
	r->at = r->at + 1 == r->slots ? 0 : r->at + 1;
	r->held = false;
}

static uint32_t slot_status(const struct packet_ring *r)
{
	uint8_t *start = slot_at(r);

	if (r->layout.version == PACKET_V1)
		return __atomic_load_n(&((struct tpacket_hdr *)start)->tp_status, __ATOMIC_ACQUIRE);
	return __atomic_load_n(&((struct tpacket2_hdr *)start)->tp_status, __ATOMIC_ACQUIRE);
}

static int slot_frame_v1(struct packet *p, uint8_t *start, uint32_t size)
{
	const struct tpacket_hdr *h = (const void *)start;
	/* V1 has no field for a VLAN tag: a removed one is lost. */
	const struct description d = { 0, h->tp_len, h->tp_snaplen, h->tp_mac, 0, 0 };

	p->time_ns = time_of(h->tp_sec, h->tp_usec * 1000);
	return describe_at(p, start, size, ADDRESS_OFFSET(tpacket_hdr), &d);
}

static int slot_frame_v2(struct packet *p, uint8_t *start, uint32_t size)
{
	const struct tpacket2_hdr *h = (const void *)start;
	const struct description d = { h->tp_status, h->tp_len,	     h->tp_snaplen,
				       h->tp_mac,    h->tp_vlan_tci, h->tp_vlan_tpid };

	p->time_ns = time_of(h->tp_sec, h->tp_nsec);
	return describe_at(p, start, size, ADDRESS_OFFSET(tpacket2_hdr), &d);
}

static int slot_next(struct packet_ring *r, struct packet *p)
{
	for (;;) {
		uint8_t *start;
		int err;

		if (r->held)
			slot_give_back(r);
		if (!(slot_status(r) & TP_STATUS_USER))
			return 0;
		r->held = true;
		start = slot_at(r);
		err = r->layout.version == PACKET_V1
			      ? slot_frame_v1(p, start, r->layout.frame_size)
			      : slot_frame_v2(p, start, r->layout.frame_size);
		if (!err)
			return 1;
		r->nonsense++;
	}
}

/* ---- rings ----------------------------------------------------------------------------------- */

int packet_ring_next(struct packet_ring *r, struct packet *p)
{
	return r->layout.version == PACKET_V3 ? block_next(r, p) : slot_next(r, p);
}

static size_t packet_layout_size(const struct packet_layout *l)
{
	return (size_t)l->block_size * l->blocks;
}

uint32_t packet_layout_overhead(enum packet_version version)
{
	/* The kernel puts the network header at a multiple of 16, after at least 16 bytes for the
	 * link header. */
	switch (version) {
	case PACKET_V3:
		return TPACKET_ALIGN(sizeof(struct tpacket_block_desc)) +
		       TPACKET_ALIGN(TPACKET3_HDRLEN + 16);
	case PACKET_V2:
		return TPACKET_ALIGN(TPACKET2_HDRLEN + 16);
	default:
		return TPACKET_ALIGN(TPACKET_HDRLEN + 16);
	}
}

void packet_ring_init(struct packet_ring *r, const struct packet_layout *l, uint8_t *memory)
{
	memset(r, 0, sizeof(*r));
	r->layout = *l;
	r->memory = memory;
	if (l->version == PACKET_V1 || l->version == PACKET_V2)
		r->slots = l->block_size / l->frame_size * l->blocks;
}

int packet_ring_map(struct packet_ring *r, const struct packet_layout *l, int fd)
{
	void *p = mmap(NULL, packet_layout_size(l), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	packet_ring_init(r, l, p);
	return 0;
}

void packet_ring_unmap(struct packet_ring *r)
{
	if (r->memory)
		munmap(r->memory, packet_layout_size(&r->layout));
	r->memory = NULL;
}

/* ---- without a ring -------------------------------------------------------------------------- */

/* Reads a message's ancillary data. Fields that an old kernel lacks stay unchanged. */
static void read_control(struct msghdr *m, struct packet *p, struct description *d)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level == SOL_PACKET && c->cmsg_type == PACKET_AUXDATA) {
			struct tpacket_auxdata a;

			memcpy(&a, CMSG_DATA(c), sizeof(a));
			d->status = a.tp_status;
			if (a.tp_len > d->len) /* the socket's filter truncated it */
				d->len = a.tp_len;
			d->tci = a.tp_vlan_tci;
			d->tpid = a.tp_vlan_tpid;
		} else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
			struct timespec t;

			memcpy(&t, CMSG_DATA(c), sizeof(t));
			p->time_ns = t.tv_sec * 1000000000ULL + t.tv_nsec;
		}
	}
}

int packet_recv(int fd, uint8_t *room, size_t size, struct packet *p)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct tpacket_auxdata)) +
					      CMSG_SPACE(sizeof(struct timespec)) + 64];
	struct iovec iov = { room + PACKET_HEADROOM, size };
	struct sockaddr_ll from = { 0 };
	struct msghdr m = {
		.msg_name = &from,
		.msg_namelen = sizeof(from),
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct description d = { 0 };
	ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	d.len = n; /* the whole frame's length, even if truncated */
	d.snaplen = (size_t)n < size ? (size_t)n : size;
	p->time_ns = 0;
	read_control(&m, p, &d);
	describe(p, iov.iov_base, &d, &from);
	return 1;
}
