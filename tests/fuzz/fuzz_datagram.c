// SPDX-License-Identifier: GPL-2.0
/* links: collector/open.o collector/reassemble.o collector/decompress.o collector/sensors.o
 * collector/ledger.o collector/output.o collector/pcapng.o collector/files.o wire/seal.o
 * wire/keys.o wire/combo.o wire/totals.o wire/forms.o wire/fields.o wire/combo_open.o
 * wire/dictionary.o wire/info.o collector/interfaces.o */
/*
 * The collector's whole way, from the datagram to the file. Input: whether files are rotated, then
 * a list of steps, each of them a datagram of a stranger, a rightly sealed one of a sensor gone
 * bad, one of an honest sensor, the honest one's agent dying and another one carrying its run on,
 * time that passes, or a disk that is full from now on. Always holds:
 * every datagram is in exactly one counter; a stranger's changes nothing else; no address gets more
 * bytes than came from it; the honest sensor's frames are all written or lost to the disk, whatever
 * the others do; the files are whole, and hold what the ledgers say.
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/time.h>

#include <saluki/privsep.h>

#include "collector/files.h"
#include "collector/open.h"
#include "fuzz_random.h"
#include "wire/totals.h"

#define ADDRESSES 4
#define REPLAYER 3 /* sends again what others have sent */
#define FILES_MAX 4
#define ROTATE_BYTES 4096
#define DATAGRAM_MAX 2048 /* collector/receive.h cuts there */

/* The impostor has the honest sensor's public key and not the secret one. */
enum { HONEST = 0, BAD = 1, SENSORS = 2, UNLISTED = 2, IMPOSTOR = 3, ENDS = 4 };

/* What a sensor has on its side. */
struct end {
	struct seal_initiator initiator;
	struct seal_session session, candidate;
	bool has_candidate;
	uint64_t time, run;
	uint64_t combos, frames;	  /* exported so far, by a sensor that says the truth */
	uint8_t last[COMBO_SIZE_MIN * 2]; /* the last combo that was, as sent */
	size_t last_len;
};

static struct open *o;
static struct sensors sensors;
static struct output *output;
static struct orders orders;
static int files_socket, files_peer, files[FILES_MAX];
static struct end ends[ENDS];
static uint64_t now_ns;
static struct sockaddr_storage addresses[ADDRESSES];
static uint64_t bytes_from[ADDRESSES], bytes_to[ADDRESSES];
static uint8_t sent[256]; /* the last datagram the collector sent */
static size_t sent_len;

/* What everything is reset to. */
static struct sensor fresh_sensors[SENSORS];
static struct open *fresh_open;
static struct end fresh_ends[ENDS];
static uint64_t fresh_random, fresh_from[ADDRESSES], fresh_to[ADDRESSES];

/* In place of libc's: the collector's only way to talk back. */
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
	bytes_to[i] += len;
	CHECK(bytes_to[i] <= bytes_from[i]);
	memcpy(sent, data, len);
	sent_len = len;
	return len;
}

/* ---- the way in ------------------------------------------------------------------------------ */

static uint64_t refused(void)
{
	const struct open_counters *c = &o->counters;

	return c->not_ours + c->unknown_session + c->not_authentic + c->replayed + c->bad_inits +
	       c->limited_inits + c->replayed_inits + c->unknown_sensors;
}

static uint64_t heard_bytes(void)
{
	return sensors.list[HONEST].ledger.received_bytes + sensors.list[BAD].ledger.received_bytes;
}

/* Returns whether the datagram was taken; if not, a counter says so. */
static bool deliver(const uint8_t *datagram, size_t len, unsigned int from)
{
	uint64_t refused_before = refused(), heard_before = heard_bytes();
	uint64_t count = o->counters.datagrams;
	uint8_t *copy = fuzz_copy(datagram, len);
	bool answered, heard;

	bytes_from[from] += len;
	sent_len = 0;
	open_datagram(o, copy, len, &addresses[from], sizeof(struct sockaddr_in), now_ns);
	fuzz_free(copy);
	answered = sent_len == SEAL_ANSWER_LEN && sent[0] == SEAL_ANSWER;
	heard = heard_bytes() == heard_before + len && len;
	CHECK(o->counters.datagrams == count + 1);
	CHECK(refused() - refused_before + answered + heard == 1);
	for (int i = 0; i < SENSORS; i++)
		CHECK(sensors.list[i].reassembly.held <= REASSEMBLE_SLOTS);
	return answered || heard;
}

static void stranger(const uint8_t *datagram, size_t len, unsigned int from)
{
	static struct sensor before[SENSORS];

	memcpy(before, sensors.list, sizeof(before));
	CHECK(!deliver(datagram, len, from));
	CHECK(!memcmp(before, sensors.list, sizeof(before)));
}

/* Sets a session up; the sensor uses it when it `begin`s. */
static void set_up(struct end *e, const uint8_t *info, size_t len, uint64_t time, unsigned int from)
{
	uint8_t out[SEAL_INIT_MAX];
	long n = seal_init(&e->initiator, out, time, e->run, info, len);
	uint16_t id;

	CHECK(n > 0);
	if (!deliver(out, n, from))
		return;
	CHECK(e < &ends[SENSORS] && time > e->time);
	e->time = time;
	CHECK(seal_finish(&e->initiator, &e->candidate, &id, sent, sent_len) == 0);
	e->has_candidate = true;
	stranger(out, n, REPLAYER);
}

static void begin(struct end *e)
{
	if (e->has_candidate)
		e->session = e->candidate;
	e->has_candidate = false;
}

static bool deliver_sealed(struct end *e, const uint8_t *message, size_t len, unsigned int from)
{
	uint8_t out[DATAGRAM_MAX];
	size_t n = seal_datagram(&e->session.tx, out, message, len);
	bool taken = deliver(out, n, from);

	if (taken)
		stranger(out, n, REPLAYER);
	return taken;
}

/* Sends a combo in as many pieces as it takes. */
static void deliver_combo(struct end *e, const uint8_t *combo, size_t len, unsigned int from)
{
	uint8_t message[PIECE_HEADER_LEN + PIECE_DATA_MAX];

	for (size_t at = 0; at < len; at += PIECE_DATA_MAX) {
		size_t n = len - at < PIECE_DATA_MAX ? len - at : PIECE_DATA_MAX;

		piece_header_write(message, e->combos, at, len);
		memcpy(message + PIECE_HEADER_LEN, combo + at, n);
		deliver_sealed(e, message, PIECE_HEADER_LEN + n, from);
	}
	e->combos++;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Frames as they are captured, from either sensor, so that the bad one has something to spoil. */
static void step_frames(struct end *e, struct fuzz_input *in, unsigned int from)
{
	static uint8_t combo[COMBO_WIRE_MAX];
	uint16_t id = sensors.list[e - ends].id;
	struct combo c;

	CHECK(combo_init(&c, COMBO_SIZE_MIN, COMBO_SIZE_MIN) == 0);
	for (int left = fuzz_number(in, 1) % 8; left >= 0; left--) {
		struct combo_frame f = { .time_ns = now_ns + c.frames,
					 .linktype = fuzz_number(in, 1) & 1 ? 127 : 1 };
		size_t len;

		f.data = fuzz_bytes(in, fuzz_number(in, 1), &len);
		f.kept_len = f.orig_len = len;
		if (combo_fits(&c, len))
			combo_append(&c, &f);
	}
	c.first = e->frames;
	e->frames += c.frames;
	combo_close(&c);
	combo_header_write(combo, id, e->combos, c.frames, c.body_len);
	combo[COMBO_HEADER_LEN] = COMBO_STORED;
	memcpy(combo + COMBO_HEADER_LEN + COMBO_CODEC_LEN, c.body, c.body_len);
	e->last_len = COMBO_HEADER_LEN + COMBO_CODEC_LEN + c.body_len;
	CHECK(e->last_len <= sizeof(e->last));
	memcpy(e->last, combo, e->last_len);
	deliver_combo(e, combo, e->last_len, from);
	combo_free(&c);
}

/* The first piece of the next combo, which will be another one when it comes. */
static void step_part(struct end *e)
{
	uint8_t message[PIECE_HEADER_LEN + PIECE_DATA_MAX] = { 0 };

	piece_header_write(message, e->combos, 0, 2 * PIECE_DATA_MAX);
	deliver_sealed(e, message, sizeof(message), 0);
}

/* A combo whose header is right, of bytes that are not. */
static void step_combo(struct end *e, struct fuzz_input *in, unsigned int from)
{
	static uint8_t combo[COMBO_WIRE_MAX];
	uint32_t frames = fuzz_number(in, 2) % COMBO_FRAMES_MAX + 1, stated = fuzz_number(in, 2);
	uint8_t codec = fuzz_number(in, 1);
	size_t len, at = COMBO_HEADER_LEN + COMBO_CODEC_LEN;
	const uint8_t *body = fuzz_bytes(in, fuzz_number(in, 2) % COMBO_BODY_MAX, &len);

	combo_header_write(combo, sensors.list[e - ends].id, e->combos, frames,
			   codec == COMBO_STORED ? len : stated);
	combo[COMBO_HEADER_LEN] = codec;
	memcpy(combo + at, body, len);
	deliver_combo(e, combo, at + len, from);
}

static void step_piece(struct end *e, struct fuzz_input *in, unsigned int from)
{
	uint8_t message[PIECE_HEADER_LEN + PIECE_DATA_MAX];
	uint64_t combo = e->combos + (int8_t)fuzz_number(in, 1);
	uint16_t offset = fuzz_number(in, 1) % 32 * PIECE_DATA_MAX, total = fuzz_number(in, 2);
	size_t len = total > offset ? total - offset : fuzz_number(in, 1);

	if (len > PIECE_DATA_MAX)
		len = PIECE_DATA_MAX;
	memset(message, 0, sizeof(message));
	piece_header_write(message, combo, offset, total);
	deliver_sealed(e, message, PIECE_HEADER_LEN + len, from);
}

static void step_sealed(struct end *e, struct fuzz_input *in, unsigned int from)
{
	uint8_t message[1400] = { 0 };
	size_t len;
	const uint8_t *p = fuzz_bytes(in, fuzz_number(in, 2) % sizeof(message), &len);

	memcpy(message, p, len);
	deliver_sealed(e, message, len, from);
}

static void step_set_up(struct end *e, struct fuzz_input *in, unsigned int from)
{
	int8_t later = fuzz_number(in, 1);
	size_t len;
	const uint8_t *info = fuzz_bytes(in, fuzz_number(in, 2) % (SEAL_INFO_MAX + 1), &len);

	if (later & 1) { /* another run */
		e->run++;
		e->combos = e->frames = 0;
	}
	set_up(e, info, len, e->time + later, from);
	if (later & 2)
		begin(e);
}

/* A datagram of the honest sensor with a bit changed on its way. */
static void step_changed(struct fuzz_input *in, unsigned int from)
{
	uint8_t out[DATAGRAM_MAX] = { 0 };
	struct seal_tx tx = ends[HONEST].session.tx;
	size_t len, bit = fuzz_number(in, 2);
	const uint8_t *p = fuzz_bytes(in, fuzz_number(in, 1), &len);
	size_t n = seal_datagram(&tx, out, p, len);

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
	open_tick(o, now_ns);
	output_tick(output, now_ns);
}

/* The honest sensor's agent dies and another one carries the run on, which knows all that was
 * exported, or all but the last combo: then it sends that again. Or it was stopped in order. */
static void step_carry_on(unsigned int how)
{
	struct end *e = &ends[HONEST];
	char info[100];

	if (how & 1) {
		step_totals(e, true, 0);
		step_time(0);
	}
	if (how & 2) /* half of something that nobody will know of */
		step_part(e);
	step_time(1000000000); /* or the set-up could be one too many in this second */
	snprintf(info, sizeof(info), "interface.0=mon0\nfilter.0=%u\nexported=%llu\n", how & 4,
		 (unsigned long long)e->frames);
	set_up(e, (uint8_t *)info, strlen(info), e->time + 1, 0);
	begin(e);
	if (!(how & 1) && e->last_len) {
		e->combos--;
		deliver_combo(e, e->last, e->last_len, 0);
	}
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
		step_combo(&ends[BAD], in, from);
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
		ends[BAD].session.tx.counter += (int16_t)fuzz_number(in, 2);
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
	case 13: /* no file can grow any more; a new one could */
		fcntl(output->fd, F_ADD_SEALS, F_SEAL_GROW);
		break;
	}
}

/* ---- the way out ----------------------------------------------------------------------------- */

/* The file's packets; every block must be whole and of an interface of its section. */
static uint64_t packets(int fd)
{
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
		interfaces = head[0] == 0x0a0d0d0a ? 0 : interfaces + (head[0] == 1);
		CHECK((head[0] != 6 && head[0] != 5) || head[2] < interfaces);
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

	for (int i = 0; i < SENSORS; i++) {
		sum[i] = ledger_sum(&sensors.list[i].ledger);
		CHECK(sum[i].sensor.exported ==
		      sum[i].earlier + sum[i].written + sum[i].lost_missing + sum[i].lost_disk);
		CHECK(sensors.list[i].ledger.pending == 0);
	}
	CHECK(sum[HONEST].written + sum[BAD].written == in_file);
	CHECK(sum[HONEST].written + sum[HONEST].lost_disk == ends[HONEST].frames);
	CHECK(sum[HONEST].lost_disk == 0 || output->write_errors);
	CHECK(ledger_balance(&sensors.list[HONEST].ledger) == 0);
	CHECK(!sensors.list[HONEST].ledger.bad_combos && !sensors.list[HONEST].ledger.bad_pieces &&
	      !sensors.list[HONEST].ledger.bad_messages);
}

/* The files that output.c asks for over a socket are answered before it asks; when there is none
 * left it gets an error. */
static void output_begin(uint64_t rotate_bytes)
{
	static struct collector_options options = { .write = "fuzz" };
	static const struct timeval soon = { .tv_usec = 1000 };
	struct files_answer a = { .name = "fuzz" };
	int pair[2];

	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
	setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof(soon));
	for (int i = 0; i < FILES_MAX; i++) {
		files[i] = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		CHECK(privsep_send(pair[1], &a, sizeof(a), &files[i], 1) == 0);
	}
	files_socket = pair[0];
	files_peer = pair[1];
	options.rotate_bytes = rotate_bytes;
	memset(output, 0, offsetof(struct output, buffer));
	CHECK(output_init(output, &options, &sensors, files_socket, &orders) == 0);
}

/* Returns the packets in all files. */
static uint64_t output_end(void)
{
	uint64_t count = 0;

	output_finish(output);
	for (int i = 0; i < FILES_MAX; i++) {
		count += packets(files[i]);
		close(files[i]);
	}
	close(files_socket);
	close(files_peer);
	return count;
}

/* ---------------------------------------------------------------------------------------------- */

static void read_sensors(const struct keypair *pairs)
{
	char text[SENSORS][100], all[200] = "", key[KEY_TEXT_LEN], path[64];
	int fd;

	for (int i = 0; i < SENSORS; i++) {
		key_to_text(key, pairs[i].public);
		snprintf(text[i], sizeof(text[i]), "sensor-%d %d %s\n", i, i + 1, key);
		strcat(all, text[i]);
	}
	fd = fuzz_file(all, strlen(all));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CHECK(sensors_read(&sensors, path) == 0);
	close(fd);
}

static void make_ends(void)
{
	struct keypair pairs[ENDS];

	for (int i = 0; i < ENDS; i++) {
		fuzz_keypair(&pairs[i]);
		ends[i].initiator.own = pairs[i];
		ends[i].run = i + 1;
		memcpy(ends[i].initiator.peer, o->own.public, KEY_LEN);
	}
	memcpy(ends[IMPOSTOR].initiator.own.public, pairs[HONEST].public, KEY_LEN);
	read_sensors(pairs);
	for (int i = 0; i < ADDRESSES; i++) {
		struct sockaddr_in *a = (struct sockaddr_in *)&addresses[i];

		a->sin_family = AF_INET;
		a->sin_port = htons(1000 + i);
	}
}

/* Both listed sensors have a session and a run when an input begins. */
static void begin_all(void)
{
	static const uint8_t info[] = "interface.0=mon0\nsnaplen.0=192\nexported=0\n";

	output_begin(0);
	now_ns = 1000000000;
	for (int i = 0; i < SENSORS; i++) {
		set_up(&ends[i], info, sizeof(info) - 1, 1000, i);
		begin(&ends[i]);
		step_totals(&ends[i], false, i);
	}
	step_time(0);
	output_end();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	fuzz_random_init();
	fuzz_quiet();
	o = calloc(1, sizeof(*o));
	fresh_open = calloc(1, sizeof(*o));
	output = calloc(1, sizeof(*output));
	o->decompress = calloc(1, sizeof(*o->decompress));
	CHECK(decompress_init(o->decompress) == 0);
	o->sensors = &sensors;
	o->output = output;
	fuzz_keypair(&o->own);
	make_ends();
	begin_all();
	memcpy(fresh_sensors, sensors.list, sizeof(fresh_sensors));
	memcpy(fresh_open, o, sizeof(*o));
	memcpy(fresh_ends, ends, sizeof(ends));
	memcpy(fresh_from, bytes_from, sizeof(fresh_from));
	memcpy(fresh_to, bytes_to, sizeof(fresh_to));
	fresh_random = fuzz_random_state;
	return 0;
}

static void reset(void)
{
	for (int i = 0; i < SENSORS; i++)
		reassemble_free(&sensors.list[i].reassembly);
	memcpy(sensors.list, fresh_sensors, sizeof(fresh_sensors));
	memcpy(o, fresh_open, sizeof(*o));
	memcpy(ends, fresh_ends, sizeof(ends));
	memcpy(bytes_from, fresh_from, sizeof(bytes_from));
	memcpy(bytes_to, fresh_to, sizeof(bytes_to));
	fuzz_random_state = fresh_random;
	now_ns = 2000000000;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_input in = { data, data + len };

	reset();
	output_begin(fuzz_number(&in, 1) & 1 ? ROTATE_BYTES : 0);
	while (in.p < in.end)
		step(&in);
	step_totals(&ends[HONEST], true, 0);
	step_time(0);
	CHECK(sensors.list[HONEST].final_confirmed);
	open_finish(o, now_ns);
	check_ledgers(output_end());
	return 0;
}
