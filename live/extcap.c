// SPDX-License-Identifier: GPL-2.0
/*
 * Extcap: see extcap.h. Wireshark starts the program whenever it lists interfaces, also while
 * captures run. This answer therefore makes no connection. The program ignores unknown words,
 * because a newer Wireshark may add some.
 */
#include "extcap.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/version.h"
#include "connect.h"
#include "directory.h"
#include "common/expression.h"
#include "select.h"

#define LIST_MS 1000

struct question {
	bool interfaces, link_types, config, capture;
	const char *interface, *filter, *fifo;
	const char *collector, *sensors, *group, *channels;
	const char *control_in, *control_out;
};

/* ---- words ----------------------------------------------------------------------------------- */

struct word {
	const char *name;
	size_t offset; /* of its value, or of its flag */
	bool flag;
};

#define VALUE(word, field)                                                                         \
	{                                                                                          \
		word, offsetof(struct question, field), false                                      \
	}
#define FLAG(word, field)                                                                          \
	{                                                                                          \
		word, offsetof(struct question, field), true                                       \
	}

static const struct word words[] = {
	FLAG("--extcap-interfaces", interfaces),
	FLAG("--extcap-dlts", link_types),
	FLAG("--extcap-config", config),
	FLAG("--capture", capture),
	VALUE("--extcap-interface", interface),
	VALUE("--extcap-capture-filter", filter),
	VALUE("--extcap-control-in", control_in),
	VALUE("--extcap-control-out", control_out),
	VALUE("--fifo", fifo),
	VALUE("--collector", collector),
	VALUE("--sensors", sensors),
	VALUE("--group", group),
	VALUE("--channel", channels),
	{ 0 },
};

static const struct word *word_find(const char *given, size_t len)
{
	const struct word *w = words;

	while (w->name && (strlen(w->name) != len || memcmp(w->name, given, len)))
		w++;
	return w->name ? w : NULL;
}

/* A value is the next word, or behind '='. */
static void read_words(struct question *q, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		size_t len = strcspn(argv[i], "=");
		const struct word *w = word_find(argv[i], len);
		void *to = w ? (char *)q + w->offset : NULL;

		if (w && w->flag)
			*(bool *)to = true;
		else if (w && argv[i][len])
			*(const char **)to = argv[i] + len + 1;
		else if (w && i + 1 < argc)
			*(const char **)to = argv[++i];
	}
}

bool extcap_is(int argc, char **argv)
{
	const char *name = argc ? strrchr(argv[0], '/') : NULL;

	name = name ? name + 1 : argc ? argv[0] : "";
	return !strcmp(name, "saluki") ||
	       (argc > 1 && (!strncmp(argv[1], "--extcap-", 9) || !strcmp(argv[1], "--capture")));
}

/* ---- answers --------------------------------------------------------------------------------- */

static void interfaces_print(void)
{
	printf("extcap {version=" SALUKI_VERSION "}{display=Saluki}\n"
	       "interface {value=saluki}{display=Saluki: frames of a collector's sensors}\n"
	       "control {number=0}{type=string}{display=Sensors}"
	       "{tooltip=Names with commas between them, @GROUP for a group; empty for all}\n"
	       "control {number=1}{type=string}{display=Filter}"
	       "{tooltip=Capture filter, see pcap-filter(7); empty for all frames}\n"
	       "control {number=2}{type=button}{role=logger}{display=Log}"
	       "{tooltip=What the viewer says}\n");
}

/* The interfaces in the stream have their own link types. */
static void link_types_print(void)
{
	printf("dlt {number=147}{name=USER0}{display=The link types of the sensors}\n");
}

static bool is_group_of_earlier(const struct directory *d, uint32_t i)
{
	for (uint32_t n = 0; n < i; n++)
		if (d->list[n].listed && !strcmp(d->list[n].group, d->list[i].group))
			return true;
	return !*d->list[i].group;
}

static void sensors_print(const struct directory *d)
{
	for (uint32_t i = 0; i < d->count; i++)
		if (d->list[i].listed && !is_group_of_earlier(d, i))
			printf("value {arg=1}{value=@%s}{display=Group %s}\n", d->list[i].group,
			       d->list[i].group);
	for (uint32_t i = 0; i < d->count; i++) {
		const struct live_sensor *s = &d->list[i];

		if (!s->listed)
			continue;
		printf("value {arg=1}{value=%s}{display=%s}", s->name, s->name);
		if (*s->group)
			printf("{parent=@%s}", s->group);
		printf("\n");
	}
}

/* Returns false if the collector does not answer in time. */
static bool directory_ask(struct directory *d, const char *collector)
{
	struct source s;

	if (collector && *collector && !strchr(collector, '/'))
		return false; /* another machine */
	if (connect_now(collector && *collector ? collector : LIVE_PATH, &s, LIST_MS))
		return false;
	directory_update(d, &s);
	source_unmap(&s);
	return d->count > 0;
}

static void config_print(const char *collector)
{
	struct directory d = { 0 };
	bool known = directory_ask(&d, collector);

	printf("arg {number=0}{call=--collector}{display=Collector}{type=string}"
	       "{tooltip=Empty for this machine; USER@HOST for another by ssh; or a socket's "
	       "path}\n"
	       "arg {number=1}{call=--sensors}{display=Sensors}{type=%s}%s"
	       "{tooltip=%s}\n"
	       "arg {number=2}{call=--group}{display=Group}{type=string}"
	       "{tooltip=Only this group's sensors; empty for all}\n"
	       "arg {number=3}{call=--channel}{display=Channels}{type=string}"
	       "{tooltip=Only frames heard on these channels, such as 1,6,36; empty for all}\n",
	       known ? "multicheck" : "string", known ? "{reload=true}{placeholder=Load}" : "",
	       known ? "None for all"
		     : "Names with commas between them, @GROUP for a group; empty for all");
	if (known)
		sensors_print(&d);
	directory_free(&d);
}

/* Wireshark expects no output for a valid filter. */
static void filter_check(const char *filter)
{
	struct expression e = { 0 };
	char why[EXPRESSION_WHY_MAX] = "out of memory";

	if (expression_set(&e, filter, why))
		printf("%s\n", why);
	expression_free(&e);
}

/* ---- capture --------------------------------------------------------------------------------- */

static int capture(struct live_options *o, const struct question *q)
{
	char why[SELECT_WHY_MAX];
	static struct select x;

	if (!q->fifo) {
		log_line("--fifo PATH is missing; Wireshark gives it");
		return 2;
	}
	*o = (struct live_options){ .collector = q->collector && *q->collector ? q->collector
									       : LIVE_PATH,
				    .sensors = q->sensors,
				    .group = q->group,
				    .channels = q->channels,
				    .write = q->fifo,
				    .extcap = true,
				    .control_in = q->control_in,
				    .control_out = q->control_out };
	if (o->channels && select_channels(&x, o->channels, why)) {
		log_line("channels %s: %s", o->channels, why);
		return 1;
	}
	o->expression = strdup(q->filter ? q->filter : "");
	return o->expression ? 0 : 1;
}

int extcap_answer(struct live_options *o, int argc, char **argv)
{
	struct question q = { 0 };

	read_words(&q, argc, argv);
	if (q.capture)
		return capture(o, &q);
	if (q.interfaces)
		interfaces_print();
	else if (q.link_types)
		link_types_print();
	else if (q.config)
		config_print(q.collector);
	else if (q.filter)
		filter_check(q.filter);
	return fflush(stdout) ? 1 : -1;
}
