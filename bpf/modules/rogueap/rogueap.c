// SPDX-License-Identifier: GPL-2.0
/*
 * Prints one line per event of rogueap.bpf.c. In: its events, and on the sensor the totals in its
 * map. Out: standard output; at the end the totals.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "rogueap.h"
#include "../wifi.h"

static const char what[] =
	"Tells of access points that were not there during the first seconds, of new ones with a\n"
	"known name, and of two that have one address.";

static const char *const kinds[] = {
	[ROGUEAP_NEW] = "new",		 [ROGUEAP_KNOWN_NAME] = "known-name",
	[ROGUEAP_TWO] = "two",		 [ROGUEAP_REVEALED] = "revealed",
	[ROGUEAP_ANY_NAME] = "any-name", [ROGUEAP_BEACON_FLOOD] = "beacon-flood",
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const char *const differences[] = { "channel", "interval", "privacy",
					   "ssid",    "tsf",	  "sequence" };
#define DIFFERENCES (sizeof(differences) / sizeof(differences[0]))

/* "tsf", "sequence", or without quotes */
static void print_differs(__u8 differs, const char *quote)
{
	const char *before = "";

	for (size_t i = 0; i < DIFFERENCES; i++) {
		if (!(differs & 1 << i))
			continue;
		printf("%s%s%s%s", before, quote, differences[i], quote);
		before = ", ";
	}
}

static void print_json(const struct rogueap_event *e)
{
	printf("\"event\": \"%s\", \"bssid\": \"%s\", \"ssid\": \"%s\", \"hidden\": %s, "
	       "\"mhz\": %u, \"channel\": %u, \"interval\": %u, \"privacy\": %s, "
	       "\"signal_dbm\": %d, \"count\": %u, ",
	       kinds[e->kind], wifi_mac(e->bssid).text, wifi_name(e->ssid, e->ssid_len).text,
	       e->ssid_len ? "false" : "true", e->mhz, e->channel, e->interval,
	       e->privacy ? "true" : "false", e->signal_dbm, e->count);
	printf("\"other_channel\": %u, \"other_interval\": %u, \"other_privacy\": %s, "
	       "\"differs\": [",
	       e->other_channel, e->other_interval, e->other_privacy ? "true" : "false");
	print_differs(e->differs, "\"");
	printf("]}\n");
}

static void print_ap(const struct rogueap_event *e)
{
	printf("%s ", wifi_mac(e->bssid).text);
	if (e->ssid_len)
		printf("\"%s\"", wifi_name(e->ssid, e->ssid_len).text);
	else
		printf("(hidden)");
	printf(" channel %u, %s, %d dBm", e->channel, e->privacy ? "encrypted" : "open",
	       e->signal_dbm);
}

static void print_text(const struct rogueap_event *e)
{
	static const char *const begins[] = {
		[ROGUEAP_NEW] = "new access point: ",
		[ROGUEAP_KNOWN_NAME] = "new access point of a known name: ",
		[ROGUEAP_TWO] = "two access points with one address: ",
		[ROGUEAP_REVEALED] = "the name of a hidden one: ",
		[ROGUEAP_ANY_NAME] = "access point that answers to any name: ",
		[ROGUEAP_BEACON_FLOOD] = "flood of new access points, the last told of: ",
	};

	fputs(begins[e->kind], stdout);
	print_ap(e);
	if (e->kind == ROGUEAP_KNOWN_NAME && e->differs & ROGUEAP_PRIVACY)
		printf("; the known is %s", e->other_privacy ? "encrypted" : "open");
	if (e->kind == ROGUEAP_TWO) {
		printf("; they differ in ");
		print_differs(e->differs, "");
		printf("; the other: channel %u, interval %u, %s", e->other_channel,
		       e->other_interval, e->other_privacy ? "encrypted" : "open");
	}
	printf("\n");
}

static void print(const struct wifi_options *o, const struct consumer_event *from)
{
	const struct rogueap_event *e = from->data;

	if (from->len != sizeof(*e) || !e->kind || e->kind >= KINDS || e->ssid_len > 32) {
		fprintf(stderr, "rogueap: an event of %u bytes is none of this rogueap's\n",
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

static int totals(const struct wifi_options *o, struct consumer *c)
{
	int map = consumer_map(c, "totals");
	struct rogueap_totals t;
	__u32 zero = 0;

	if (map < 0)
		return 0;
	if (bpf_map_lookup_elem(map, &zero, &t)) {
		int err = -errno;

		fprintf(stderr, "rogueap: cannot read its map: %s\n", strerror(-err));
		return err;
	}
	printf(o->json ? "{\"event\": \"totals\", \"beacons\": %llu, \"responses\": %llu, "
			 "\"malformed\": %llu, \"bssids\": %llu, \"networks\": %llu, "
			 "\"hidden\": %llu, \"flooded\": %llu}\n"
		       : "totals: %llu beacons, %llu probe responses, %llu malformed, %llu "
			 "addresses, %llu names, %llu hidden, %llu not told of in floods\n",
	       t.beacons, t.responses, t.malformed, t.bssids, t.networks, t.hidden, t.flooded);
	return 0;
}

int main(int argc, char **argv)
{
	static struct consumer c;
	struct wifi_options o = { 0 };
	struct consumer_event e;
	int status = wifi_options(&o, argc, argv, "rogueap", what, NULL), err;

	if (status >= 0)
		return status;
	wifi_signals();
	err = consumer_open(&c, "rogueap");
	while (!err && !wifi_stop && (err = consumer_next(&c, &e, -1)) >= 0) {
		if (err == 1)
			print(&o, &e);
		err = 0;
	}
	err = err && err != -ENODATA ? err : totals(&o, &c);
	consumer_close(&c);
	return fflush(stdout) || err ? 1 : 0;
}
