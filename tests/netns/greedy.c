// SPDX-License-Identifier: GPL-2.0
/*
 * greedy KEYFILE PORT RATE SECONDS [KIND]: a listed sensor gone bad. It sends RATE datagrams/s for
 * SECONDS to a collector on the loopback, whatever room the collector grants. Each datagram is the
 * most expensive one of its kind:
 *
 *     combos   a combo in one datagram that becomes some 256 KB of frames (the default)
 *     info     a change of the sensor's info
 *     probe    a probe, which is answered
 *     bad      a message of an unknown kind
 *     claim    few bytes of each combo the collector keeps, again and again: none is completed
 *     jump     the highest number whose address the collector knows
 *
 * Combos continue from the number that the collector has settled; those below are repeated again
 * and again. Prints the number of datagrams and bytes sent, and of frames settled by the collector.
 */
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#define SPEAK_WINDOW 4096 /* the largest */
#include "speak.h"
#include "wire/combo.h"
#include "wire/info.h"

#define AHEAD PIECE_COMBOS_AHEAD
#define FRAME_LEN 64
#define JUMP_AGAIN_NS 50000000ULL

static struct made {
	uint64_t number;
	size_t len; /* 0: not made yet */
	uint8_t bytes[PIECE_DATA_MAX];
} made[AHEAD];
static struct combo combo;
static ZSTD_CCtx *context;
static uint64_t next, sent_bytes, sent_count, frames_each;
static char info[INFO_MESSAGE_MAX];

static void begin(void)
{
	context = ZSTD_createCCtx();
	if (!context || combo_init(&combo, COMBO_SIZE_MAX, FRAME_LEN))
		fail("memory");
	ZSTD_CCtx_setParameter(context, ZSTD_c_format, ZSTD_f_zstd1_magicless);
	ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
	/* It is parsed and hashed. */
	snprintf(info, sizeof(info), "interface.0=evil\nsnaplen.0=192\nfilter.0=%0500d\n", 0);
}

static void make(struct made *m, uint64_t number)
{
	static const uint8_t data[FRAME_LEN] = { 0, 0, 8, 0, 0, 0, 0, 0, 0x80 }; /* a beacon */
	struct combo_frame f = { .time_ns = 1000000000,
				 .orig_len = FRAME_LEN,
				 .kept_len = FRAME_LEN,
				 .linktype = 127,
				 .data = data };
	size_t head = COMBO_HEADER_LEN + COMBO_CODEC_LEN, n;

	combo_reset(&combo);
	while (combo_fits(&combo, FRAME_LEN))
		combo_append(&combo, &f);
	frames_each = combo.frames;
	combo.first = number * frames_each;
	combo_close(&combo);
	combo_header_write(m->bytes, sensor_id, number, frames_each, combo.body_len);
	m->bytes[COMBO_HEADER_LEN] = COMBO_ZSTD;
	n = ZSTD_compress2(context, m->bytes + head, sizeof(m->bytes) - head, combo.body,
			   combo.body_len);
	if (ZSTD_isError(n))
		fail("a combo is too long for a datagram");
	m->number = number;
	m->len = head + n;
}

static void say(const uint8_t *message, size_t len)
{
	send_message(message, len);
	sent_bytes += len + SHROUD_OVERHEAD;
	sent_count++;
}

static void say_combo(void)
{
	uint8_t message[PIECE_HEADER_LEN + PIECE_DATA_MAX];
	struct made *m;

	if (next < last_ack.taken || next >= last_ack.taken + AHEAD)
		next = last_ack.taken;
	m = &made[next % AHEAD];
	if (!m->len || m->number != next)
		make(m, next);
	piece_header_write(message, next++, 0, m->len);
	memcpy(message + PIECE_HEADER_LEN, m->bytes, m->len);
	say(message, PIECE_HEADER_LEN + m->len);
}

static void say_info(void)
{
	static uint64_t number;
	uint8_t message[1 + sizeof(info) + 32] = { MESSAGE_INFO };
	int n = snprintf((char *)message + 1, sizeof(message) - 1, "change=%llu\n%s",
			 (unsigned long long)++number, info);

	say(message, 1 + n < INFO_MESSAGE_MAX ? 1 + n : INFO_MESSAGE_MAX);
}

static void say_claim(void)
{
	static uint32_t n;
	uint8_t message[PIECE_HEADER_LEN + PIECE_UNIT] = { 0 };
	uint32_t at = n / AHEAD * PIECE_UNIT % (COMBO_WIRE_MAX - PIECE_UNIT);

	piece_header_write(message, n++ % AHEAD, at, COMBO_WIRE_MAX);
	say(message, sizeof(message));
}

/* Ignored datagrams leave the collector where it was: the jump is tried again from there. */
static void say_jump(void)
{
	static const uint8_t heard[MESSAGE_HEARD_LEN] = { MESSAGE_HEARD };
	static uint64_t highest, since_ns;
	uint64_t now = speak_clock_ns(CLOCK_MONOTONIC);

	if (last_ack.highest != highest || !since_ns) {
		highest = last_ack.highest;
		since_ns = now;
	} else if (now - since_ns > JUMP_AGAIN_NS) {
		since_ns = now;
		tx.next = highest + 1;
	}
	tx.next += 2 * shroud_room(tx.next - 1, window) - 1;
	speak_sealed(heard, sizeof(heard));
	sent_bytes += sizeof(heard) + SHROUD_OVERHEAD;
	sent_count++;
}

static void say_one(const char *kind)
{
	static const uint8_t probe[MESSAGE_PROBE_LEN] = { MESSAGE_PROBE }, bad[32] = { 99 };

	if (!strcmp(kind, "info"))
		say_info();
	else if (!strcmp(kind, "probe"))
		say(probe, sizeof(probe));
	else if (!strcmp(kind, "bad"))
		say(bad, sizeof(bad));
	else if (!strcmp(kind, "claim"))
		say_claim();
	else if (!strcmp(kind, "jump"))
		say_jump();
	else
		say_combo();
}

static void hear(void)
{
	struct timeval none = { .tv_usec = 1 };

	setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof(none));
	while (speak_receive())
		;
}

int main(int argc, char **argv)
{
	uint64_t began, now, rate, ns;

	if (argc < 5 || argc > 6)
		return 2;
	rate = strtoul(argv[3], NULL, 10);
	ns = strtoul(argv[4], NULL, 10) * 1000000000ULL;
	speak_connect(argv[1], argv[2]);
	speak_set_up(0x9000, "interface.0=evil\nsnaplen.0=192\n");
	begin();
	began = now = speak_clock_ns(CLOCK_MONOTONIC);
	while (now - began < ns) {
		/* No burst makes up for datagrams that were late. */
		for (unsigned int n = 0; n < 64 && sent_count < (now - began) * rate / 1000000000;
		     n++)
			say_one(argc > 5 ? argv[5] : "combos");
		hear();
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		now = speak_clock_ns(CLOCK_MONOTONIC);
	}
	printf("%llu %llu %llu\n", (unsigned long long)sent_count, (unsigned long long)sent_bytes,
	       (unsigned long long)(last_ack.settled * frames_each));
	return 0;
}
