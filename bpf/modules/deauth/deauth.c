// SPDX-License-Identifier: GPL-2.0
/*
 * Prints one line per event of deauth.bpf.c. In: its events, and on the sensor the totals in its
 * map `state`. Out: standard output; at the end the totals.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "deauth.h"
#include "../wifi.h"

static const char what[] =
	"Tells of floods of deauthentication and disassociation frames: when one begins, while it\n"
	"goes on and at its end; on the sensor, at the end, also how many there were of all kinds.";

static const char *kind_name(__u8 kind)
{
	return kind == DEAUTH_BEGINS ? "begins" : kind == DEAUTH_GOES_ON ? "goes on" : "ends";
}

/* IEEE 802.11-2020, table 9-49: the reasons seen in practice. */
static const char *reason_name(__u16 reason)
{
	switch (reason) {
	case 1:
		return "unspecified";
	case 2:
		return "authentication no longer valid";
	case 3:
		return "the sender leaves";
	case 4:
		return "inactivity";
	case 5:
		return "too many stations";
	case 6:
		return "frame of a station not authenticated";
	case 7:
		return "frame of a station not associated";
	case 8:
		return "the sender leaves, disassociated";
	default:
		return "see IEEE 802.11-2020, table 9-49";
	}
}

static void print_json(const struct deauth_event *e)
{
	printf("\"event\": \"%s\", \"by\": \"%s\", \"bssid\": \"%s\", \"source\": \"%s\", "
	       "\"target\": \"%s\", \"reason\": %u, \"signal_dbm\": %d, ",
	       kind_name(e->kind), e->by == DEAUTH_BY_BSSID ? "bssid" : "target",
	       wifi_mac(e->bssid).text, wifi_mac(e->source).text, wifi_mac(e->target).text,
	       e->reason, e->signal_dbm);
	printf("\"recent\": %u, \"total\": %u, \"broadcast\": %u, \"jumps\": %u, "
	       "\"lasted_ms\": %u}\n",
	       e->recent, e->total, e->broadcast, e->jumps, e->lasted_ms);
}

static void print_text(const struct deauth_event *e)
{
	printf("deauthentication flood %s: ", kind_name(e->kind));
	if (e->by == DEAUTH_BY_BSSID)
		printf("in the name of access point %s", wifi_mac(e->bssid).text);
	else
		printf("against %s, in the name of access point %s",
		       e->target[0] & 1 ? "all" : wifi_mac(e->target).text,
		       wifi_mac(e->bssid).text);
	printf("; %u frames", e->total);
	if (e->kind != DEAUTH_ENDS)
		printf(", %u in the last %u s", e->recent, DEAUTH_WINDOW_MS / 1000);
	if (e->kind != DEAUTH_BEGINS)
		printf(" in %u.%03u s", e->lasted_ms / 1000, e->lasted_ms % 1000);
	printf("; %u to all, %u out of their sender's order; reason %u (%s)\n", e->broadcast,
	       e->jumps, e->reason, reason_name(e->reason));
}

static void print(const struct wifi_options *o, const struct consumer_event *from)
{
	const struct deauth_event *e = from->data;

	if (from->len != sizeof(*e)) {
		fprintf(stderr, "deauth: an event of %u bytes is none of this deauth's\n",
			from->len);
		return;
	}
	wifi_head(o, from);
	if (o->json)
		print_json(e);
	else
		print_text(e);
	fflush(stdout);
}

/* ---- totals ---------------------------------------------------------------------------------- */

static void totals_reasons(const struct wifi_options *o, const struct deauth_totals *t)
{
	const char *before = "";

	for (unsigned int i = 0; i < DEAUTH_REASONS; i++) {
		if (!t->reasons[i])
			continue;
		printf(o->json ? "%s\"%u\": %llu" : "%s%u: %llu", before, i,
		       (unsigned long long)t->reasons[i]);
		before = ", ";
	}
}

static void totals_print(const struct wifi_options *o, const struct deauth_totals *t)
{
	const struct {
		const char *name;
		__u64 n;
	} counters[] = {
		{ "deauthentications", t->deauthentications },
		{ "disassociations", t->disassociations },
		{ "broadcast", t->broadcast },
		{ "retries", t->retries },
		{ "jumps", t->jumps },
		{ "protected", t->protected },
		{ "malformed", t->malformed },
		{ "floods", t->floods },
		{ "untold", t->untold },
	};

	printf(o->json ? "{\"event\": \"totals\", " : "totals: ");
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		printf(o->json ? "\"%s\": %llu, " : "%s %llu, ", counters[i].name,
		       (unsigned long long)counters[i].n);
	printf(o->json ? "\"reasons\": {" : "reasons ");
	totals_reasons(o, t);
	printf(o->json ? "}}\n" : "\n");
}

/* The map's value is larger: current floods follow the totals. */
static int totals_read(int map, struct deauth_totals *t)
{
	struct bpf_map_info info = { 0 };
	__u32 len = sizeof(info), zero = 0;
	void *value;
	int err = 0;

	if (bpf_obj_get_info_by_fd(map, &info, &len))
		return -errno;
	if (info.value_size < sizeof(*t))
		return -EPROTO;
	value = calloc(1, info.value_size);
	if (!value)
		return -ENOMEM;
	if (bpf_map_lookup_elem(map, &zero, value))
		err = -errno;
	else
		memcpy(t, value, sizeof(*t));
	free(value);
	return err;
}

static int totals(const struct wifi_options *o, struct consumer *c)
{
	struct deauth_totals t = { 0 };
	int map = consumer_map(c, "state"), err;

	if (map < 0)
		return 0;
	err = totals_read(map, &t);
	if (err)
		fprintf(stderr, "deauth: cannot read its map: %s\n", strerror(-err));
	else
		totals_print(o, &t);
	return err;
}

int main(int argc, char **argv)
{
	static struct consumer c;
	struct wifi_options o = { 0 };
	struct consumer_event e;
	int status = wifi_options(&o, argc, argv, "deauth", what, NULL), err;

	if (status >= 0)
		return status;
	wifi_signals();
	err = consumer_open(&c, "deauth");
	while (!err && !wifi_stop && (err = consumer_next(&c, &e, -1)) >= 0) {
		if (err == 1)
			print(&o, &e);
		err = 0;
	}
	err = err && err != -ENODATA ? err : totals(&o, &c);
	consumer_close(&c);
	return fflush(stdout) || err ? 1 : 0;
}
