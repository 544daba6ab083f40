// SPDX-License-Identifier: GPL-2.0
/* links: wire/combo.o wire/columns.o wire/dot11_templates.o wire/wired_templates.o
 * wire/wired_append.o wire/tails.o wire/wired_next.o wire/fields.o wire/combo_open.o */
/*
 * Wired templates from end to end: frames of made-up flows go into combos and come back. Tests that
 * count bytes show that an expectation holds, as wrong expectations only cost bytes.
 */
#include "unit.h"

#include "wire/bytes.h"
#include "wire/combo.h"

#define KEPT_MAX 300
#define FRAMES_MAX 4000

static struct combo c;
static struct combo_reader reader;
static uint8_t bytes[FRAMES_MAX][KEPT_MAX];
static struct combo_frame frames[FRAMES_MAX];
static uint32_t count;
static uint32_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 1664525 + 1013904223;
	return (uint32_t)(((uint64_t)random_state * n) >> 32);
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* One direction of a flow, as a test changes it between frames. */
struct flow {
	bool v6, offload;
	uint8_t link;		   /* what is between the addresses and the IP header: LINK_ */
	uint8_t protocol, options; /* bytes of TCP options */
	uint8_t from, to;
	uint16_t from_port, to_port;
	uint32_t seq, ack, value, reply;
	uint16_t id, window, payload;
	uint8_t flags, ttl;
	uint32_t keep; /* bytes of payload that are captured */
};

enum {
	LINK_PLAIN,
	LINK_VLAN,
	LINK_VLANS,
	LINK_THREE_VLANS,
	LINK_MPLS,
	LINK_THREE_LABELS,
	LINK_VLAN_MPLS,
	LINK_PPPOE,
	LINK_VLAN_PPPOE,
	LINKS,
	LINK_VLANS_PPPOE = LINKS, /* from here on, the IP header is too far away */
	LINK_FOUR_LABELS,
	LINK_MPLS_OTHER, /* MPLS that has neither IPv4 nor IPv6 */
	ALL_LINKS
};

/* The bytes from the EtherType on, up to the one that tells the IP version. */
static const struct {
	uint8_t len, bytes[18];
} links[ALL_LINKS] = {
	[LINK_VLAN] = { 4, { 0x81, 0, 0, 7 } },
	[LINK_VLANS] = { 8, { 0x88, 0xa8, 0, 7, 0x81, 0, 0, 8 } },
	[LINK_THREE_VLANS] = { 12, { 0x88, 0xa8, 0, 7, 0x81, 0, 0, 8, 0x81, 0, 0, 9 } },
	[LINK_MPLS] = { 6, { 0x88, 0x47, 0, 1, 1, 64 } },
	[LINK_THREE_LABELS] = { 14, { 0x88, 0x48, 0, 1, 0, 64, 0, 2, 0, 64, 0, 3, 1, 64 } },
	[LINK_VLAN_MPLS] = { 14, { 0x81, 0, 0, 7, 0x88, 0x47, 0, 1, 0, 64, 0, 1, 1, 64 } },
	[LINK_PPPOE] = { 8, { 0x88, 0x64, 0x11, 0, 0, 9, 0, 99 } },
	[LINK_VLAN_PPPOE] = { 12, { 0x81, 0, 0, 7, 0x88, 0x64, 0x11, 0, 0, 9, 0, 99 } },
	[LINK_VLANS_PPPOE] = { 16,
			       { 0x88, 0xa8, 0, 7, 0x81, 0, 0, 8, 0x88, 0x64, 0x11, 0, 0, 9, 0,
				 99 } },
	[LINK_FOUR_LABELS] = { 18,
			       { 0x88, 0x47, 0, 1, 0, 64, 0, 2, 0, 64, 0, 3, 0, 64, 0, 4, 1, 64 } },
	[LINK_MPLS_OTHER] = { 10, { 0x88, 0x47, 0, 1, 1, 64, 0x10, 0, 0, 0 } },
};

static uint8_t *put_ethernet(uint8_t *p, const struct flow *f)
{
	bool pppoe = f->link == LINK_PPPOE || f->link == LINK_VLAN_PPPOE ||
		     f->link == LINK_VLANS_PPPOE;

	memset(p, 2, 12);
	p[5] = f->to;
	p[11] = f->from;
	p += 12;
	memcpy(p, links[f->link].bytes, links[f->link].len);
	p += links[f->link].len;
	if (links[f->link].len % 4 == 2)
		return p; /* MPLS has no EtherType of the packet */
	if (pppoe)
		store_be(p, f->v6 ? 0x0057 : 0x0021, 2);
	else
		store_be(p, f->v6 ? 0x86dd : 0x0800, 2);
	return p + 2;
}

static uint16_t checksum(const uint8_t *p, int len)
{
	uint32_t sum = 0;

	for (int i = 0; i < len; i += 2)
		sum += p[i] << 8 | p[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	return ~(sum + (sum >> 16));
}

static uint8_t *put_ip(uint8_t *p, const struct flow *f, uint32_t len)
{
	if (f->v6) {
		memset(p, 0, 40);
		p[0] = 0x60;
		store_be(p + 4, len, 2);
		p[6] = f->protocol == 1 ? 58 : f->protocol;
		p[7] = f->ttl;
		p[23] = f->from;
		p[39] = f->to;
		return p + 40;
	}
	memset(p, 0, 20);
	p[0] = 0x45;
	store_be(p + 2, 20 + len, 2);
	store_be(p + 4, f->id, 2);
	p[8] = f->ttl;
	p[9] = f->protocol;
	store_be(p + 12, 0x0a000000 + f->from, 4);
	store_be(p + 16, 0x0a000000 + f->to, 4);
	if (!f->offload)
		store_be(p + 10, checksum(p, 20), 2);
	return p + 20;
}

static uint8_t *put_l4(uint8_t *p, const struct flow *f)
{
	memset(p, 0, 60);
	store_be(p, f->from_port, 2);
	store_be(p + 2, f->to_port, 2);
	if (f->protocol == 17) {
		store_be(p + 4, 8 + f->payload, 2);
		store_be(p + 6, f->value, 2);
		return p + 8;
	}
	if (f->protocol == 1) {
		store_be(p, 0x0800, 2);
		store_be(p + 2, f->value, 2);
		store_be(p + 6, f->seq, 2);
		return p + 8;
	}
	if (f->protocol != 6)
		return p;
	store_be(p + 4, f->seq, 4);
	store_be(p + 8, f->ack, 4);
	p[12] = (20 + f->options) / 4 << 4;
	p[13] = f->flags;
	store_be(p + 14, f->window, 2);
	store_be(p + 16, random_below(65536), 2);
	if (f->options == 12) {
		store_be(p + 20, 0x0101080a, 4);
		store_be(p + 24, f->value, 4);
		store_be(p + 28, f->reply, 4);
	}
	return p + 20 + f->options;
}

/* Adds a frame. Returns its captured bytes. */
static uint8_t *add(const struct flow *f)
{
	static const uint8_t lens[256] = { [1] = 8, [6] = 20, [17] = 8 };
	uint8_t *start = bytes[count], *p;
	uint32_t l4 = lens[f->protocol] + (f->protocol == 6 ? f->options : 0);
	struct combo_frame *out = &frames[count++];

	p = put_l4(put_ip(put_ethernet(start, f), f, l4 + f->payload), f);
	for (uint32_t i = 0; i < f->keep; i++)
		*p++ = random_below(256);
	*out = (struct combo_frame){ .time_ns = 1700000000000000000ULL + count * 1000,
				     .kept_len = p - start,
				     .orig_len = (p - start) + f->payload - f->keep,
				     .linktype = 1,
				     .data = start };
	return start;
}

static const struct flow tcp = { .protocol = 6,
				 .options = 12,
				 .from = 1,
				 .to = 2,
				 .from_port = 40000,
				 .to_port = 443,
				 .seq = 0xfffffff0,
				 .ack = 77,
				 .window = 500,
				 .flags = 0x10,
				 .ttl = 64 };

static struct flow reverse(struct flow f)
{
	struct flow r = f;

	r.from = f.to;
	r.to = f.from;
	r.from_port = f.to_port;
	r.to_port = f.from_port;
	r.seq = f.ack;
	r.ack = f.seq;
	r.value = f.reply;
	r.reply = f.value;
	return r;
}

/* ---- there and back -------------------------------------------------------------------------- */

static size_t column_len(int i)
{
	return c.columns[i].end - c.columns[i].start;
}

/* Puts all frames into one combo, and takes them from a copy of exactly its size. */
static void there_and_back(void)
{
	struct combo_frame f;
	uint8_t *body;

	combo_reset(&c);
	for (uint32_t i = 0; i < count; i++) {
		size_t before = c.columns_len + c.data_len;

		assert_true(combo_fits(&c, frames[i].kept_len));
		combo_append(&c, &frames[i]);
		assert_true(c.columns_len + c.data_len <= before + frames[i].kept_len + 87);
	}
	combo_close(&c);
	body = malloc(c.body_len);
	memcpy(body, c.body, c.body_len);
	assert_int_equal(combo_open(&reader, body, c.body_len, count), 0);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(combo_next(&reader, &f), 1);
		if (f.kept_len != frames[i].kept_len || f.orig_len != frames[i].orig_len ||
		    f.time_ns != frames[i].time_ns ||
		    memcmp(f.data, frames[i].data, f.kept_len) != 0)
			fail_msg("frame %u of %u differs", i, count);
	}
	free(body);
}

/* The bytes of all columns of wired frames, less the flow's number, the mask and checksums. */
static size_t told(void)
{
	size_t n = column_len(COMBO_RARES) + column_len(COMBO_HEADS) + column_len(COMBO_KEPTS);

	for (int i = COMBO_TOTALS; i <= COMBO_DIFFERENCES; i++)
		n += column_len(i);
	return n;
}

static int start(void **state)
{
	(void)state;
	count = 0;
	return 0;
}

/* Both directions of a transfer, each frame as TCP expects it. Only acknowledgements, and the time
 * stamps that moved, are told. */
static void transfer(bool v6, uint8_t link)
{
	struct flow f = tcp;
	struct flow r = reverse(f);
	size_t first = 0;

	count = 0;
	f.v6 = r.v6 = v6;
	f.link = r.link = link;
	f.payload = 1448;
	for (int i = 0; i < 100; i++) {
		add(&f);
		f.id++;
		f.seq += 1448;
		r.ack = f.seq;
		add(&r);
		r.id++;
		if (i == 0) {
			there_and_back();
			first = told();
		}
	}
	there_and_back();
	assert_int_equal(column_len(COMBO_RANDOMS), 2 * (200 - 2));
	assert_int_equal(column_len(COMBO_ACKS), 2 * 99);
	assert_int_equal(told() - first, 2 * 99);
	assert_int_equal(reader.templates.wired.list[1].peer, 2);
	assert_int_equal(reader.templates.wired.list[2].peer, 1);
}

static void a_transfer_is_expected(void **state)
{
	(void)state;
	for (int link = LINK_PLAIN; link < LINKS; link++) {
		uint32_t l3 = 14 + links[link].len / 4 * 4;

		transfer(false, link);
		if (l3 + 40 + 32 <= WIRED_HEAD_MAX)
			transfer(true, link);
	}
}

/* These are not understood: their bytes are differences, and come back. */
static void ip_that_is_too_far_away(void **state)
{
	(void)state;
	for (int link = LINKS; link < ALL_LINKS; link++) {
		struct flow f = tcp;

		count = 0;
		f.link = link;
		for (int i = 0; i < 20; i++) {
			add(&f);
			f.seq += 1448;
		}
		there_and_back();
		assert_int_equal(column_len(COMBO_RANDOMS), 0);
		assert_true(column_len(COMBO_DIFFERENCES) > 0);
	}
}

/* Each field that is not as expected costs its own bytes, and the next frame none. */
static void a_change_costs_its_field(void **state)
{
	static const struct {
		const char *what;
		int column;
		size_t bytes, rare;
		struct flow change;
	} list[] = {
		{ "length", COMBO_TOTALS, 2, 0, { .payload = 5 } },
		{ "id", COMBO_IDS, 2, 0, { .id = 300 } },
		{ "sequence", COMBO_SEQS, 4, 0, { .seq = 1 } },
		{ "ack", COMBO_ACKS, 2, 0, { .ack = 30000 } },
		{ "ack, wide", COMBO_ACKS, 4, 1, { .ack = 40000 } },
		{ "flags", COMBO_TCP_FLAGS, 1, 0, { .flags = 8 } },
		{ "window", COMBO_WINDOWS, 2, 0, { .window = 1 } },
		{ "stamps", COMBO_TCP_STAMPS, 4, 0, { .value = 30000 } },
		{ "stamps, wide", COMBO_TCP_STAMPS, 8, 1, { .value = 40000 } },
		{ "stamps, wide", COMBO_TCP_STAMPS, 8, 1, { .reply = 40000 } },
		{ "other bytes", COMBO_DIFFERENCES, 4, 1, { .ttl = 1 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		const struct flow *d = &list[i].change;
		struct flow f = tcp;
		size_t before;

		count = 0;
		f.payload = 1000;
		for (int n = 0; n < 3; n++) {
			add(&f);
			f.id++;
			f.seq += f.payload;
		}
		there_and_back();
		before = told();
		f.payload += d->payload;
		f.id += d->id;
		f.seq += d->seq;
		f.ack += d->ack;
		f.flags += d->flags;
		f.window += d->window;
		f.value += d->value;
		f.reply += d->reply;
		f.ttl += d->ttl;
		add(&f);
		there_and_back();
		if (told() - before != list[i].bytes + list[i].rare ||
		    column_len(list[i].column) != list[i].bytes)
			fail_msg("%s: %zu bytes, %zu in its column", list[i].what, told() - before,
				 column_len(list[i].column));
		before = told();
		f.seq += f.payload;
		f.id++;
		add(&f);
		there_and_back();
		assert_int_equal(told(), before);
	}
}

static void steps_of_ids(void **state)
{
	static const uint16_t steps[] = { 1, 0, 256, 1 };

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct flow f = tcp;

		count = 0;
		for (int n = 0; n < 50; n++) {
			add(&f);
			f.id += steps[i];
			if (n == 20)
				f.id += 9;
		}
		there_and_back();
		assert_int_equal(column_len(COMBO_IDS), steps[i] == 1 ? 2 : 4);
	}
}

static void checksums_of_ip(void **state)
{
	struct flow f = tcp;

	(void)state;
	f.offload = true; /* 0 goes on as 0 */
	for (int n = 0; n < 10; n++, f.id++)
		add(&f);
	there_and_back();
	assert_int_equal(column_len(COMBO_RARES), 0);
	add(&f)[24] ^= 1; /* a wrong one */
	there_and_back();
	assert_int_equal(column_len(COMBO_RARES), 1);
	assert_int_equal(column_len(COMBO_RANDOMS), 2 * (10 + 1));
}

static void datagrams_and_echoes(void **state)
{
	struct flow f = {
		.protocol = 17, .from = 1, .to = 2, .from_port = 5, .to_port = 6, .payload = 100
	};
	struct flow e = { .protocol = 1, .from = 1, .to = 2, .payload = 56 };
	size_t first;

	(void)state;
	for (int v6 = 0; v6 < 2; v6++) {
		count = 0;
		f.v6 = e.v6 = v6;
		add(&f);
		add(&e);
		there_and_back();
		first = told();
		for (int n = 0; n < 20; n++) {
			f.id++;
			f.value++; /* its checksum */
			add(&f);
			e.id++;
			e.seq++;
			add(&e);
		}
		there_and_back();
		assert_int_equal(told(), first);
		assert_int_equal(column_len(COMBO_RANDOMS), 2 * 40);
		add(&f)[f.v6 ? 59 : 39]++; /* a UDP length that differs from IP's */
		there_and_back();
		assert_int_equal(column_len(COMBO_TOTALS), 2);
	}
}

/* A capture with a snapshot length, with padding, and of whole frames. */
static void lengths(void **state)
{
	struct flow f = tcp;
	size_t first;

	(void)state;
	f.payload = 1000;
	f.keep = 30; /* cut */
	add(&f);
	there_and_back();
	first = told();
	for (int n = 0; n < 20; n++) {
		f.id++;
		f.seq += 1000;
		add(&f);
	}
	there_and_back();
	assert_int_equal(told(), first);
	assert_int_equal(c.data_len, 20 * 30);
	count = 0;
	f.payload = f.keep = 120; /* whole */
	for (int n = 0; n < 20; n++, f.id++, f.seq += 120)
		add(&f);
	there_and_back();
	assert_int_equal(column_len(COMBO_RARES), 0);
	count = 0;
	f.options = f.payload = f.keep = 0; /* 54 bytes, padded to 60 */
	for (int n = 0; n < 20; n++, f.id++) {
		add(&f);
		frames[count - 1].orig_len = 60;
	}
	there_and_back();
	assert_int_equal(column_len(COMBO_RARES), 0);
}

/* More flows than templates: the oldest is replaced, in a ring, twice over. */
static void more_flows_than_templates(void **state)
{
	struct flow f = tcp;

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (int n = 0; n < 400; n++) {
			f.from_port = n;
			f.seq = n * 1000 + round;
			add(&f);
		}
	}
	assert_true(count * 40 < COMBO_SIZE_MAX * 2);
	there_and_back();
	assert_int_equal(reader.templates.wired.count, WIRED_TEMPLATES);
	/* New flows of one host are told as differences from each other. */
	assert_int_equal(column_len(COMBO_HEADS), 66);
}

/* Random headers and random payload: at most a tenth more than the frame as it is, with the bytes
 * of its lengths and time that version 3 had too. */
static void frames_that_are_never_alike(void **state)
{
	size_t plain = 0;

	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		count = 0;
		plain = 0;
		for (int n = 0; n < 200; n++) {
			struct flow f = tcp;

			f.protocol = kind == 1 ? 17 : 6;
			add(&f);
			for (uint32_t i = kind == 2 ? 0 : 6; i < frames[n].kept_len; i++)
				if (kind >= 2 || i < 12 || i > 25)
					bytes[n][i] = random_below(256);
			if (kind < 2)
				bytes[n][46] = 0x80;
			plain += frames[n].kept_len + 2 + 2;
		}
		there_and_back();
		assert_true(c.body_len <= plain * 11 / 10);
	}
}

/* Frames of flows that change at random, mixed with bytes of no protocol, cut anywhere. */
static void random_flows(void **state)
{
	static struct flow flows[60];

	(void)state;
	for (uint32_t round = 0; round < 300; round++) {
		count = 0;
		for (size_t i = 0; i < 60; i++) {
			static const uint8_t protocols[] = { 6, 6, 6, 17, 1, 47 };

			flows[i] = (struct flow){ .v6 = random_below(4) == 0,
						  .link = random_below(4) ? 0
									  : random_below(ALL_LINKS),
						  .offload = random_below(4) == 0,
						  .protocol = protocols[random_below(6)],
						  .options = 4 * random_below(5),
						  .from = random_below(4),
						  .to = random_below(4),
						  .from_port = random_below(3),
						  .to_port = random_below(3) };
		}
		for (uint32_t n = 0; n < 100; n++) {
			struct flow *f = &flows[random_below(60)];
			uint8_t *p;

			f->payload = random_below(2) ? random_below(1400) : 0;
			f->keep = f->payload < 40 ? f->payload : random_below(40);
			f->seq += random_below(3) ? 0 : random_below(100000);
			f->ack += random_below(3) ? 0 : random_below(100000);
			f->value += random_below(3) ? 0 : random_below(70000);
			f->id += random_below(3) ? 1 : random_below(300);
			f->flags = random_below(8) ? f->flags : random_below(256);
			p = add(f);
			if (random_below(6) == 0)
				p[random_below(frames[n].kept_len)] = random_below(256);
			if (random_below(6) == 0)
				frames[n].kept_len = random_below(frames[n].kept_len + 1);
			if (random_below(6) == 0)
				frames[n].orig_len = frames[n].kept_len + random_below(60);
		}
		there_and_back();
	}
}

static void sizes_at_the_edge(void **state)
{
	(void)state;
	for (uint32_t len = 0; len <= 200; len++) {
		count = 0;
		for (int n = 0; n < 3; n++) {
			struct flow f = tcp;

			f.payload = f.keep = 150;
			add(&f);
			frames[n].kept_len = len;
			frames[n].orig_len = len + 7;
		}
		there_and_back();
	}
}

static int setup(void **state)
{
	(void)state;
	return combo_init(&c, COMBO_SIZE_MAX, 65535);
}

static int teardown(void **state)
{
	(void)state;
	combo_free(&c);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_transfer_is_expected, start),
		cmocka_unit_test_setup(ip_that_is_too_far_away, start),
		cmocka_unit_test_setup(a_change_costs_its_field, start),
		cmocka_unit_test_setup(steps_of_ids, start),
		cmocka_unit_test_setup(checksums_of_ip, start),
		cmocka_unit_test_setup(datagrams_and_echoes, start),
		cmocka_unit_test_setup(lengths, start),
		cmocka_unit_test_setup(more_flows_than_templates, start),
		cmocka_unit_test_setup(frames_that_are_never_alike, start),
		cmocka_unit_test_setup(random_flows, start),
		cmocka_unit_test_setup(sizes_at_the_edge, start),
	};

	return cmocka_run_group_tests_name("wired_templates", tests, setup, teardown);
}
