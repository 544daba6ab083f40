// SPDX-License-Identifier: GPL-2.0
/*
 * Filter words: see filter_words.h. libpcap says "syntax error" without the place. Always holds: a
 * word directly after host, net or port is a name, and is never called misspelt.
 */
#include "filter_words.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "suggest.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define NAME_BYTES LETTERS "0123456789-_."

/* If several words are equally similar, the first one is proposed. */
static const char *const filter_words[] = { "type",
					    "tcp",
					    "udp",
					    "port",
					    "host",
					    "net",
					    "ip",
					    "ip6",
					    "arp",
					    "icmp",
					    "icmp6",
					    "src",
					    "dst",
					    "and",
					    "or",
					    "not",
					    "ether",
					    "wlan",
					    "vlan",
					    "subtype",
					    "mgt",
					    "ctl",
					    "data",
					    "proto",
					    "portrange",
					    "broadcast",
					    "multicast",
					    "less",
					    "greater",
					    "mask",
					    "gateway",
					    "protochain",
					    "len",
					    "length",
					    "dir",
					    "direction",
					    "addr1",
					    "addr2",
					    "addr3",
					    "addr4",
					    "address1",
					    "address2",
					    "address3",
					    "address4",
					    "ra",
					    "ta",
					    "assoc-req",
					    "assocreq",
					    "assoc-resp",
					    "assocresp",
					    "reassoc-req",
					    "reassocreq",
					    "reassoc-resp",
					    "reassocresp",
					    "probe-req",
					    "probereq",
					    "probe-resp",
					    "proberesp",
					    "beacon",
					    "atim",
					    "disassoc",
					    "disassociation",
					    "auth",
					    "authentication",
					    "deauth",
					    "deauthentication",
					    "ps-poll",
					    "rts",
					    "cts",
					    "ack",
					    "cf-end",
					    "cf-end-ack",
					    "data-cf-ack",
					    "data-cf-poll",
					    "data-cf-ack-poll",
					    "null",
					    "cf-ack",
					    "cf-poll",
					    "cf-ack-poll",
					    "qos-data",
					    "qos",
					    "tods",
					    "fromds",
					    "dstods",
					    "nods",
					    "mpls",
					    "pppoed",
					    "pppoes",
					    "geneve",
					    "rarp",
					    "sctp",
					    "igmp",
					    "igrp",
					    "pim",
					    "vrrp",
					    "carp",
					    "ah",
					    "esp",
					    "stp",
					    "iso",
					    "clnp",
					    "esis",
					    "isis",
					    "llc",
					    "lane",
					    "ipx",
					    "netbeui",
					    "atalk",
					    "aarp",
					    "decnet",
					    "lat",
					    "link",
					    "ppp",
					    "slip",
					    "fddi",
					    "tr",
					    "radio",
					    "byte",
					    "inbound",
					    "outbound",
					    "ifindex",
					    "ifname",
					    "tcpflags",
					    "tcp-syn",
					    "tcp-ack",
					    "tcp-fin",
					    "tcp-rst",
					    "tcp-push",
					    "tcp-urg",
					    "tcp-ece",
					    "tcp-cwr",
					    "icmptype",
					    "icmpcode",
					    "icmp6type",
					    "icmp6code",
					    "icmp-echo",
					    "icmp-echoreply",
					    "icmp-unreach",
					    "icmp-redirect",
					    NULL };

/* Words before a name. */
static const char *const name_words[] = { "host",    "net",  "port", "portrange",
					  "gateway", "mask", NULL };

static bool has_word(const char *const *list, const char *word, size_t len)
{
	for (; *list; list++)
		if (strlen(*list) == len && !memcmp(*list, word, len))
			return true;
	return false;
}

/* Returns a similar word, or NULL: the word is known, too short or no word. */
static const char *similar(const char *word, size_t len)
{
	struct suggest s;

	suggest_begin(&s, word, len);
	if (len < 3 || has_word(filter_words, word, len) || memchr(word, '.', len))
		return NULL;
	for (const char *const *known = filter_words; *known; known++)
		suggest_offer(&s, *known);
	return s.word;
}

const char *filter_words_hint(const char *expression, char hint[FILTER_WORDS_HINT_MAX])
{
	const char *word = expression, *found;
	bool name = false;

	snprintf(hint, FILTER_WORDS_HINT_MAX, "; see pcap-filter(7)");
	while (*(word += strcspn(word, NAME_BYTES))) {
		size_t len = strspn(word, NAME_BYTES);

		found = name || !strchr(LETTERS, *word) ? NULL : similar(word, len);
		if (found) {
			snprintf(hint, FILTER_WORDS_HINT_MAX,
				 "; '%.*s': did you mean %s? See pcap-filter(7)", (int)len, word,
				 found);
			break;
		}
		name = has_word(name_words, word, len);
		word += len;
	}
	return hint;
}
