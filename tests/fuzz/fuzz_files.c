// SPDX-License-Identifier: GPL-2.0
/* links: collector/files/serve.o collector/files/limit.o collector/files/event_log.o
 * collector/files/replaced.o collector/files/series.o archive/series_name.o collector/files/ring.o
 * wire/module_event.o */
/*
 * The collector's privileged process, asked by an unprivileged one under an attacker's control.
 * First byte: how the collector was started; then messages of any length, with unexpected
 * descriptors. Always holds: only files from the command line are made, existing files stay
 * unchanged, no earlier file is opened after an output file, and no descriptor stays open.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>

#include "collector/files/files.h"
#include "common/privsep.h"
#include "fuzz.h"

#define OLD "written before"
#define OLD_OF_SERIES "saluki_00007_20260101000000.pcapng"

static char folder[] = "/tmp/saluki-fuzz-XXXXXX";
static int outside; /* libFuzzer's folder, between inputs */
static bool opened; /* an output file was requested */

static void write_old(const char *name)
{
	FILE *f = fopen(name, "w");

	CHECK(f && fputs(OLD, f) >= 0 && fclose(f) == 0);
}

static void check_old(const char *name)
{
	char text[64] = "";
	FILE *f = fopen(name, "r");

	CHECK(f && fgets(text, sizeof(text), f) && !strcmp(text, OLD));
	fclose(f);
}

static bool series(const char *name)
{
	const char *digits = name + strcspn(name, "_");

	return (!strncmp(name, "out_", 4) || !strncmp(name, "old_", 4) ||
		!strncmp(name, "saluki_", 7)) &&
	       strspn(digits, "_0123456789") == 21 && !strcmp(digits + 21, ".pcapng");
}

/* A replaced file, its replacement, or the spare for a full disk. */
static bool replaced(const char *name, const char *file)
{
	size_t len = strlen(file);

	return !strncmp(name, file, len) &&
	       (!name[len] || !strcmp(name + len, ".new") || !strcmp(name + len, ".spare"));
}

/* Next to the output; the default's name. */
static bool state(const char *name)
{
	return replaced(name, "out.pcapng.state") || replaced(name, "old.pcapng.state") ||
	       replaced(name, "saluki.state");
}

/* The file of a module's lines. */
static bool of_module(const char *name)
{
	size_t len = strlen(name);

	return len > 6 && !strcmp(name + len - 6, ".jsonl") &&
	       module_event_name_is_good(name, len - 6);
}

/* Checks the folder's content, and empties it. */
static void check_folder(const struct collector_options *o)
{
	DIR *d = opendir(".");
	struct dirent *e;

	CHECK(d);
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		if (!strcmp(e->d_name, "old.pcapng") || !strcmp(e->d_name, OLD_OF_SERIES))
			check_old(e->d_name);
		else if (state(e->d_name))
			CHECK(strcmp(o->write, "-"));
		else if (!strncmp(e->d_name, "stats", 5))
			CHECK(o->stats_file && replaced(e->d_name, "stats"));
		else if (of_module(e->d_name))
			CHECK(o->events);
		else
			CHECK(series(e->d_name) || !strcmp(e->d_name, "out.pcapng"));
		CHECK(unlink(e->d_name) == 0);
	}
	closedir(d);
}

/* Returns 0, or -EPIPE if the privileged process no longer reads. */
static int ask(struct files *f, const int *pair, struct fuzz_input *in)
{
	int given[PRIVSEP_FDS_MAX] = { 1, 1, 1, 1 }, got[PRIVSEP_FDS_MAX], err;
	unsigned int count = fuzz_number(in, 1) % (PRIVSEP_FDS_MAX + 1);
	struct files_request_message m = { 0 };
	struct files_answer a;
	size_t len, name_len;
	const uint8_t *message = fuzz_bytes(in, fuzz_number(in, 1) % 4, &len), *name;

	if (len == 1 || len == 2) { /* one of the right length, with a name or without */
		m.what = message[0];
		name = fuzz_bytes(in, len == 2 ? message[1] % sizeof(m.module) : 0, &name_len);
		memcpy(m.module, name, name_len);
		message = (uint8_t *)&m;
		len = sizeof(m);
	}
	CHECK(privsep_send(pair[0], message, len, given, count) == 0);
	if (len == sizeof(m) && message != (uint8_t *)&m)
		memcpy(&m, message, len);
	err = files_answer(f, pair[1], m.what % 2 == 0);
	if (err)
		return err;
	CHECK(privsep_recv(pair[0], &a, sizeof(a), got) == 0 && a.err <= 0);
	CHECK(a.err == 0 || got[0] < 0);
	opened |= m.what == FILES_OUTPUT;
	CHECK(!opened || m.what != FILES_OLD || got[0] < 0);
	for (int i = 0; i < PRIVSEP_FDS_MAX; i++)
		if (got[i] >= 0)
			close(got[i]);
	return 0;
}

static void clean_up(void)
{
	rmdir(folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	fuzz_quiet();
	outside = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(outside >= 0 && mkdtemp(folder));
	atexit(clean_up);
	return 0;
}

static int open_descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char *const targets[] = { "out.pcapng", "old.pcapng", ".", "-" };
	struct fuzz_input in = { data, data + len };
	uint8_t how = fuzz_number(&in, 1);
	struct collector_options o = { .write = targets[how & 3], .sensors_file = "none" };
	int pair[2], before;
	struct files f;

	CHECK(chdir(folder) == 0);
	o.stats_file = how & 4 ? "stats" : NULL;
	o.rotate_bytes = how & 8;
	o.rotate_count = how & 32 ? 2 : 0;
	o.events = how & 16 ? "." : NULL;
	before = open_descriptors();
	write_old("old.pcapng");
	write_old(OLD_OF_SERIES); /* allowed, but its holder writes to it */
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	CHECK(files_init(&f, &o) == 0);
	opened = false;
	while (in.p < in.end && ask(&f, pair, &in) == 0)
		;
	close(pair[0]);
	close(pair[1]);
	files_free(&f);
	check_folder(&o);
	CHECK(open_descriptors() == before);
	CHECK(fchdir(outside) == 0);
	return 0;
}
