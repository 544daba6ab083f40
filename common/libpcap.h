/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libpcap, loaded when it is first needed and not before: with it come D-Bus, systemd and gcrypt
 * libraries, for which neither program has another use, and both run without it. Then it stays: a
 * process may have given up the right to open files by the time it wants to compile again.
 */
#ifndef COMMON_LIBPCAP_H
#define COMMON_LIBPCAP_H

#include <pcap/pcap.h>
#include <stdbool.h>

#define LIBPCAP_SNAPLEN 262144 /* of the frames that expressions see, not of what is kept */

/* Zeroed: it is not loaded. */
struct libpcap {
	void *handle;
	__typeof__(pcap_open_dead) *open_dead;
	__typeof__(pcap_compile) *compile;
	__typeof__(pcap_geterr) *geterr;
	__typeof__(pcap_freecode) *freecode;
	__typeof__(pcap_close) *close;
	__typeof__(pcap_offline_filter) *match;
};

/* Returns false where it is not on this machine; then nothing of it is. */
bool libpcap_load(struct libpcap *p);

#endif
