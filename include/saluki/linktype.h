/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Link types: how a frame begins.
 *
 * Every frame carries its LINKTYPE_ value (https://www.tcpdump.org/linktypes.html) from the
 * capture hook to the pcapng interface block; nothing on the way assumes Ethernet. A kernel
 * interface says what it is with an ARPHRD_ value (linux/if_arp.h), translated here once.
 * Shared by BPF programs and the host: no includes.
 */
#ifndef SALUKI_LINKTYPE_H
#define SALUKI_LINKTYPE_H

enum {
	LINKTYPE_ETHERNET = 1,
	LINKTYPE_IEEE802_11 = 105,
	LINKTYPE_PRISM = 119,
	LINKTYPE_RADIOTAP = 127,
	LINKTYPE_AVS = 163, /* files only; Prism interfaces deliver this header too */
	LINKTYPE_PPI = 192, /* files only: no kernel interface delivers it */
};

/* The interface types that are captured, with their ARPHRD_ values spelled out because
 * vmlinux.h has no macros. */
enum {
	SALUKI_ARPHRD_ETHER = 1,
	SALUKI_ARPHRD_LOOPBACK = 772, /* Ethernet headers of zeros */
	SALUKI_ARPHRD_IEEE80211 = 801,
	SALUKI_ARPHRD_IEEE80211_PRISM = 802,
	SALUKI_ARPHRD_IEEE80211_RADIOTAP = 803,
};

/* Returns the LINKTYPE_ of a kernel interface type, or -1 if Saluki does not capture it. */
static inline int linktype_from_arphrd(int arphrd)
{
	switch (arphrd) {
	case SALUKI_ARPHRD_ETHER:
	case SALUKI_ARPHRD_LOOPBACK:
		return LINKTYPE_ETHERNET;
	case SALUKI_ARPHRD_IEEE80211:
		return LINKTYPE_IEEE802_11;
	case SALUKI_ARPHRD_IEEE80211_PRISM:
		return LINKTYPE_PRISM;
	case SALUKI_ARPHRD_IEEE80211_RADIOTAP:
		return LINKTYPE_RADIOTAP;
	default:
		return -1;
	}
}

/* True if frames are 802.11, after any header: there `--keep headers` is the default. */
static inline int linktype_is_80211(int linktype)
{
	return linktype == LINKTYPE_IEEE802_11 || linktype == LINKTYPE_PRISM ||
	       linktype == LINKTYPE_RADIOTAP || linktype == LINKTYPE_AVS ||
	       linktype == LINKTYPE_PPI;
}

/* True for link types that a collector accepts from any sensor. Others must be listed in the
 * sensor's line of the sensors file. */
static inline int linktype_is_default(int linktype)
{
	return linktype == LINKTYPE_ETHERNET || linktype_is_80211(linktype);
}

/* True if bpf/trim.h can find the end of the headers. */
static inline int linktype_has_trim(int linktype)
{
	return linktype == LINKTYPE_ETHERNET || linktype_is_80211(linktype);
}

#endif
