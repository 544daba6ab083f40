/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Blocks of a pcapng file (draft-ietf-opsawg-pcapng), written in this machine's byte order with
 * nanosecond stamps. Every function writes one whole block at `out` and returns its length.
 */
#ifndef COLLECTOR_OUTPUT_PCAPNG_H
#define COLLECTOR_OUTPUT_PCAPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pcapng/combo_name.h"
#include "pcapng/section.h"
#include "wire/clock_readings.h"
#include "wire/combo.h"
#include "wire/dwell.h"

/* The most bytes that each function writes, without the frame's bytes. */
#define PCAPNG_META_MAX 4096
#define PCAPNG_PACKET_OVERHEAD 48
#define PCAPNG_NAME_LEN 44 /* bytes that a name adds */
/* The comment of a frame with SALUKI_UNSETTLED, and the bytes that it adds. */
#define PCAPNG_UNSETTLED FRAME_UNSETTLED
#define PCAPNG_UNSETTLED_LEN 48
#define PCAPNG_DWELL_MAX 384	     /* a dwell's block, with a name */
#define PCAPNG_READINGS_MAX 480	     /* a block of clock readings, with a name */
#define PCAPNG_CLOCK_MAX 80	     /* a watermark's block, or an offset's */
#define PCAPNG_MODULE_EVENT_MAX 1024 /* a module event's block, with a name */
#define PCAPNG_COVERAGE_MAX 24576
#define PCAPNG_STATISTICS_MAX (PCAPNG_META_MAX + PCAPNG_COVERAGE_MAX)

struct pcapng_interface {
	uint16_t linktype;
	uint32_t snaplen;
	const char *name, *description, *filter, *os, *comment; /* NULL or "": left out */
};

struct pcapng_statistics {
	uint32_t interface;
	uint64_t time_ns, start_ns;
	uint64_t received, dropped, accepted, os_dropped, delivered;
	const char *comment;
	const char *coverage; /* another comment, below PCAPNG_COVERAGE_MAX bytes; NULL: none */
};

struct pcapng_clock_offset {
	int64_t ahead_ns;
	uint64_t round_trip_ns; /* 0: not measured */
	uint64_t realtime_ns;	/* the collector's clock at that time */
};

/* Comments (pcapng/section.h) may be NULL or "". */
size_t pcapng_section(uint8_t *out, const char *os, const char *application, const char *ring,
		      const char *keep_free);
size_t pcapng_interface(uint8_t *out, const struct pcapng_interface *i);
/* `name`: for a combo's first block, else NULL. */
size_t pcapng_packet(uint8_t *out, uint32_t interface, const struct combo_frame *f,
		     const struct combo_name *name);
size_t pcapng_statistics(uint8_t *out, const struct pcapng_statistics *s);
/* Statistics of a dwell's time, with a comment about the channel. */
size_t pcapng_dwell(uint8_t *out, uint32_t interface, const struct dwell *d,
		    const struct combo_name *name);
/* Statistics without counts, which have the clocks' readings as an option (OPT_CLOCK). Programs
 * that show frames do not show them. */
size_t pcapng_readings(uint8_t *out, uint32_t interface, const struct clock_readings *r,
		       const struct combo_name *name);
/* The same for a time before which the file has all frames of the interface's sensor. */
size_t pcapng_watermark(uint8_t *out, uint32_t interface, uint64_t before_ns);
/* The same for the sensor's clock as compared with the collector's. */
size_t pcapng_offset(uint8_t *out, uint32_t interface, const struct pcapng_clock_offset *o);
/* Changes the interface of a packet block or statistics block. */
void pcapng_set_interface(uint8_t *block, uint32_t interface);
/* A module's event, as a line of JSON (event_json.h) of `len` bytes: a custom block of enterprise
 * 32473 that tools may copy. It has the line's length 4, in network byte order, the line, padded to
 * 4, and options. */
size_t pcapng_module_event(uint8_t *out, const char *line, size_t len,
			   const struct combo_name *name);

#endif
