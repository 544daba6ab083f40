/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reader of capture files: pcap (microseconds and nanoseconds, both byte orders) and pcapng
 * (draft-ietf-opsawg-pcapng; any number of sections and of interfaces with link types of their
 * own, which is why this is not libpcap). Streams: standard input will do. The sensor
 * (-r), the swarm and tests read with it.
 */
#ifndef COMMON_PCAP_READ_H
#define COMMON_PCAP_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PCAP_BLOCK_MAX (1024 * 1024) /* larger blocks are taken as corruption */
#define PCAP_INTERFACES_MAX 256

struct pcap_interface {
	uint16_t linktype;
	uint32_t snaplen; /* 0: no limit */
	uint64_t ticks;	  /* a second */
	int64_t offset_s; /* added to every stamp */
};

struct pcap_frame {
	uint64_t time_ns; /* since 1970-01-01 UTC; 0 where the file has none */
	uint32_t orig_len, cap_len;
	uint16_t linktype;
	const uint8_t *data; /* cap_len bytes, until the next call */
};

struct pcap_reader {
	int fd;
	const char *why; /* what is wrong with the file, static text */
	uint64_t offset; /* bytes read so far: where it is wrong */
	bool is_pcapng, swapped;
	bool pipe, started;
	uint8_t *block;	 /* PCAP_BLOCK_MAX bytes */
	uint8_t *buffer; /* read ahead */
	size_t buffer_at, buffer_len;
	struct pcap_interface interfaces[PCAP_INTERFACES_MAX];
	unsigned int interface_count;
};

/* Takes the descriptor over and all memory there will be. Returns 0 or -ENOMEM; pcap_close is due
 * in any case. */
int pcap_init(struct pcap_reader *r, int fd);
/* Reads the file's header. Returns 0, -EBADMSG or -errno with `why` set. */
int pcap_start(struct pcap_reader *r);
/* Both. */
int pcap_open(struct pcap_reader *r, int fd);
void pcap_close(struct pcap_reader *r);
/* Returns whether pcap_next (before pcap_start: that) can go on without waiting, because what it
 * reads next is there whole, or its end is; waits for it `timeout_ms`. For pipes: a writer that
 * stops in mid-frame must not hold up the frames before it. */
bool pcap_ready(struct pcap_reader *r, int timeout_ms);
/* Returns 1 with the next frame, 0 at the end, -EBADMSG or -errno with `why` set. With
 * `pipe`, -EAGAIN where blocks without a frame were read and the next is not there yet. */
int pcap_next(struct pcap_reader *r, struct pcap_frame *f);

#endif
