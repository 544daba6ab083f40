// SPDX-License-Identifier: GPL-2.0
/*
 * Extcap: see extcap.h. Wireshark starts the program whenever it lists interfaces, also while
 * captures run. This answer therefore makes no connection.
 */
#include "extcap.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/extcap.h"
#include "common/log.h"
#include "connect.h"
#include "directory.h"
#include "select.h"

#define LIST_MS 1000

struct question {
	struct extcap_call call;
	const char *collector, *sensors, *group, *channels;
};

static const struct extcap_setting settings[] = {
	{ "--collector", offsetof(struct question, collector) },
	{ "--sensors", offsetof(struct question, sensors) },
	{ "--group", offsetof(struct question, group) },
	{ "--channel", offsetof(struct question, channels) },
	{ 0 },
};

/* ---- answers --------------------------------------------------------------------------------- */

static void interfaces_print(void)
{
	extcap_print_version("Saluki");
	printf("interface {value=saluki}{display=Saluki: frames of a collector's sensors}\n"
	       "control {number=0}{type=string}{display=Sensors}"
	       "{tooltip=Names with commas between them, @GROUP for a group; empty for all}\n"
	       "control {number=1}{type=string}{display=Filter}"
	       "{tooltip=Capture filter, see pcap-filter(7); empty for all frames}\n"
	       "control {number=2}{type=button}{role=logger}{display=Log}"
	       "{tooltip=What the viewer says}\n");
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

/* ---- capture --------------------------------------------------------------------------------- */

static int capture(struct live_options *o, const struct question *q)
{
	char why[SELECT_WHY_MAX];
	static struct select x;

	if (!q->call.fifo) {
		log_line("--fifo PATH is missing; Wireshark gives it");
		return 2;
	}
	*o = (struct live_options){ .collector = q->collector && *q->collector ? q->collector
									       : LIVE_PATH,
				    .sensors = q->sensors,
				    .group = q->group,
				    .channels = q->channels,
				    .write = q->call.fifo,
				    .extcap = true,
				    .control_in = q->call.control_in,
				    .control_out = q->call.control_out };
	if (o->channels && select_channels(&x, o->channels, why)) {
		log_line("channels %s: %s", o->channels, why);
		return 1;
	}
	o->expression = strdup(q->call.filter ? q->call.filter : "");
	return o->expression ? 0 : 1;
}

int extcap_answer(struct live_options *o, int argc, char **argv)
{
	struct question q = { 0 };

	extcap_read(&q.call, settings, &q, argc, argv);
	if (q.call.capture)
		return capture(o, &q);
	if (q.call.interfaces)
		interfaces_print();
	else if (q.call.link_types)
		extcap_print_link_types();
	else if (q.call.config)
		config_print(q.collector);
	else if (q.call.filter)
		extcap_check_filter(q.call.filter);
	return fflush(stdout) ? 1 : -1;
}
