// SPDX-License-Identifier: GPL-2.0
/*
 * dissect_run FILE: the fields of each frame of a capture, a line each, separated by tabs. An
 * absent field is empty. The columns are those of COLUMNS in tests/dissect/dissected.py.
 *
 *     dissect_run -n TIMES FILE: prints nothing; for measurements.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/pcap_read.h"
#include "dissect/dissect.h"

static void number(const struct dissection *d, uint32_t bit, long value)
{
	if (d->has & bit)
		printf("%ld", value);
	putchar('\t');
}

static void bytes(const uint8_t *p, size_t len)
{
	for (size_t i = 0; p && i < len; i++)
		printf("%02x", p[i]);
}

static void address(const uint8_t *p)
{
	bytes(p, 6);
	putchar('\t');
}

static void line(const struct pcap_frame *f, const struct dissection *d)
{
	const uint8_t *all[DISSECT_ADDRESSES_MAX];
	unsigned int n = dissect_addresses(d, all);

	printf("%u\t%u\t%u\t", f->linktype, f->cap_len, f->orig_len);
	number(d, DISSECT_FREQUENCY, d->frequency);
	number(d, DISSECT_SIGNAL, d->signal);
	number(d, DISSECT_NOISE, d->noise);
	number(d, DISSECT_RATE, d->rate_kbps);
	number(d, DISSECT_MCS, d->mcs);
	printf("%u\t", d->phy);
	number(d, DISSECT_STREAMS, d->streams);
	number(d, DISSECT_AIRTIME, d->airtime_ns);
	number(d, DISSECT_FCS, d->has_fcs);
	number(d, DISSECT_FCS, d->bad_fcs);
	number(d, DISSECT_TYPE, d->type);
	number(d, DISSECT_TYPE, d->subtype);
	number(d, DISSECT_TYPE, d->flags);
	number(d, DISSECT_DURATION, d->duration);
	address(d->receiver);
	address(d->transmitter);
	address(d->bssid);
	address(d->source);
	address(d->destination);
	number(d, DISSECT_SEQUENCE, d->sequence);
	number(d, DISSECT_SEQUENCE, d->fragment);
	printf("%s", d->ssid ? "\"" : "");
	bytes(d->ssid, d->ssid_len);
	putchar('\t');
	number(d, DISSECT_ETHERTYPE, d->ethertype);
	printf("%u\t", d->headers_end);
	for (unsigned int i = 0; i < n; i++) {
		printf("%s", i ? "," : "");
		bytes(all[i], 6);
	}
	putchar('\t');
	bytes(f->data, f->cap_len);
	putchar('\n');
}

int main(int argc, char **argv)
{
	unsigned int times = argc == 4 && !strcmp(argv[1], "-n") ? atoi(argv[2]) : 0;
	struct pcap_reader r;
	struct pcap_frame f;
	struct dissection d;
	unsigned long sum = 0;
	int fd = argc < 2 ? -1 : open(argv[argc - 1], O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return 1;
	err = pcap_open(&r, fd);
	while (err >= 0 && (err = pcap_next(&r, &f)) > 0) {
		for (unsigned int i = 0; i < times; i++) {
			dissect_frame(&d, f.linktype, f.data, f.cap_len, f.orig_len);
			sum += d.headers_end;
		}
		if (times)
			continue;
		dissect_frame(&d, f.linktype, f.data, f.cap_len, f.orig_len);
		line(&f, &d);
	}
	if (err < 0)
		fprintf(stderr, "dissect_run: %s\n", r.why);
	else if (times)
		fprintf(stderr, "%lu\n", sum); /* nothing is optimized away */
	pcap_close(&r);
	return err < 0;
}
