// SPDX-License-Identifier: GPL-2.0
/*
 * pretend KEYFILE PORT: a sensor under the test's control, for a collector on the loopback. It
 * reads orders from standard input, one per line, and prints a line when an order is done.
 *
 *     session RUN INFO               begins the session for the rest; '|' ends a line
 *                                    of INFO
 *     info INFO                      reports a changed INFO
 *     combo NUMBER FIRST IF WORD...  a combo of Ethernet frames, one word each; WORD*100 is padded
 *                                    with dots to 100 bytes
 *     part NUMBER FIRST IF WORD...   such a combo without its last piece
 *     floor NUMBER FIRST             has no combo below NUMBER left; FIRST frames came before it
 *     totals NAME=N...               and 0.seen=N etc. for interface 0; waits until they
 *                                    are heard, or with final=1 until the end of the run is
 *                                    confirmed
 */
#include <limits.h>

#include "speak.h"
#include "wire/combo.h"
#include "wire/info.h"
#include "wire/totals.h"

#define TRIES 50 /* to have totals acknowledged: SPEAK_RECEIVE_US or more each */

static char *lines_of(char *info)
{
	for (char *p = info; (p = strchr(p, '|')); p++)
		*p = '\n';
	return info;
}

static void say_info(char *info)
{
	uint8_t message[INFO_MESSAGE_MAX + 100] = { MESSAGE_INFO };
	size_t len = strlen(lines_of(info));

	if (len > sizeof(message) - 1)
		fail("too long");
	memcpy(message + 1, info, len);
	send_message(message, 1 + len);
}

/* Appends a frame made from a word. */
static void append_word(struct combo *c, char *word, uint8_t interface)
{
	static uint8_t bytes[65536];
	char *star = strchr(word, '*');
	struct combo_frame f = { .time_ns = 1000000000 + c->frames,
				 .linktype = 1,
				 .interface = interface,
				 .data = bytes };
	size_t len = strlen(word);

	if (star) {
		*star = 0;
		len = atoi(star + 1);
	}
	memset(bytes, '.', len);
	memcpy(bytes, word, strlen(word));
	f.kept_len = f.orig_len = len;
	if (!combo_fits(c, len))
		fail("too much for a combo");
	combo_append(c, &f);
}

static void say_combo(char *words, unsigned int left_out)
{
	static uint8_t out[COMBO_WIRE_MAX];
	uint64_t number = strtoull(strtok(words, " "), NULL, 10);
	struct combo c;
	size_t len;
	uint8_t interface;

	if (combo_init(&c, COMBO_SIZE_MAX, COMBO_SIZE_MAX))
		fail("combo");
	c.first = strtoull(strtok(NULL, " "), NULL, 10);
	interface = atoi(strtok(NULL, " "));
	for (char *word; (word = strtok(NULL, " "));)
		append_word(&c, word, interface);
	len = speak_combo_stored(out, &c, number);
	send_pieces(number, out, len, (len + PIECE_DATA_MAX - 1) / PIECE_DATA_MAX - left_out);
}

static uint64_t *totals_field(struct totals *t, char *name)
{
	if (name[0] >= '0' && name[0] < '0' + TOTALS_INTERFACES_MAX && name[1] == '.') {
		unsigned int n = name[0] - '0';

		if (n >= t->interface_count)
			t->interface_count = n + 1;
#define X(field)                                                                                   \
	if (!strcmp(name + 2, #field))                                                             \
		return &t->interfaces[n].field;
		TOTALS_INTERFACE_FIELDS(X)
#undef X
	}
#define X(field, help)                                                                             \
	if (!strcmp(name, #field))                                                                 \
		return &t->field;
	TOTALS_FIELDS(X)
#undef X
	fail(name);
	return NULL;
}

/* Returns whether all messages so far were heard, and with `final` also the end confirmed. */
static bool heard(bool final)
{
	bool confirmed;

	while (speak_receive()) {
		confirmed = last_ack.flags & ACK_FINAL;
		if (!final && confirmed)
			fail("an end is confirmed that was not said");
		if (speak_all_seen() && (!final || confirmed))
			return true;
	}
	return false;
}

static void say_floor(char *words)
{
	uint8_t message[MESSAGE_FLOOR_LEN] = { MESSAGE_FLOOR };
	char *first;

	store_be(message + 1, strtoull(words, &first, 10), 8);
	store_be(message + 9, strtoull(first, NULL, 10), 8);
	send_message(message, sizeof(message));
}

static void say_totals(char *words)
{
	uint8_t message[TOTALS_WIRE_MAX];
	struct totals t = { 0 };

	for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
		char *equals = strchr(word, '=');

		*equals = 0;
		*totals_field(&t, word) = strtoull(equals + 1, NULL, 10);
	}
	for (int tries = 0; tries < TRIES; tries++) {
		send_message(message, totals_write(message, &t));
		if (heard(t.final))
			return;
	}
	fail("the collector does not answer");
}

int main(int argc, char **argv)
{
	static char line[1 << 20];

	if (argc != 3)
		return 2;
	speak_connect(argv[1], argv[2]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof(line), stdin)) {
		char *rest = strchr(line, ' ') + 1;
		uint64_t run;

		line[strcspn(line, "\n")] = 0;
		switch (line[0]) {
		case 's':
			run = strtoull(rest, &rest, 10);
			speak_set_up(run, lines_of(rest + 1));
			break;
		case 'i':
			say_info(rest);
			break;
		case 'c':
		case 'p':
			say_combo(rest, line[0] == 'p');
			break;
		case 'f':
			say_floor(rest);
			break;
		case 't':
			say_totals(rest);
			break;
		default:
			fail(line);
		}
		printf("done\n");
	}
	return 0;
}
