/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Capture file reader: pcap (microseconds and nanoseconds, both byte orders) and pcapng
 * (draft-ietf-opsawg-pcapng). Unlike libpcap, it reads any number of sections, and of interfaces
 * with different link types. Files may be streams, such as standard input. The sensor (-r), the
 * swarm and tests read with it.
 */
#ifndef COMMON_PCAP_READ_H
#define COMMON_PCAP_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PCAP_BLOCK_MAX (1024 * 1024) /* larger blocks count as corrupt */
#define PCAP_INTERFACES_MAX 256	     /* of a section; more if the caller asks for them: */
#define PCAP_INTERFACES_LIVE                                                                       \
	(64 * 1024) /* a collector's stream describes new ones all the time                        \
		     */

struct pcap_interface {
	uint16_t linktype;
	uint32_t snaplen; /* 0: no limit */
	uint64_t ticks;	  /* per second */
	int64_t offset_s; /* added to every stamp */
};

struct pcap_frame {
	uint64_t time_ns; /* since 1970-01-01 UTC; 0 if the file has none */
	uint32_t orig_len, cap_len;
	uint32_t interface; /* its number in the section; 0 in a pcap file */
	uint16_t linktype;
	const uint8_t *data; /* cap_len bytes, until the next call */
};

struct pcap_reader {
	int fd;
	const char *why; /* the error, a static text */
	uint64_t offset; /* bytes read so far: the error's place */
	bool is_pcapng, swapped;
	bool pipe, started;
	uint8_t *block;	 /* PCAP_BLOCK_MAX bytes */
	uint8_t *buffer; /* read ahead */
	size_t buffer_at, buffer_len;
	struct pcap_interface *interfaces; /* of this section */
	unsigned int interface_count, interface_room;
	/* Callers may set these between pcap_init and pcap_start. */
	unsigned int interface_limit; /* above PCAP_INTERFACES_MAX, reading allocates memory */
	/* Called with each interface when its description was read. Number 0 begins a section.
	 * `name` is not terminated, and not checked: `len` bytes, 0 if it has none. Returns 0 or
	 * -ENOMEM, which ends the reading. */
	int (*described)(void *context, uint32_t number, uint16_t linktype, const char *name,
			 size_t len);
	void *context;
};

/* Takes over the descriptor, and allocates all memory (but see interface_limit). Returns 0 or
 * -ENOMEM; call pcap_close in both cases. */
int pcap_init(struct pcap_reader *r, int fd);
/* Reads the file's header. Returns 0, -EBADMSG or -errno with `why` set. */
int pcap_start(struct pcap_reader *r);
/* Both of them. */
int pcap_open(struct pcap_reader *r, int fd);
void pcap_close(struct pcap_reader *r);
/* Returns whether pcap_next (or pcap_start, if it comes next) can read a whole record, or the end,
 * without waiting. Waits up to `timeout_ms`. For pipes: a writer that stops inside a frame must not
 * delay the frames before it. */
bool pcap_ready(struct pcap_reader *r, int timeout_ms);
/* Returns 1 with the next frame, 0 at the end, -EBADMSG or -errno with `why` set. With `pipe`,
 * -EAGAIN if blocks without a frame were read and the next one is not available yet. */
int pcap_next(struct pcap_reader *r, struct pcap_frame *f);

#endif
