// SPDX-License-Identifier: GPL-2.0
/* saluki-merge receptions: prints who has heard what. In: an untrusted trace. Out: a line with tabs
 * for each reception; the first line names the columns. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "common/log.h"
#include "merge/output/trace.h"

#define IDS 65536

const struct option_def receptions_defs[] = {
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

/* Sensors' names from interface blocks. */
struct names {
	FILE *out;
	char *of[IDS]; /* by the sensor's id */
	uint16_t mhz[65536];
	uint32_t interfaces;
	uint64_t packets, receptions; /* of the file */
};

static void help(void)
{
	printf("Usage: saluki-merge receptions FILE...\n\n"
	       "Prints all receptions of a unified trace, a line each, with tabs between the "
	       "columns.\n"
	       "The first line names the columns.\n\n");
	options_print(stdout, receptions_defs);
	printf("\nExit status: 0 finished, 1 failed, 2 bad usage.\n");
}

/* Names are from the file, and tabs and other control characters would break the table. */
static void learn(struct names *n, struct pcapng_block *b)
{
	struct pcapng_interface i;
	unsigned int id, mhz = 0;
	char name[64];

	pcapng_interface(b, &i);
	if (pcapng_sensor(i.description, name, sizeof(name), &id)) {
		log_clean(name);
		free(n->of[id]);
		n->of[id] = strdup(name);
	} else if (sscanf(i.description, "%u MHz", &mhz) != 1) {
		mhz = 0;
	}
	if (n->interfaces < 65536)
		n->mhz[n->interfaces++] = mhz;
}

static void print_packet(struct names *n, struct pcapng_block *b)
{
	uint16_t mhz = b->interface < n->interfaces ? n->mhz[b->interface] : 0;
	struct trace_receptions all = trace_receptions(b);

	n->packets++;
	n->receptions += all.count;

	for (uint32_t i = 0; i < all.count; i++) {
		struct trace_reception r = trace_reception(&all, i);

		fprintf(n->out, "%" PRIu64 "\t%" PRId64 "\t%" PRId64 "\t", all.number,
			(int64_t)(b->ticks + r.off_ns), (int64_t)(b->ticks + r.stamp_ns));
		if (n->of[r.sensor])
			fputs(n->of[r.sensor], n->out);
		else
			fprintf(n->out, "%u", r.sensor);
		fprintf(n->out, "\t%u\t%d\t%u\t%d\t%u\t%u\t%u\n", r.interface, r.signal, mhz,
			r.off_ns, r.sigma_ns, r.flags, r.part);
	}
}

static int block(void *context, struct pcapng_block *b)
{
	struct names *n = context;

	if (b->type == BLOCK_SECTION)
		n->interfaces = 0;
	else if (b->type == BLOCK_INTERFACE)
		learn(n, b);
	else if (b->type == BLOCK_PACKET)
		print_packet(n, b);
	return ferror(n->out) ? -EPIPE : 0;
}

static int print_file(struct names *n, const char *path)
{
	int err;

	n->packets = n->receptions = 0;
	err = trace_read(path, block, n);
	if (err || !n->packets || n->receptions)
		return err;
	log_line("%s: has no receptions; give a trace that saluki-merge has written without --all",
		 path);
	return -ENODATA;
}

int receptions_main(int argc, char **argv)
{
	int status = commands_parse(receptions_defs, help, argc, argv), err = 0;
	struct names *n;

	if (status)
		return status < 0 ? 0 : status;
	n = calloc(1, sizeof(*n));
	if (!n) {
		log_line("out of memory");
		return 1;
	}
	n->out = stdout;
	puts("transmission\ttime_ns\tstamp_ns\tsensor\tinterface\tsignal_dbm\tmhz\toff_ns\tsigma_"
	     "ns\t"
	     "flags\tpart");
	for (int i = optind; !err && i < argc; i++)
		err = print_file(n, argv[i]);
	if (fflush(stdout) && errno != EPIPE) {
		log_line("standard output: %s", strerror(errno));
		err = -EIO;
	}
	for (int i = 0; i < IDS; i++)
		free(n->of[i]);
	free(n);
	return err && err != -EPIPE;
}
