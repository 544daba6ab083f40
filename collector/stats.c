// SPDX-License-Identifier: GPL-2.0
/* Statistics: see stats.h. */
#include "stats.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <saluki/log.h>

#include "files.h"
#include "sensors.h"

#define ULL(x) ((unsigned long long)(x))

void stats_print(const struct open *o, const struct receive *r)
{
	const struct open_counters *c = &o->counters;

	for (unsigned int i = 0; i < o->sensors->count; i++)
		if (o->sensors->list[i].ledger.runs)
			ledger_print(stderr, o->sensors->list[i].name, &o->sensors->list[i].ledger);
	log_line(
		"datagrams %llu; refused: not ours %llu, unknown session %llu, not authentic %llu, "
		"replayed %llu, bad set-ups %llu, unknown sensors %llu; dropped by kernel %llu",
		ULL(c->datagrams), ULL(c->not_ours), ULL(c->unknown_session), ULL(c->not_authentic),
		ULL(c->replayed), ULL(c->bad_inits + c->limited_inits + c->replayed_inits),
		ULL(c->unknown_sensors), ULL(receive_dropped(r)));
}

/* A file's name may hold anything. */
static void json_string(FILE *f, const char *s)
{
	putc('"', f);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			putc('\\', f);
		if ((unsigned char)*s < 32)
			fprintf(f, "\\u%04x", *s);
		else
			putc(*s, f);
	}
	putc('"', f);
}

static void json(FILE *f, const struct open *o, const struct receive *r)
{
	const char *comma = "";
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	fprintf(f, "{\"time\": %lld.%03ld, \"file\": ", (long long)t.tv_sec, t.tv_nsec / 1000000);
	json_string(f, o->output->name);
	fprintf(f, ", \"write_errors\": %llu, \"kernel_dropped\": %llu",
		ULL(o->output->write_errors), ULL(receive_dropped(r)));
#define X(name, help) fprintf(f, ", \"" #name "\": %llu", ULL(o->counters.name));
	OPEN_COUNTERS(X)
#undef X
	fprintf(f, ", \"sensors\": [");
	for (unsigned int i = 0; i < o->sensors->count; i++) {
		const struct sensor *s = &o->sensors->list[i];

		if (!s->ledger.runs)
			continue;
		fputs(comma, f);
		ledger_json(f, s->name, s->id, &s->ledger);
		comma = ",\n ";
	}
	fprintf(f, "]}\n");
}

void stats_write(const struct open *o, const struct receive *r, int files)
{
	static bool told;
	struct files_answer a;
	int fd = -1, err = files_ask(files, FILES_STATS, &a, &fd);
	FILE *f = err ? NULL : fdopen(fd, "w");

	if (!err && !f) {
		err = -errno;
		close(fd);
	}
	if (f) {
		json(f, o, r);
		err = ferror(f) ? -errno : 0;
		err = fclose(f) ? -errno : err;
		err = err ?: files_ask(files, FILES_STATS_DONE, &a, NULL);
	}
	if (err && !told)
		log_line("--stats-file: cannot be written: %s", strerror(-err));
	told = err != 0;
}
