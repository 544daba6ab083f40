// SPDX-License-Identifier: GPL-2.0
/*
 * hostile KEYFILE PORT: a sensor with a valid key that sends malformed combos to a collector on the
 * loopback: they claim 4 GB, decompress to more than they claim, or contradict themselves. All that
 * have a frame contain "forged", and would be the next in order. An honest combo with one frame,
 * "honest", goes before and after them, then the final totals. Prints how many of each it sent, by
 * the collector's counter names.
 *
 * hostile KEYFILE PORT COUNT: sends COUNT random datagrams instead, as fast as the collector takes
 * them. Now and then it checks with totals that all before were processed. Prints how many random
 * ones it sent, how many of its own, and how many of these were handshakes.
 *
 * hostile KEYFILE PORT COUNT RATE: sends RATE datagrams/s, whether the collector takes them or not.
 * Prints how many it sent, and the time in milliseconds.
 */
#include <limits.h>
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "speak.h"
#include "wire/combo.h"
#include "wire/totals.h"

#define BATCH 64     /* datagrams per system call */
#define WINDOW 8192  /* datagrams under way: a third of the receive buffer */
#define PATIENCE 100 /* how often totals are sent */

static uint64_t number; /* of the next combo */
static uint64_t frames; /* exported so far: the next combo's first frame */
static unsigned int bad_combos, bad_pieces, bad_messages, duplicates;

static void send_combo(const uint8_t *combo, size_t len)
{
	send_pieces(number++, combo, len, UINT_MAX);
}

#define TEXT_LEN 6
#define BODY (COMBO_HEADER_LEN + COMBO_CODEC_LEN)
/* Offsets of a combo's free values, for one Ethernet frame: its time stamp; then interface and
 * direction, after the frame count and link type, after the list of columns and their lengths. */
#define COLUMNS_PRESENT 6 /* kinds, times, kepts, cuts, flows, heads */
#define BASE (BODY + 1)
#define INTERFACE (BASE + 8 + 2 + 4 + COLUMNS_PRESENT + 2)

/* Makes a valid combo of one frame of TEXT_LEN bytes. Returns its length. */
static size_t make_combo(uint8_t *out, const char *text)
{
	struct combo_frame f = {
		.time_ns = 1000000000,
		.orig_len = TEXT_LEN,
		.kept_len = TEXT_LEN,
		.linktype = 1,
		.data = (const uint8_t *)text,
	};
	struct combo c;

	if (combo_init(&c, COMBO_SIZE_DEFAULT, 192))
		fail("combo");
	combo_append(&c, &f);
	c.first = frames;
	return speak_combo_stored(out, &c, number);
}

static void send_honest(void)
{
	uint8_t combo[256];

	send_combo(combo, make_combo(combo, "honest"));
	frames++;
}

/* Sends a combo with the field of `size` bytes at `at` replaced. */
static void send_changed(size_t at, uint64_t value, int size)
{
	uint8_t combo[256];
	size_t len = make_combo(combo, "forged");

	store_be(combo + at, value, size);
	send_combo(combo, len);
	bad_combos++;
}

/* Adds bytes after the last frame, or removes some, with a matching header. */
static void send_resized(int more)
{
	uint8_t combo[256] = { 0 };
	size_t len = make_combo(combo, "forged") + more;

	combo_header_write(combo, sensor_id, number, 1, len - BODY);
	send_combo(combo, len);
	bad_combos++;
}

/* Changes every byte of the frame's description, except those with any valid value. */
static void send_every_byte_changed(void)
{
	uint8_t combo[256];
	size_t end = make_combo(combo, "forged") - TEXT_LEN;

	for (size_t at = BODY; at < end; at++) {
		if ((at >= BASE && at < BASE + 8) || at == INTERFACE || at == INTERFACE + 1)
			continue;
		send_changed(at, 0xff, 1);
	}
}

/* Claims `claimed` bytes and compresses `real` bytes of zeros. */
static void send_bomb(uint32_t claimed, size_t real)
{
	static uint8_t zeros[4 << 20], combo[65536];
	ZSTD_CCtx *c = ZSTD_createCCtx();
	size_t n;

	ZSTD_CCtx_setParameter(c, ZSTD_c_format, ZSTD_f_zstd1_magicless);
	combo_header_write(combo, sensor_id, number, 1, claimed);
	combo[COMBO_HEADER_LEN] = COMBO_ZSTD;
	n = ZSTD_compress2(c, combo + BODY, sizeof(combo) - BODY, zeros, real);
	if (ZSTD_isError(n))
		fail("bomb");
	ZSTD_freeCCtx(c);
	send_combo(combo, BODY + n);
	bad_combos++;
}

static void send_garbage(void)
{
	static const uint8_t messages[][12] = {
		{ 0 },
		{ 77, 1, 2, 3 },
		{ MESSAGE_TOTALS, 200 },
		{ MESSAGE_TOTALS, 0 },
		{ MESSAGE_TOTALS, 0, 1 },
		{ MESSAGE_TOTALS, 0, 200, 200, 1, 2, 3 },
		{ MESSAGE_INFO },
		{ MESSAGE_INFO, 'o', 's', '=', 'x' },
		{ MESSAGE_TOTALS, 1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80 },
		{ MESSAGE_HEARD, 0, 0, 0 },
		{ MESSAGE_PROBE, 1 },
		{ MESSAGE_ECHO, 1, 2, 3, 4, 5, 6, 7 },
		{ MESSAGE_RENEW, 1, 2, 3, 4, 5, 6, 7, 8, 9 },
		{ MESSAGE_FLOOR, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0 },
		{ SHROUD_PADDED | MESSAGE_TOTALS, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		  12 }, /* all of it */
		{ MESSAGE_COMBO, 0, 0, 99 },
		{ MESSAGE_COMBO, 0, 0, 99, 0, 1, 0, 9, 'x', 'x', 'x', 'x' },
		{ MESSAGE_COMBO, 0, 0, 99, 0, 0, 0, 2, 'x', 'x', 'x', 'x' },
		{ MESSAGE_COMBO, 0, 0, 99, 0, 0, 0xff, 0xff, 'x', 'x', 'x', 'x' },
	};

	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		send_message(messages[i], sizeof(messages[i]));
		if (messages[i][0] == MESSAGE_COMBO)
			bad_pieces++;
		else
			bad_messages++;
	}
}

static void send_piece(uint16_t offset, uint16_t total, size_t len)
{
	static uint8_t message[PIECE_HEADER_LEN + PIECE_DATA_MAX];

	piece_header_write(message, number, offset, total);
	send_message(message, PIECE_HEADER_LEN + len);
}

/* A combo of two pieces, all zeros. The first comes twice; the second has two lengths. Each new
 * length begins another combo, as of a killed agent or the next one. The first comes again, and
 * once more when all was processed. */
static void send_contradicting_pieces(void)
{
	const uint16_t total = PIECE_DATA_MAX + 10;

	send_piece(0, total, PIECE_DATA_MAX);
	send_piece(0, total, PIECE_DATA_MAX);
	duplicates++;
	send_piece(PIECE_DATA_MAX, total + 1, 11);
	send_piece(PIECE_DATA_MAX, total, 10);
	send_piece(0, total, PIECE_DATA_MAX);
	bad_combos++;
	send_piece(0, total, PIECE_DATA_MAX);
	duplicates++;
	number++;
}

/* ---- random datagrams ------------------------------------------------------------------------ */

static uint64_t rng(void)
{
	static uint64_t x = 88172645463325252ULL; /* xorshift, G. Marsaglia 2003 */

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

#define NEXT 16 /* our own addresses, not used yet */

static uint8_t next_addresses[NEXT][SHROUD_ADDRESS_LEN];

/* Learns what no stranger can know: the addresses of the datagrams that the collector expects. */
static void learn_addresses(void)
{
	static uint64_t learnt;
	struct shroud_tx copy = tx;
	uint8_t datagram[SHROUD_OVERHEAD];

	if (learnt == tx.next)
		return;
	learnt = tx.next;
	for (int i = 0; i < NEXT; i++) {
		shroud_seal(&copy, datagram, NULL, 0, 0);
		memcpy(next_addresses[i], datagram, SHROUD_ADDRESS_LEN);
	}
}

/* A third has an address of our session, and a few have a slot where a handshake is expected. */
static size_t random_datagram(uint8_t *out)
{
	static const uint16_t lengths[] = { 0,	1,  7,	 8,    24,   25,   40,
					    72, 95, 200, 1161, 1232, 1400, 1472 };
	size_t len = lengths[rng() % (sizeof(lengths) / sizeof(*lengths))];
	uint64_t slots[TRYST_SLOTS], kind = rng() % 12;

	for (size_t i = 0; i < len; i += 8)
		store_be(out + i, rng(), 8);
	if (len < SHROUD_ADDRESS_LEN)
		return len;
	if (kind < 4)
		memcpy(out, next_addresses[rng() % NEXT], SHROUD_ADDRESS_LEN);
	if (kind == 4) {
		tryst_slots(slots, pair, speak_clock_ns(CLOCK_REALTIME) / TRYST_INTERVAL_NS);
		memcpy(out, &slots[rng() % TRYST_SLOTS], SHROUD_ADDRESS_LEN);
	}
	return len;
}

static void send_random(unsigned int count)
{
	static uint8_t bytes[BATCH][1472 + 8];
	struct mmsghdr messages[BATCH] = { 0 };
	struct iovec iovecs[BATCH];
	int n;

	learn_addresses();
	for (unsigned int i = 0; i < count; i++) {
		iovecs[i].iov_base = bytes[i];
		iovecs[i].iov_len = random_datagram(bytes[i]);
		messages[i].msg_hdr.msg_iov = &iovecs[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	for (unsigned int done = 0; done < count; done += n) {
		n = sendmmsg(sock, messages + done, count - done, 0);
		if (n < 0)
			fail("sendmmsg");
	}
}

/* Sends totals until acknowledged. Returns the number of our own datagrams this took. */
static unsigned int wait_until_heard(void)
{
	uint64_t before = tx.next;
	struct totals t = { 0 };
	uint8_t message[TOTALS_WIRE_MAX];

	for (unsigned int tries = 0; tries < PATIENCE; tries++) {
		send_message(message, totals_write(message, &t));
		while (speak_receive())
			if (speak_all_seen())
				return tx.next - before;
	}
	fail("the collector does not answer");
	return 0;
}

static int flood(unsigned long count)
{
	unsigned int said = set_ups;
	unsigned long sent = 0;

	while (sent < count) {
		unsigned int n = count - sent < BATCH ? count - sent : BATCH;

		send_random(n);
		sent += n;
		if (sent % WINDOW == 0 || sent == count)
			said += wait_until_heard();
	}
	printf("%lu %u %u\n", sent, said, set_ups);
	return 0;
}

/* Late datagrams are sent at once: the rate is an average. */
static int flood_at(unsigned long count, unsigned long rate)
{
	uint64_t began = speak_clock_ns(CLOCK_MONOTONIC), now = began;
	unsigned long sent = 0;

	while (sent < count) {
		unsigned long due = (now - began) * rate / 1000000000;

		for (due = due < count ? due : count; sent < due;) {
			unsigned int n = due - sent < BATCH ? due - sent : BATCH;

			send_random(n);
			sent += n;
		}
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		now = speak_clock_ns(CLOCK_MONOTONIC);
	}
	printf("%lu %llu\n", sent, (unsigned long long)(now - began) / 1000000);
	return 0;
}

/* ---------------------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
	struct totals t = { .final = 1 };
	uint8_t message[TOTALS_WIRE_MAX];

	if (argc < 3 || argc > 5)
		return 2;
	speak_connect(argv[1], argv[2]);
	speak_set_up(0x0bad, "interface.0=evil\nsnaplen.0=192\n");
	if (argc == 5)
		return flood_at(strtoul(argv[3], NULL, 10), strtoul(argv[4], NULL, 10));
	if (argc == 4)
		return flood(strtoul(argv[3], NULL, 10));
	send_honest();
	send_changed(8, 0xffffffff, 4); /* 4 GB uncompressed */
	send_changed(8, COMBO_BODY_MAX + 1, 4);
	send_changed(0, COMBO_VERSION + 1, 2);
	send_changed(0, COMBO_VERSION_OLDEST - 1, 2);
	send_changed(2, sensor_id + 1, 2); /* another sensor */
	send_changed(4, number + 1, 2);	   /* sequence number */
	send_changed(6, 0, 2);		   /* no frames */
	send_changed(6, 2, 2);		   /* one frame too many */
	send_changed(6, 0xffff, 2);
	send_changed(12, 0, 4);		 /* magic */
	send_changed(16, 7, 1);		 /* codec */
	send_changed(16, COMBO_ZSTD, 1); /* not zstd */
	send_every_byte_changed();
	send_changed(BODY, 0, 1);	   /* frames from before */
	send_changed(INTERFACE - 2, 2, 1); /* a run longer by one frame */
	send_resized(1);
	send_resized(-1);
	send_bomb(100, 4 << 20);
	send_bomb(COMBO_BODY_MAX, 4 << 20);
	send_bomb(COMBO_BODY_MAX, COMBO_BODY_MAX);
	send_bomb(0xffffffff, 4 << 20);
	send_garbage();
	send_contradicting_pieces();
	send_honest();
	t.seen = t.captured = t.exported = frames;
	send_message(message, totals_write(message, &t));
	/* The end is confirmed: all datagrams before were processed. */
	while (!(last_ack.flags & ACK_FINAL))
		if (!speak_receive())
			send_message(message, totals_write(message, &t));
	printf("bad_combos %u bad_pieces %u bad_messages %u duplicate_pieces %u written %llu\n",
	       bad_combos, bad_pieces, bad_messages, duplicates, (unsigned long long)frames);
	return 0;
}
