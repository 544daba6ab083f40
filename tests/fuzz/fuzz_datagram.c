// SPDX-License-Identifier: GPL-2.0
/* links: collector/network/session_receive.o collector/network/sensor_sessions.o
 * collector/output/output_sink.o collector/sink/sink.o collector/sink/window.o
 * collector/sink/connection.o collector/model/sensor_record.o wire/put.o wire/put_text.o
 * wire/key_text.o
 * collector/network/sensor_list.o collector/network/timers.o collector/network/handshake_admit.o
 * collector/network/handshake_requests.o collector/network/handshake_replays.o
 * collector/network/refusals.o collector/network/refused_list.o collector/network/wrong_key.o
 * collector/network/log_limit.o
 * collector/network/connections.o
 * collector/network/handshake_slots.o collector/network/handshake_candidate.o
 * collector/network/handshake_one_way.o collector/network/session_send.o
 * collector/network/messages.o collector/combo/intake.o collector/combo/gaps.o
 * collector/combo/split.o collector/combo/split_combo.o collector/model/module_counts.o
 * collector/combo/runs.o
 * collector/network/sensor.o collector/combo/sensor.o collector/output/sensor.o
 * collector/combo/combos.o collector/network/handshake_forward.o collector/combo/frame_check.o
 * collector/model/linktypes.o collector/combo/pseudo_header.o collector/network/handshake.o
 * collector/network/session.o collector/combo/one_way.o collector/combo/forward.o wire/spool.o
 * collector/model/sensors.o collector/model/sensors_file.o collector/combo/reassemble.o
 * collector/combo/reassemble_pool.o collector/combo/turns.o collector/output/budget.o
 * collector/model/free_space.o collector/combo/decompress.o collector/combo/unpack.o
 * collector/combo/ahead.o collector/combo/ahead_plan.o collector/model/ledger.o
 * collector/output/interfaces.o collector/output/output.o collector/output/output_flush.o
 * collector/output/output_rotate.o collector/output/output_hold.o collector/output/output_file.o
 * collector/output/recover.o archive/index_read.o archive/index_cursor.o archive/index_hash.o
 * collector/output/written.o collector/output/late.o collector/output/state.o
 * collector/files/series.o archive/series_name.o collector/output/pcapng.o
 * collector/output/pcapng_walk.o pcapng/combo_name.o wire/tryst.o wire/shroud.o wire/derive.o
 * wire/table.o wire/keys.o wire/request.o wire/combo.o wire/columns.o wire/combo_open.o
 * wire/dot11_templates.o wire/wired_templates.o wire/wired_append.o wire/tails.o wire/wired_next.o
 * wire/fields.o wire/dictionary.o wire/info.o wire/totals.o collector/model/groups_file.o
 * collector/model/coverage.o collector/combo/event.o collector/output/event_json.o
 * collector/output/event_log.o collector/output/event_log_files.o
 * collector/output/event_log_recover.o wire/channel.o wire/dwell.o wire/module_event.o
 * wire/clock_readings.o wire/progress.o collector/combo/progress.o
 * collector/output/output_clock.o collector/live/combo.o collector/live/ring.o
 * collector/live/blocks.o */
/*
 * The collector's whole path, from the datagram to the file. Input: whether files are rotated, then
 * a list of steps. A step is a stranger's datagram, a validly sealed one of a bad sensor, one of an
 * honest sensor, a restart of the honest agent that continues the run, a renewal, the start or end
 * of forwarding a spool, passing time, or a disk that is full from now on. Always holds: every
 * datagram is in exactly one counter; a stranger's changes nothing else; an unconfirmed address
 * gets no more bytes than came from it; the honest sensor's frames are all written or lost to the
 * disk; the files are whole, and match the ledgers.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>

#include <saluki/record.h>

#include "collector/files/files.h"
#include "collector/combo/sensor.h"
#include "collector/combo/turns.h"
#include "collector/network/sensor.h"
#include "collector/network/sensor_list.h"
#include "collector/network/session_receive.h"
#include "collector/network/session_send.h"
#include "collector/network/timers.h"
#include "collector/output/sensor.h"
#include "fuzz_random.h"
#include "fuzz_x25519.h"
#include "wire/spool.h"
#include "wire/totals.h"

#define ADDRESSES 4
#define REPLAYER 3 /* sends again datagrams of others */
#define FILES_MAX 4
#define ROTATE_BYTES 4096
#define DATAGRAM_MAX 2048			  /* collector/network/receive.h truncates there */
#define START_NS (1000000ULL * TRYST_INTERVAL_NS) /* protocol time */
#define SECOND 1000000000ULL

/* The impostor has the honest sensor's public key but not the secret one. */
enum { HONEST = 0, BAD = 1, SENSORS = 2, UNLISTED = 2, IMPOSTOR = 3, ENDS = 4 };

/* A sensor's state. */
struct end {
	struct keypair own;
	uint8_t pair[KEY_LEN];
	struct shroud_tx tx, candidate;
	uint8_t chain[KEY_LEN], candidate_chain[KEY_LEN];
	bool has_candidate;
	uint64_t run, interval;
	unsigned int slot;		  /* the next free slot of the interval */
	uint64_t combos, frames;	  /* exported so far, by an honest sensor */
	uint8_t last[COMBO_SIZE_MIN * 2]; /* the last such combo, as sent */
	size_t last_len;
	bool forwards; /* its combos are records of a spool */
	uint8_t file_key[KEY_LEN], file_hello[SPOOL_HELLO_LEN];
};

static struct keypair collector, own[ENDS];
static struct network *o;
static struct sensors sensors;
static struct output *output;
static struct combos *combos;
static struct signals orders;
static int files[FILES_MAX], files_given, lines;
static struct end ends[ENDS];
static uint64_t now_ns;
static struct sockaddr_storage addresses[ADDRESSES];
static uint64_t bytes_from[ADDRESSES], bytes_to[ADDRESSES];
static bool confirmed[ADDRESSES];
static uint8_t sent[SHROUD_DATAGRAM_MAX]; /* the collector's last datagram */
static size_t sent_len;

/* ---- environment ----------------------------------------------------------------------------- */

static uint64_t protocol_clock(void)
{
	return START_NS + now_ns;
}

/* In place of collector/files/serve.c: some files, then an error. */
int files_ask(int sock, enum files_request what, struct files_answer *a, int *fd)
{
	(void)sock;
	memset(a, 0, sizeof(*a));
	if (what != FILES_OUTPUT)
		return -ENOENT;
	strcpy(a->name, "fuzz");
	if (files_given == FILES_MAX)
		return -ENOSPC;
	*fd = dup(files[files_given++]);
	return 0;
}

/* All modules' lines go to one file, except one module's, whose file fails. */
int files_ask_module(int sock, const char *module, struct files_answer *a, int *fd)
{
	(void)sock;
	(void)a;
	CHECK(module_event_name_is_good(module, strlen(module)));
	if (*module == 'x')
		return -ENOSPC;
	*fd = dup(lines);
	return 0;
}

/* No state is kept. */
FILE *files_new(int sock, enum files_request what, int *err)
{
	(void)sock;
	(void)what;
	*err = -ENOENT;
	return NULL;
}

int files_new_done(int sock, enum files_request done, FILE *f, int err)
{
	(void)sock;
	(void)done;
	(void)f;
	return err;
}

static void note_confirmed(unsigned int address)
{
	for (unsigned int i = 0; i < sensors.count; i++)
		for (int k = 0; sensors.list[i]->network->sessions && k < SENSOR_SESSIONS; k++) {
			const struct session *s = &sensors.list[i]->network->sessions[k];

			confirmed[address] |=
				s->confirmed &&
				!memcmp(&s->address.in, &addresses[address], s->address.len);
		}
}

/* In place of libc's: the collector's only output to the network. */
ssize_t sendto(int fd, const void *data, size_t len, int flags, __CONST_SOCKADDR_ARG to,
	       socklen_t to_len)
{
	const struct sockaddr *address = to.__sockaddr__;
	int i = 0;

	(void)fd;
	(void)flags;
	CHECK(to_len == sizeof(struct sockaddr_in) && len <= sizeof(sent));
	while (i < ADDRESSES && memcmp(address, &addresses[i], to_len))
		i++;
	CHECK(i < ADDRESSES);
	note_confirmed(i);
	bytes_to[i] += len;
	CHECK(confirmed[i] || bytes_to[i] <= bytes_from[i]);
	memcpy(sent, data, len);
	sent_len = len;
	return len;
}

/* ---- input ----------------------------------------------------------------------------------- */

static uint64_t taken_or_not(void)
{
	const struct network_counters *c = &o->counters;

	return c->not_ours + c->not_authentic + c->set_ups + c->limited_set_ups +
	       c->ignored_set_ups + c->questions + c->limited_questions;
}

static uint64_t heard_bytes(void)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < sensors.count; i++)
		n += sensors.list[i]->ledger.received_bytes;
	return n;
}

/* Returns whether it was a sensor's datagram; if not, a counter must rise. */
static bool deliver(const uint8_t *datagram, size_t len, unsigned int from)
{
	uint64_t before = taken_or_not(), heard_before = heard_bytes();
	uint64_t count = o->counters.datagrams;
	uint8_t *copy = fuzz_copy(datagram, len);
	bool heard;

	bytes_from[from] += len;
	sent_len = 0;
	session_receive_batch(o,
			      &(struct datagram){ copy, len, (struct sockaddr *)&addresses[from],
						  sizeof(struct sockaddr_in), now_ns },
			      1);
	turns_all(combos, now_ns);
	fuzz_free(copy);
	heard = heard_bytes() == heard_before + len && len;
	CHECK(heard || heard_bytes() == heard_before);
	CHECK(o->counters.datagrams == count + 1);
	CHECK(taken_or_not() - before + heard == 1);
	for (int i = 0; i < SENSORS; i++)
		CHECK(sensors.list[i]->combo->reassembly.held <= REASSEMBLE_SLOTS);
	CHECK(combos->pool.used <= combos->pool.limit);
	return heard;
}

static void stranger(const uint8_t *datagram, size_t len, unsigned int from)
{
	static struct sensor before[SENSORS];
	static struct network_sensor network[SENSORS];
	static struct combo_sensor combo[SENSORS];
	static struct output_sensor output_of[SENSORS];
	uint64_t used = o->table.used;

	for (int i = 0; i < SENSORS; i++) {
		const struct sensor *s = sensors.list[i];

		memcpy(&before[i], s, sizeof(before[i]));
		memcpy(&network[i], s->network, sizeof(network[i]));
		memcpy(&combo[i], s->combo, sizeof(combo[i]));
		memcpy(&output_of[i], s->output, sizeof(output_of[i]));
	}
	CHECK(!deliver(datagram, len, from));
	CHECK(o->table.used == used && !sent_len);
	for (int i = 0; i < SENSORS; i++) {
		const struct sensor *s = sensors.list[i];

		CHECK(!memcmp(&before[i], s, sizeof(before[i])));
		CHECK(!memcmp(&network[i], s->network, sizeof(network[i])));
		CHECK(!memcmp(&combo[i], s->combo, sizeof(combo[i])));
		CHECK(!memcmp(&output_of[i], s->output, sizeof(output_of[i])));
	}
}

/* Returns a slot of the present interval; no sensor makes more handshakes than there are slots. */
static bool slot_next(struct end *e, uint64_t *slot)
{
	uint64_t slots[TRYST_SLOTS], interval = protocol_clock() / TRYST_INTERVAL_NS;

	if (interval != e->interval)
		e->slot = 0;
	e->interval = interval;
	tryst_slots(slots, e->pair, interval);
	if (e->slot == TRYST_SLOTS)
		return false;
	*slot = slots[e->slot++];
	return true;
}

static void candidate_keys(struct end *e, uint8_t k2[KEY_LEN])
{
	struct shroud_keys up, down;

	tryst_session(k2, &up, &down, e->candidate_chain);
	shroud_tx_init(&e->candidate, &up);
	e->has_candidate = true;
}

/* Starts or stops forwarding a spool: each time one with another key. */
static void forward(struct end *e)
{
	struct keypair file;

	e->forwards = !e->forwards;
	if (!e->forwards)
		return;
	fuzz_keypair(&file);
	key_generate(e->file_key);
	memcpy(e->file_hello, file.public, KEY_LEN);
	CHECK(spool_wrap(e->file_hello + KEY_LEN, &file, e->pair, collector.public, e->file_key) ==
	      0);
}

/* Puts the spool before the info, which is truncated if there is no room for both. */
static void hello_spool(const struct end *e, struct tryst_hello *hello)
{
	size_t len = hello->info_len;

	if (len > TRYST_INFO_MAX - SPOOL_HELLO_LEN)
		len = TRYST_INFO_MAX - SPOOL_HELLO_LEN;
	memmove(hello->info + SPOOL_HELLO_LEN, hello->info, len);
	memcpy(hello->info, e->file_hello, SPOOL_HELLO_LEN);
	hello->info_len = SPOOL_HELLO_LEN + len;
	hello->flags |= TRYST_SPOOL;
}

/* Makes a session; the sensor uses it if `begin`. Returns whether it may forward. */
static bool set_up(struct end *e, const uint8_t *info, size_t len, uint64_t time, unsigned int from)
{
	struct tryst_hello hello = {
		.run = e->run, .time_ns = time, .window = 256, .info_len = len
	};
	uint8_t out[SHROUD_DATAGRAM_MAX], k2[KEY_LEN];
	uint64_t slot, set_ups = o->counters.set_ups, limited = o->counters.limited_set_ups;
	struct tryst_welcome welcome = { 0 };
	struct tryst_asked asked;
	long n;

	if (!slot_next(e, &slot))
		return false;
	memcpy(hello.info, info, len);
	if (e->forwards)
		hello_spool(e, &hello);
	n = tryst_init(&asked, out, &(struct tryst_keys){ &e->own, collector.public, e->pair },
		       slot, &hello, 0);
	CHECK(n > 0);
	if (e >= &ends[SENSORS]) {
		stranger(out, n, from);
		return false;
	}
	CHECK(!deliver(out, n, from));
	if (o->counters.set_ups > set_ups) {
		CHECK(tryst_finish(&asked, &e->own, &welcome, k2, sent, sent_len) == 0);
		candidate_keys(e, k2);
	}
	if (o->counters.limited_set_ups == limited)
		stranger(out, n, REPLAYER);
	return welcome.flags & TRYST_SPOOL;
}

static void begin(struct end *e)
{
	if (e->has_candidate) {
		e->tx = e->candidate;
		memcpy(e->chain, e->candidate_chain, KEY_LEN);
	}
	e->has_candidate = false;
}

static bool deliver_sealed(struct end *e, const uint8_t *message, size_t len, unsigned int from)
{
	uint8_t out[DATAGRAM_MAX];
	size_t n = shroud_seal(&e->tx, out, message, len, 0);
	bool taken = deliver(out, n, from);

	CHECK(taken || e != &ends[HONEST]);
	if (taken)
		stranger(out, n, REPLAYER);
	return taken;
}

/* Sends a combo, or bytes in its place, in as many pieces as needed. */
static void deliver_pieces(struct end *e, const uint8_t *combo, size_t len, unsigned int from)
{
	uint8_t message[MESSAGE_MAX];

	for (size_t at = 0; at < len; at += PIECE_DATA_MAX) {
		size_t n = len - at < PIECE_DATA_MAX ? len - at : PIECE_DATA_MAX;

		piece_header_write(message, e->combos, at, len);
		memcpy(message + PIECE_HEADER_LEN, combo + at, n);
		deliver_sealed(e, message, PIECE_HEADER_LEN + n, from);
	}
	e->combos++;
}

/* Makes a record as in the file: its writer did not know the sensor's id. */
static size_t record_make(struct end *e, uint8_t record[SPOOL_RECORD_MAX], const uint8_t *combo,
			  size_t len)
{
	uint8_t *at = record + 8 + SPOOL_NAME_LEN;

	memcpy(at, combo, len);
	store_be(at + 2, 0, 2);
	return spool_seal(record, e->file_key, e->run, e->combos, at, len);
}

static void deliver_combo(struct end *e, const uint8_t *combo, size_t len, unsigned int from)
{
	static uint8_t record[SPOOL_RECORD_MAX];

	if (e->forwards) {
		len = record_make(e, record, combo, len);
		combo = record;
	}
	deliver_pieces(e, combo, len, from);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Types with and without a pseudo-header; no sensor sends the unusual ones unless the input
 * asks. */
static uint16_t linktype_of(uint8_t what)
{
	static const uint16_t usual[] = { 1, 127 },
			      strange[] = { 123, 144, 177, 197, 201, 204, 228, 65535 };

	return what & 32 ? strange[what >> 1 & 7] : usual[what & 1];
}

/* Makes the next combo of frames as captured, in `e->last`. Returns its length. */
static size_t make_frames(struct end *e, struct fuzz_input *in)
{
	uint8_t *combo = e->last;
	struct combo c;

	CHECK(combo_init(&c, COMBO_SIZE_MIN, COMBO_SIZE_MIN) == 0);
	for (int left = fuzz_number(in, 1) % 8; left >= 0; left--) {
		uint8_t what = fuzz_number(in, 1);
		struct combo_frame f = { .time_ns = now_ns + c.frames,
					 .linktype = linktype_of(what),
					 .direction = what & SALUKI_UNSETTLED };
		size_t len;

		f.data = fuzz_bytes(in, fuzz_number(in, 1), &len);
		f.kept_len = f.orig_len = len;
		if (what & 64 && combo_event_fits(&c, len))
			combo_event(&c, COMBO_EVENT_DWELL + (what & 2) + (what >> 2 & 1), f.data,
				    len);
		else if (combo_fits(&c, len))
			combo_append(&c, &f);
	}
	c.first = e->frames;
	e->frames += c.frames;
	combo_close(&c);
	e->last_len = COMBO_HEADER_LEN + COMBO_CODEC_LEN + c.body_len;
	CHECK(e->last_len <= sizeof(e->last));
	combo_header_write(combo, sensors.list[e - ends]->id, e->combos, c.frames, c.body_len);
	combo[COMBO_HEADER_LEN] = COMBO_STORED;
	memcpy(combo + COMBO_HEADER_LEN + COMBO_CODEC_LEN, c.body, c.body_len);
	combo_free(&c);
	return e->last_len;
}

/* From either sensor, so that the bad one has data to damage. */
static void step_frames(struct end *e, struct fuzz_input *in, unsigned int from)
{
	size_t len = make_frames(e, in);

	deliver_combo(e, e->last, len, from);
}

/* Sends the first piece of the next combo, which will differ when it comes. */
static void step_part(struct end *e)
{
	uint8_t message[MESSAGE_MAX] = { 0 };

	piece_header_write(message, e->combos, 0, 2 * PIECE_DATA_MAX);
	deliver_sealed(e, message, PIECE_HEADER_LEN + PIECE_DATA_MAX, 0);
}

/* Sends a record of any bytes, or of frames, validly sealed or with a byte changed, under a name
 * that may be another record's. */
static void step_record(struct end *e, struct fuzz_input *in, unsigned int from)
{
	static uint8_t record[SPOOL_RECORD_MAX];
	const struct sensor *s = sensors.list[e - ends];
	int8_t run = fuzz_number(in, 1), count = fuzz_number(in, 1);
	uint8_t place = fuzz_number(in, 1), change = fuzz_number(in, 1);
	uint64_t bad = s->ledger.bad_combos, due = e->combos;
	bool next = s->combo->reassembly.next == due;
	size_t len = fuzz_number(in, 2) % COMBO_WIRE_MAX;
	const uint8_t *p = e->last;

	if (len)
		p = fuzz_bytes(in, len, &len);
	else
		len = make_frames(e, in);
	len = spool_seal(record, e->file_key, s->ledger.run + run, due + count, p, len);
	record[place % len] ^= change;
	deliver_pieces(e, record, len, from);
	if ((run || count || change) && next && s->combo->reassembly.next > due)
		CHECK(s->ledger.bad_combos > bad);
}

/* Makes a whole piece, with the next combo's name or a later one. */
static size_t strange_piece(const struct end *e, uint8_t message[MESSAGE_MAX], uint64_t combo)
{
	static const uint8_t zeros[64];

	piece_header_write(message, e->combos + combo, 0, sizeof(zeros));
	memcpy(message + PIECE_HEADER_LEN, zeros, sizeof(zeros));
	return PIECE_HEADER_LEN + sizeof(zeros);
}

/* Combos waiting in a session are useless in one that forwards something else, and so is a late
 * datagram: it is in `late`, whose length is returned. */
static size_t step_turn(struct end *e, uint8_t late[SHROUD_DATAGRAM_MAX])
{
	uint8_t message[MESSAGE_MAX];

	deliver_sealed(e, message, strange_piece(e, message, 1), 0);
	forward(e);
	return shroud_seal(&e->tx, late, message, strange_piece(e, message, 0), 0);
}

/* Sends a combo with a valid header and any content. */
static void step_combo(struct end *e, struct fuzz_input *in, unsigned int from)
{
	static uint8_t combo[COMBO_WIRE_MAX];
	uint32_t frames = fuzz_number(in, 2) % COMBO_FRAMES_MAX + 1, stated = fuzz_number(in, 2);
	uint8_t codec = fuzz_number(in, 1);
	size_t len, at = COMBO_HEADER_LEN + COMBO_CODEC_LEN;
	const uint8_t *body = fuzz_bytes(in, fuzz_number(in, 2) % COMBO_BODY_MAX, &len);

	combo_header_write(combo, sensors.list[e - ends]->id, e->combos, frames,
			   codec == COMBO_STORED ? len : stated);
	combo[COMBO_HEADER_LEN] = codec;
	memcpy(combo + at, body, len);
	deliver_combo(e, combo, at + len, from);
}

static void step_piece(struct end *e, struct fuzz_input *in, unsigned int from)
{
	uint8_t message[MESSAGE_MAX];
	uint64_t combo = e->combos + (int8_t)fuzz_number(in, 1);
	uint16_t offset = fuzz_number(in, 2) & 0x7fff, total = fuzz_number(in, 2);
	size_t len = total > offset ? total - offset : fuzz_number(in, 1);

	if (len > PIECE_DATA_MAX)
		len = PIECE_DATA_MAX;
	memset(message, 0, sizeof(message));
	piece_header_write(message, combo, offset, total);
	deliver_sealed(e, message, PIECE_HEADER_LEN + len, from);
}

static void step_sealed(struct end *e, struct fuzz_input *in, unsigned int from)
{
	uint8_t message[MESSAGE_MAX] = { 0 };
	size_t len;
	const uint8_t *p = fuzz_bytes(in, fuzz_number(in, 2) % sizeof(message), &len);

	memcpy(message, p, len);
	deliver_sealed(e, message, len, from);
}

static void step_set_up(struct end *e, struct fuzz_input *in, unsigned int from)
{
	int8_t later = fuzz_number(in, 1);
	bool altered = later & 8 && !e->forwards;
	size_t len;
	const uint8_t *info = fuzz_bytes(in, fuzz_number(in, 2) % (TRYST_INFO_MAX + 1), &len);

	if (later & 4)
		forward(e);
	altered &= e->forwards;
	if (altered)
		e->file_hello[(uint8_t)later % SPOOL_HELLO_LEN] ^= 1;

	if (later & 1) { /* another run */
		e->run++;
		e->combos = e->frames = 0;
	}
	CHECK(!set_up(e, info, len, protocol_clock() + later, from) || (e->forwards && !altered));
	if (later & 2)
		begin(e);
}

/* Sends a datagram of the honest sensor with one bit changed. */
static void step_changed(struct fuzz_input *in, unsigned int from)
{
	uint8_t out[DATAGRAM_MAX] = { 0 }, message[256] = { MESSAGE_INFO };
	struct shroud_tx tx = ends[HONEST].tx;
	size_t len, bit = fuzz_number(in, 2), n;
	const uint8_t *p = fuzz_bytes(in, fuzz_number(in, 1), &len);

	memcpy(message + 1, p, len);
	n = shroud_seal(&tx, out, message, 1 + len, 0);
	bit %= n * 8;
	out[bit / 8] ^= 1 << bit % 8;
	stranger(out, n, from);
}

static void step_totals(struct end *e, bool final, unsigned int from)
{
	struct totals t = {
		.seen = e->frames, .captured = e->frames, .exported = e->frames, .final = final
	};
	uint8_t message[TOTALS_WIRE_MAX];

	deliver_sealed(e, message, totals_write(message, &t), from);
}

static void step_time(uint64_t ns)
{
	now_ns += ns;
	while (timers_tick(o, now_ns) == 0)
		;
	turns_all(combos, now_ns);
	output_tick(output, now_ns);
}

/* Renews the session's keys; a datagram sealed under the old ones comes late. */
static void step_renew(struct end *e, unsigned int from)
{
	uint8_t message[MESSAGE_RENEW_LEN] = { MESSAGE_RENEW }, late[64], totals[TOTALS_WIRE_MAX];
	struct sensor *s = sensors.list[e - ends];
	struct totals t = { .seen = e->frames, .captured = e->frames, .exported = e->frames };
	struct keypair ephemeral;
	uint8_t k2[KEY_LEN];
	size_t len;

	step_time(SECOND);
	fuzz_keypair(&ephemeral);
	memcpy(message + 1, ephemeral.public, KEY_LEN);
	if (!deliver_sealed(e, message, sizeof(message), from) || s->network->candidate < 0 ||
	    memcmp(s->network->sessions[s->network->candidate].renew + 1, ephemeral.public,
		   KEY_LEN))
		return;
	CHECK(tryst_renew(k2, e->chain, &ephemeral,
			  s->network->sessions[s->network->candidate].renew + 1 + KEY_LEN,
			  true) == 0);
	candidate_keys(e, k2);
	len = totals_write(totals, &t);
	CHECK(len + SHROUD_OVERHEAD <= sizeof(late));
	len = shroud_seal(&e->tx, late, totals, len, 0);
	begin(e);
	step_totals(e, false, from);
	CHECK(deliver(late, len, from) || e != &ends[HONEST]);
}

/* The honest agent dies, and another continues the run. It knows all exported combos, or all except
 * the last, which it sends again. Or the agent was stopped in order. Its combos may come from a
 * spool. */
static void step_carry_on(unsigned int how)
{
	struct end *e = &ends[HONEST];
	uint64_t slot = e->slot;
	uint8_t late[SHROUD_DATAGRAM_MAX];
	size_t late_len = 0;
	char info[100];

	if (how & 1) {
		step_totals(e, true, 0);
		step_time(0);
	}
	if (how & 2) /* half of a combo that the next agent does not know */
		step_part(e);
	/* Otherwise the handshake could be one too many in this second, or in this interval. */
	step_time(slot == TRYST_SLOTS ? TRYST_INTERVAL_NS : SECOND);
	snprintf(info, sizeof(info), "interface.0=mon0\nfilter.0=%u\nexported=%llu\n", how & 4,
		 (unsigned long long)e->frames);
	if (how & 8)
		late_len = step_turn(e, late);
	CHECK(set_up(e, (uint8_t *)info, strlen(info), protocol_clock(), 0) == e->forwards);
	CHECK(e->has_candidate);
	begin(e);
	if (!(how & 1) && e->last_len) {
		e->combos--;
		deliver_combo(e, e->last, e->last_len, 0);
	}
	step_totals(e, false, 0);
	if (late_len) /* the handshake ended its session */
		stranger(late, late_len, 0);
}

static void step(struct fuzz_input *in)
{
	uint8_t what = fuzz_number(in, 1);
	unsigned int from = what >> 4 & 1 ? 1 : 2; /* 0 is the honest sensor's own */
	size_t len;
	const uint8_t *p;

	switch (what & 15) {
	case 0:
		p = fuzz_bytes(in, fuzz_number(in, 2) % DATAGRAM_MAX, &len);
		stranger(p, len, from);
		break;
	case 1:
		step_sealed(&ends[BAD], in, from);
		break;
	case 2:
		step_piece(&ends[BAD], in, from);
		break;
	case 3:
		(what >> 5 & 1 ? step_record : step_combo)(&ends[BAD], in, from);
		break;
	case 4:
		step_frames(&ends[BAD], in, from);
		break;
	case 5:
		step_set_up(&ends[BAD + (what >> 5 & 3) % 3], in, from);
		break;
	case 6:
		begin(&ends[BAD]);
		break;
	case 7:
		ends[BAD].tx.next += (int16_t)fuzz_number(in, 2);
		break;
	case 8:
		step_time(fuzz_number(in, 2) * 1000000ULL);
		break;
	case 9:
		step_frames(&ends[HONEST], in, 0);
		break;
	case 10:
		step_totals(&ends[HONEST], false, 0);
		break;
	case 11:
		step_totals(&ends[BAD], what >> 5 & 1, from);
		break;
	case 12:
		step_changed(in, from);
		break;
	case 14:
		step_carry_on(what >> 4);
		break;
	case 15:
		step_renew(&ends[what >> 5 & 1], what >> 5 & 1 ? from : 0);
		break;
	case 13: /* the files cannot grow; a new one could */
		fcntl(output->fd, F_ADD_SEALS, F_SEAL_GROW);
		break;
	}
}

/* ---- output ---------------------------------------------------------------------------------- */

/* Readers' requirements on a frame, as far as its length shows them. */
static bool readable(uint16_t linktype, uint32_t len)
{
	return len >= (linktype == 144 || linktype == 177   ? 16
		       : linktype == 123 || linktype == 201 ? 4
		       : linktype == 197		    ? 20
							    : linktype == 204);
}

/* Counts the file's packets; every block must be whole and of an interface in its section. */
static uint64_t packets(int fd)
{
	static uint16_t linktypes[1 << 16];
	int64_t len = lseek(fd, 0, SEEK_END);
	uint32_t interfaces = 0;
	uint64_t count = 0;
	uint8_t *file = len ? mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;

	CHECK(file != MAP_FAILED);
	for (int64_t at = 0; at < len;) {
		uint32_t head[3], size;

		CHECK(at + 12 <= len);
		memcpy(head, file + at, sizeof(head));
		CHECK(head[1] >= 12 && head[1] % 4 == 0 && at + head[1] <= len);
		memcpy(&size, file + at + head[1] - 4, 4);
		CHECK(size == head[1]);
		if (head[0] == 0x0a0d0d0a)
			interfaces = 0;
		CHECK(interfaces < 1 << 16);
		if (head[0] == 1)
			memcpy(&linktypes[interfaces++], file + at + 8, 2);
		CHECK((head[0] != 6 && head[0] != 5) || head[2] < interfaces);
		if (head[0] == 6) {
			memcpy(&size, file + at + 20, 4);
			CHECK(readable(linktypes[head[2]], size));
		}
		count += head[0] == 6;
		at += head[1];
	}
	if (len)
		munmap(file, len);
	return count;
}

static void check_ledgers(uint64_t in_file)
{
	struct ledger_run sum[SENSORS];
	const struct ledger *honest = &sensors.list[HONEST]->ledger;

	for (int i = 0; i < SENSORS; i++) {
		const struct ledger *l = &sensors.list[i]->ledger;

		sum[i] = ledger_sum(l);
		CHECK(l->pending == 0);
	}
	CHECK(sum[HONEST].written + sum[BAD].written == in_file);
	CHECK(sum[HONEST].written + sum[HONEST].lost_disk + sum[HONEST].lost_refused ==
	      ends[HONEST].frames);
	CHECK(sum[HONEST].lost_disk == 0 || output->write_errors);
	CHECK(ledger_balance(honest) == 0);
	CHECK(!honest->bad_combos && !honest->bad_pieces && !honest->bad_messages);
}

static void output_begin(uint64_t rotate_bytes)
{
	static struct collector_options options = { .write = "fuzz", .events = "lines" };

	files_given = 0;
	for (int i = 0; i < FILES_MAX; i++)
		files[i] = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	lines = memfd_create("lines", MFD_CLOEXEC);
	CHECK(fcntl(lines, F_SETFL, O_APPEND) == 0);
	options.rotate_bytes = rotate_bytes;
	memset(output, 0, offsetof(struct output, buffer));
	CHECK(output_init(output, &options, &sensors, -1, &orders) == 0);
}

/* Module events are in whole lines, or counted. */
static void check_lines(void)
{
	const struct event_log *l = &output->lines;
	uint64_t said = sensors.list[HONEST]->ledger.module_events +
			sensors.list[BAD]->ledger.module_events;
	off_t len = lseek(lines, 0, SEEK_END);
	char *text = malloc(len + 1);
	uint64_t count = 0;

	CHECK(text && pread(lines, text, len, 0) == len);
	CHECK(!len || text[len - 1] == '\n');
	text[len] = 0;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		CHECK(*line == '{' && line[strlen(line) - 1] == '}');
		count++;
	}
	free(text);
	CHECK(count == l->written && l->written + l->lost + l->refused == said);
	CHECK(!l->recovered);
}

/* Returns the number of packets in all files. */
static uint64_t output_end(void)
{
	uint64_t count = 0;

	output_finish(output);
	check_lines();
	close(lines);
	for (int i = 0; i < FILES_MAX; i++) {
		count += packets(files[i]);
		close(files[i]);
	}
	return count;
}

/* ---------------------------------------------------------------------------------------------- */

static void list_sensors(void)
{
	struct sensors_line lines[SENSORS] = { 0 };
	struct sensors_file f = { .lines = lines, .count = SENSORS };

	for (int i = 0; i < SENSORS; i++) {
		snprintf(lines[i].name, sizeof(lines[i].name), "sensor-%d", i);
		lines[i].id = i + 1;
		memcpy(lines[i].public, own[i].public, KEY_LEN);
	}
	lines[BAD].linktypes = (struct linktypes){ .listed = true, .any = true };
	CHECK(sensor_list_apply(o, &f) == 0);
}

static void make_ends(void)
{
	memset(ends, 0, sizeof(ends));
	for (int i = 0; i < ENDS; i++) {
		ends[i].own = own[i];
		ends[i].run = i + 1;
		CHECK(tryst_pair(ends[i].pair, &own[i], collector.public, true, NULL) == 0);
	}
}

/* Both listed sensors have a session and a run when an input begins. */
static void begin_all(void)
{
	static const uint8_t info[] = "interface.0=mon0\nsnaplen.0=192\nexported=0\n";

	for (int i = 0; i < SENSORS; i++) {
		set_up(&ends[i], info, sizeof(info) - 1, protocol_clock(), i);
		begin(&ends[i]);
		step_totals(&ends[i], false, i);
	}
	step_time(SECOND);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	fuzz_random_init();
	fuzz_quiet();
	output = calloc(1, sizeof(*output));
	o = calloc(1, sizeof(*o));
	combos = calloc(1, sizeof(*combos));
	CHECK(combos_init(combos) == 0);
	combos->sensors = &sensors;
	combos->output = output;
	fuzz_keypair(&collector);
	for (int i = 0; i < ENDS; i++)
		fuzz_keypair(&own[i]);
	memcpy(own[IMPOSTOR].public, own[HONEST].public, KEY_LEN);
	for (int i = 0; i < ADDRESSES; i++) {
		struct sockaddr_in *a = (struct sockaddr_in *)&addresses[i];

		a->sin_family = AF_INET;
		a->sin_port = htons(1000 + i);
	}
	return 0;
}

static void world_begin(uint64_t rotate_bytes)
{
	fuzz_random_state = 1;
	now_ns = 60 * SECOND;
	memset(bytes_from, 0, sizeof(bytes_from));
	memset(bytes_to, 0, sizeof(bytes_to));
	memset(confirmed, 0, sizeof(confirmed));
	memset(o, 0, sizeof(*o));
	o->handshake.own[0] = collector;
	o->handshake.clock = protocol_clock;
	o->sensors = &sensors;
	o->combos = combos;
	sensor_list_init(o, 0);
	CHECK(table_init(&o->table, 256) == 0); /* small, so that it grows */
	output_begin(rotate_bytes);
	make_ends();
	list_sensors();
	begin_all();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_input in = { data, data + len };
	uint64_t in_file;

	world_begin(fuzz_number(&in, 1) & 1 ? ROTATE_BYTES : 0);
	while (in.p < in.end)
		step(&in);
	step_totals(&ends[HONEST], true, 0);
	step_time(SECOND);
	step_totals(&ends[HONEST], true, 0);
	step_time(SECOND);
	CHECK(sensors.list[HONEST]->final_confirmed);
	session_send_due(o, UINT64_MAX);
	in_file = output_end();
	check_ledgers(in_file);
	sensor_list_free(o);
	return 0;
}
