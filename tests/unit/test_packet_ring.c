// SPDX-License-Identifier: GPL-2.0
/* links: agent/rings/packet_ring.o */
#include "unit.h"

#include <linux/if_packet.h>
#include <sys/socket.h>

#include "agent/rings/packet_ring.h"

/* Rings in the format that net/packet/af_packet.c writes. */
#define BLOCK 4096
#define BLOCKS 4
#define SLOT 1008 /* four slots per block, and an unused rest */

#define ETHER 1
#define RADIOTAP 803

struct given {
	uint32_t len, snaplen, status;
	uint16_t arphrd, tci, tpid;
	uint8_t pkttype;
};

struct bed {
	struct packet_ring r;
	_Alignas(16) uint8_t memory[BLOCKS * BLOCK];
	uint32_t head, offset; /* the writer's block or slot, and the bytes used in a block */
};

static void setup(struct bed *b, enum packet_version version)
{
	const struct packet_layout l = { version, BLOCK, BLOCKS, SLOT, 0 };

	memset(b, 0, sizeof(*b));
	packet_ring_init(&b->r, &l, b->memory);
}

static void put_rest(uint8_t *start, uint32_t address, uint32_t mac, const struct given *g)
{
	const struct sockaddr_ll from = {
		.sll_family = AF_PACKET,
		.sll_hatype = g->arphrd,
		.sll_pkttype = g->pkttype,
	};

	memcpy(start + address, &from, sizeof(from));
	for (uint32_t i = 0; i < g->snaplen; i++)
		start[mac + i] = i;
}

/* Adds a frame to the open V3 block. Returns its header. */
static struct tpacket3_hdr *put_v3(struct bed *b, const struct given *g)
{
	uint8_t *block = b->memory + b->head * BLOCK;
	struct tpacket_block_desc *d = (void *)block;
	struct tpacket3_hdr *h, *last;
	uint32_t mac = 82;

	if (!d->hdr.bh1.num_pkts) {
		b->offset = d->hdr.bh1.offset_to_first_pkt = sizeof(*d);
	} else {
		last = (void *)(block + b->offset);
		last->tp_next_offset = TPACKET_ALIGN(mac + last->tp_snaplen);
		b->offset += last->tp_next_offset;
	}
	h = (void *)(block + b->offset);
	*h = (struct tpacket3_hdr){
		.tp_sec = 1700000000,
		.tp_nsec = 999999999,
		.tp_len = g->len,
		.tp_snaplen = g->snaplen,
		.tp_mac = mac,
		.tp_status = g->status,
		.hv1.tp_vlan_tci = g->tci,
		.hv1.tp_vlan_tpid = g->tpid,
	};
	put_rest((uint8_t *)h, TPACKET_ALIGN(sizeof(*h)), mac, g);
	d->hdr.bh1.num_pkts++;
	return h;
}

static void close_block(struct bed *b)
{
	struct tpacket_block_desc *d = (void *)(b->memory + b->head * BLOCK);

	assert_int_equal(d->hdr.bh1.block_status, TP_STATUS_KERNEL);
	d->hdr.bh1.block_status = TP_STATUS_USER | TP_STATUS_BLK_TMO;
	b->head = (b->head + 1) % BLOCKS;
}

/* The kernel reopens a block that was given back. */
static void open_block(struct bed *b)
{
	struct tpacket_block_desc *d = (void *)(b->memory + b->head * BLOCK);

	assert_int_equal(d->hdr.bh1.block_status, TP_STATUS_KERNEL);
	memset(d, 0, sizeof(*d));
}

static uint8_t *put_slot(struct bed *b, const struct given *g)
{
	uint8_t *start = b->memory + b->head / 4 * BLOCK + b->head % 4 * SLOT;
	struct tpacket2_hdr *h2 = (void *)start;
	struct tpacket_hdr *h1 = (void *)start;

	if (b->r.layout.version == PACKET_V1) {
		assert_int_equal(h1->tp_status, TP_STATUS_KERNEL);
		*h1 = (struct tpacket_hdr){
			TP_STATUS_USER | g->status, g->len, g->snaplen, 66, 80, 1700000000, 999999
		};
		put_rest(start, TPACKET_ALIGN(sizeof(*h1)), 66, g);
	} else {
		assert_int_equal(h2->tp_status, TP_STATUS_KERNEL);
		*h2 = (struct tpacket2_hdr){ TP_STATUS_USER | g->status,
					     g->len,
					     g->snaplen,
					     66,
					     80,
					     1700000000,
					     999999999,
					     g->tci,
					     g->tpid,
					     { 0 } };
		put_rest(start, TPACKET_ALIGN(sizeof(*h2)), 66, g);
	}
	b->head = (b->head + 1) % 16;
	return start;
}

static void put_one(struct bed *b, const struct given *g)
{
	if (b->r.layout.version != PACKET_V3) {
		put_slot(b, g);
		return;
	}
	open_block(b);
	put_v3(b, g);
	close_block(b);
}

/* Bytes count up from 0, except four at `tag_at`; -1: none. */
static void check_bytes(const struct packet *p, int tag_at)
{
	for (uint32_t i = 0; i < p->cap_len; i++)
		if (tag_at < 0 || (int)i < tag_at || (int)i >= tag_at + 4)
			assert_int_equal(p->data[i],
					 (tag_at >= 0 && (int)i >= tag_at ? i - 4 : i) & 255);
}

static void each_version(void (*test)(struct bed *b))
{
	static struct bed b;

	for (enum packet_version v = PACKET_V1; v <= PACKET_V3; v++) {
		setup(&b, v);
		test(&b);
		assert_int_equal(b.r.nonsense, 0);
	}
}

static void one_frame(struct bed *b)
{
	struct packet p;

	assert_int_equal(packet_ring_next(&b->r, &p), 0);
	put_one(b, &(struct given){ 1500, 192, 0, RADIOTAP, 7, 0x88a8, PACKET_OUTGOING });
	assert_int_equal(packet_ring_next(&b->r, &p), 1);
	assert_int_equal(p.cap_len, 192);
	assert_int_equal(p.orig_len, 1500); /* only Ethernet has tags */
	assert_int_equal(p.arphrd, RADIOTAP);
	assert_true(p.outgoing);
	assert_int_equal(p.time_ns, b->r.layout.version == PACKET_V1 ? 1700000000999999000
								     : 1700000000999999999);
	check_bytes(&p, -1);
	assert_int_equal(packet_ring_next(&b->r, &p), 0);
}

static void a_frame_is_given_as_it_was_heard(void **state)
{
	(void)state;
	each_version(one_frame);
}

/* A frame's space returns to the kernel with the next request, not earlier. */
static void many_frames(struct bed *b)
{
	struct packet p;

	for (int round = 0; round < 50; round++) {
		int n = 1 + round % 3;

		for (int i = 0; i < n; i++)
			put_one(b, &(struct given){ 100 + i, 100, 0, ETHER, 0, 0, PACKET_HOST });
		for (int i = 0; i < n; i++) {
			assert_int_equal(packet_ring_next(&b->r, &p), 1);
			assert_int_equal(p.orig_len, 100 + i);
			assert_false(p.outgoing);
			check_bytes(&p, -1);
		}
		assert_true(b->r.held);
		assert_int_equal(packet_ring_next(&b->r, &p), 0);
		assert_false(b->r.held);
	}
}

static void rings_go_round(void **state)
{
	(void)state;
	each_version(many_frames);
}

static void check_tag(struct bed *b, const struct given *g, uint32_t tag)
{
	struct packet p;

	put_one(b, g);
	assert_int_equal(packet_ring_next(&b->r, &p), 1);
	assert_int_equal(p.orig_len, g->len + 4);
	if (g->snaplen < 12) {
		assert_int_equal(p.cap_len, g->snaplen);
		check_bytes(&p, -1);
		return;
	}
	assert_int_equal(p.cap_len, g->snaplen + 4);
	check_bytes(&p, 12);
	assert_int_equal(
		(uint32_t)p.data[12] << 24 | p.data[13] << 16 | p.data[14] << 8 | p.data[15], tag);
}

static void a_tag_is_put_back(void **state)
{
	const uint32_t valid = TP_STATUS_VLAN_VALID, known = valid | TP_STATUS_VLAN_TPID_VALID;
	static struct bed b;

	(void)state;
	for (enum packet_version v = PACKET_V2; v <= PACKET_V3; v++) {
		setup(&b, v);
		check_tag(&b, &(struct given){ 100, 96, known, ETHER, 0xe005, 0x88a8, 0 },
			  0x88a8e005);
		check_tag(&b, &(struct given){ 100, 96, known, ETHER, 0, 0x8100, 0 }, 0x81000000);
		/* Older kernels report neither the protocol nor whether there is a tag. */
		check_tag(&b, &(struct given){ 100, 96, valid, ETHER, 0x1005, 0x1234, 0 },
			  0x81001005);
		check_tag(&b, &(struct given){ 100, 96, 0, ETHER, 5, 0, 0 }, 0x81000005);
		check_tag(&b, &(struct given){ 100, 12, known, ETHER, 5, 0x8100, 0 }, 0x81000005);
		check_tag(&b, &(struct given){ 100, 11, known, ETHER, 5, 0x8100, 0 }, 0);
		check_tag(&b, &(struct given){ 100, 0, known, ETHER, 5, 0x8100, 0 }, 0);
	}
}

static void a_block_has_many_frames_or_none(void **state)
{
	static struct bed b;
	struct packet p;

	(void)state;
	setup(&b, PACKET_V3);
	close_block(&b); /* timed out without a frame */
	open_block(&b);
	for (int i = 0; i < 20; i++)
		put_v3(&b, &(struct given){ 200 + i, 50 + i, 0, ETHER, 0, 0, 0 });
	assert_int_equal(packet_ring_next(&b.r, &p), 0); /* still the kernel's */
	close_block(&b);
	close_block(&b);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(packet_ring_next(&b.r, &p), 1);
		assert_int_equal(p.orig_len, 200 + i);
		assert_int_equal(p.cap_len, 50 + i);
		check_bytes(&p, -1);
	}
	assert_int_equal(packet_ring_next(&b.r, &p), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(*(uint32_t *)(b.memory + i * BLOCK + 8), TP_STATUS_KERNEL);
	assert_int_equal(b.r.nonsense, 0);
}

/* Whatever a block contains, no access leaves it, and unreadable data is counted. */
static void a_block_that_lies(void **state)
{
	static const struct {
		uint32_t next, len, snaplen;
		uint16_t mac;
	} lies[] = {
		{ 0xffffffff, 100, 100, 82 },
		{ BLOCK, 100, 100, 82 },
		{ 0, 100, 4000, 82 },
		{ 0, 99, 100, 82 },
		{ 0, 5000, 5000, 82 },
		{ 0, 100, 100, 4000 },
		{ 0, 100, 100, 0xffff },
		{ 0, 100, 100, 0 },
		{ 0, 0xffffffff, 0xffffffff, 82 },
	};
	static struct bed b;
	struct packet p;

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct tpacket3_hdr *h;

		setup(&b, PACKET_V3);
		put_v3(&b, &(struct given){ 100, 100, 0, ETHER, 0, 0, 0 });
		h = put_v3(&b, &(struct given){ 100, 100, 0, ETHER, 0, 0, 0 });
		put_v3(&b, &(struct given){ 100, 100, 0, ETHER, 0, 0, 0 });
		close_block(&b);
		put_one(&b, &(struct given){ 77, 77, 0, ETHER, 0, 0, 0 });
		if (lies[i].next)
			h->tp_next_offset = lies[i].next;
		h->tp_len = lies[i].len;
		h->tp_snaplen = lies[i].snaplen;
		h->tp_mac = lies[i].mac;
		assert_int_equal(packet_ring_next(&b.r, &p), 1);
		assert_int_equal(packet_ring_next(&b.r, &p), 1);
		assert_int_equal(p.orig_len, 77);
		assert_int_equal(b.r.nonsense, 2);
		assert_int_equal(packet_ring_next(&b.r, &p), 0);
	}
}

static void a_block_whose_first_frame_is_elsewhere(void **state)
{
	static const uint32_t places[] = { BLOCK, BLOCK - 40, 0xffffffff, 3, 0xfffffff8 };
	static struct bed b;
	struct packet p;

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct tpacket_block_desc *d = (void *)b.memory;

		setup(&b, PACKET_V3);
		put_v3(&b, &(struct given){ 100, 100, 0, ETHER, 0, 0, 0 });
		d->hdr.bh1.offset_to_first_pkt = places[i];
		d->hdr.bh1.num_pkts = 1000;
		close_block(&b);
		assert_int_equal(packet_ring_next(&b.r, &p), 0);
		assert_int_equal(b.r.nonsense, 1000);
	}
}

static void a_slot_that_lies(void **state)
{
	static const struct {
		uint32_t len, snaplen;
		uint16_t mac;
	} lies[] = {
		{ 100, 1000, 66 }, { 99, 100, 66 },	 { 100, 100, 1000 },
		{ 100, 100, 35 },  { 100, 100, 0xffff },
	};
	static struct bed b;
	struct packet p;

	(void)state;
	for (enum packet_version v = PACKET_V1; v <= PACKET_V2; v++) {
		for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
			struct tpacket2_hdr *h2;
			struct tpacket_hdr *h1;

			setup(&b, v);
			h2 = (void *)put_slot(&b, &(struct given){ 100, 100, 0, ETHER, 0, 0, 0 });
			h1 = (void *)h2;
			put_slot(&b, &(struct given){ 77, 77, 0, ETHER, 0, 0, 0 });
			if (v == PACKET_V1)
				h1->tp_len = lies[i].len, h1->tp_snaplen = lies[i].snaplen,
				h1->tp_mac = lies[i].mac;
			else
				h2->tp_len = lies[i].len, h2->tp_snaplen = lies[i].snaplen,
				h2->tp_mac = lies[i].mac;
			assert_int_equal(packet_ring_next(&b.r, &p), 1);
			assert_int_equal(p.orig_len, 77);
			assert_int_equal(b.r.nonsense, 1);
			assert_int_equal(packet_ring_next(&b.r, &p), 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_is_given_as_it_was_heard),
		cmocka_unit_test(rings_go_round),
		cmocka_unit_test(a_tag_is_put_back),
		cmocka_unit_test(a_block_has_many_frames_or_none),
		cmocka_unit_test(a_block_that_lies),
		cmocka_unit_test(a_block_whose_first_frame_is_elsewhere),
		cmocka_unit_test(a_slot_that_lies),
	};

	return cmocka_run_group_tests_name("packet_ring", tests, NULL, NULL);
}
