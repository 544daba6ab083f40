/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Modules: small programs that operators load into the kernel to inspect every captured frame.
 * After "Open Packet Monitoring on FLAME" (Anagnostakis, Greenwald, Ioannidis, Miltchev). This file
 * has all that an author needs. A module is one C file with one function,
 *
 *     #include <saluki/module.h>
 *
 *     int module(struct frame_view *v)
 *     {
 *             ...
 *             return 0;
 *     }
 *
 * compiled for BPF (`make module SRC=x.bpf.c`), signed (`saluki module sign`) and loaded (`saluki
 * module load`) if the sensor's policy allows its actions. docs/modules.md is the tutorial.
 *
 * A module sees the fields that the capture's parser finds and the policy allows. It cannot reach
 * the frame's bytes. It may write into the view: no other module sees this, and the next frame has
 * a new view. It keeps state in its own maps, and reports by events (module_emit). Times are
 * nanoseconds of CLOCK_MONOTONIC, numbers have the host's byte order, addresses are as on the wire.
 * Field names are those of the RFCs and of IEEE 802.11-2020.
 */
#ifndef SALUKI_MODULE_H
#define SALUKI_MODULE_H

#ifdef __bpf__
#ifndef __VMLINUX_H__
#include <linux/bpf.h>
#include <linux/types.h>
#endif
#include <bpf/bpf_helpers.h>
#else
#include <linux/types.h>
#endif

/* This file's version, which a module's signature names. It rises when the view of modules compiled
 * with an earlier version would change. */
#define MODULE_INTERFACE 2

#define MODULE_NAME_MAX 31     /* characters: letters, digits, '-' and '_' */
#define MODULE_PAYLOAD_MAX 128 /* bytes of payload in a view, at most */
#define MODULE_EVENT_MAX 64    /* bytes of an event, at most */

/* Bits of `has`: the groups of fields in a view. A bit is clear, and its fields are 0, if the frame
 * lacks the group or the policy does not show it. */
enum {
	VIEW_RADIOTAP = 1 << 0, /* mhz .. tail_bits */
	VIEW_MAC = 1 << 1,	/* addr */
	VIEW_SSID = 1 << 2,	/* ssid */
	VIEW_IP = 1 << 3,	/* saddr, daddr */
	VIEW_PORTS = 1 << 4,	/* sport, dport */
	VIEW_PAYLOAD = 1 << 5,	/* payload */
	VIEW_LABEL = 1 << 6,	/* label */
	/* These need no grant: */
	VIEW_DOT11 = 1 << 16,	 /* frame_control .. timestamp_us, bad_fcs, mpdu_len */
	VIEW_NETWORK = 1 << 17,	 /* ip_version .. ip_len */
	VIEW_TCP = 1 << 18,	 /* tcp_seq .. tcp_flags, */
	VIEW_ICMP = 1 << 19,	 /* or icmp_type, icmp_code */
	VIEW_TRANSPORT = 1 << 20 /* payload_len */
};

/* How a frame was sent: `phy`. */
enum {
	VIEW_PHY_UNKNOWN,
	VIEW_PHY_DSSS, /* and CCK: 802.11b */
	VIEW_PHY_OFDM, /* 802.11a and g */
	VIEW_PHY_HT,
	VIEW_PHY_VHT,
	VIEW_PHY_HE
};

/* One frame. Each group of fields is whole words of 8 bytes. Rarely used groups come last: the
 * shorter the part of the view that modules access, the less a frame costs. */
struct frame_view {
	__u64 time_ns;	 /* at the capture hook */
	__u32 has;	 /* VIEW_ */
	__u32 frame_len; /* length of the frame at the hook in bytes */
	__u16 linktype;	 /* LINKTYPE_ value */
	__u8 direction;	 /* 1 in, 2 out */
	__u8 pad0;
	__u16 ethertype;    /* of the innermost header with one; 0: none */
	__u16 payload_seen; /* bytes of payload below */

	/* 802.11. */
	__u16 frame_control;   /* as on the air, in host byte order */
	__u16 duration;	       /* microseconds */
	__u16 sequence;	       /* sequence control: fragment in the lowest 4 bits */
	__u16 reason;	       /* of deauthentication and disassociation frames */
	__u16 beacon_interval; /* of beacons and probe responses, in units of 1,024 us */
	__u16 capability;
	__u32 channel;	    /* named by a beacon or probe response; 0: none */
	__u64 timestamp_us; /* of a beacon or probe response: its sender's clock */

	/* IP and its payload. Later fragments have only these fields. */
	__u8 ip_version; /* 4 or 6 */
	__u8 ip_protocol;
	__u8 ttl; /* or hop limit */
	__u8 tos; /* or traffic class */
	__u16 ip_id;
	__u16 ip_fragment; /* flags and offset, as in an IPv4 header */
	__u16 ip_len;	   /* bytes of the packet, header included */
	__u16 tcp_window;
	__u8 tcp_flags;
	__u8 icmp_type, icmp_code;
	__u8 bad_fcs; /* 802.11: 1 if the FCS is wrong, so any field may be wrong */
	__u32 tcp_seq, tcp_ack;
	__u32 payload_len; /* bytes after the transport header, by the IP header */
	__u16 vlan;	   /* TCI of the outermost tag; 0: none */
	__u16 mpdu_len;	   /* 802.11: bytes on the air, header and FCS included */

	/* VIEW_MAC. 802.11: address 1 to 4; Ethernet: destination, source. */
	__u8 addr[4][6];

	/* VIEW_IP. IPv4: the first 4 bytes. */
	__u8 saddr[16], daddr[16];

	/* VIEW_PORTS */
	__u16 sport, dport;
	__u32 pad4;

	/* VIEW_LABEL: a keyed hash of the parts of an IP packet that do not change from hop to hop:
	 * addresses, length, identification, fragment, protocol and the first bytes after IP's
	 * headers, except the transport checksum, which cards fill in. All sensors of a fleet share
	 * the key, so a packet has the same label on each (Duffield and Grossglauser, "Trajectory
	 * Sampling for Direct Traffic Observation"). */
	__u64 label;

	/* The event, set by module_emit. */
	__u64 event_len;
	__u8 event[MODULE_EVENT_MAX];

	/* VIEW_PAYLOAD: the first bytes after the transport header, as many as the policy shows.
	 */
	__u8 payload[MODULE_PAYLOAD_MAX];

	/* VIEW_RADIOTAP */
	__u16 mhz;
	__s8 signal_dbm, noise_dbm; /* 0: not said */
	__u32 rate_kbps;	    /* 0: not said */
	__u64 tsft_us;		    /* 0: not said */
	__u8 phy;		    /* VIEW_PHY_ */
	__u8 mcs, streams;	    /* HT, VHT, HE: modulation and coding, spatial streams */
	__u8 is_ampdu;		    /* the frame is part of an A-MPDU */
	__u32 ampdu;		    /* the A-MPDU's number */
	/* The parts of its airtime (IEEE 802.11-2020: 15.3, 16.3, 17.4, 19.4, 21.4; HE:
	 * 802.11ax-2021, 27.4). preamble_ns: preamble, headers and signal extension; 0: not known.
	 * Then whole steps of symbol_ns, one symbol or with STBC two, for the frame with service
	 * and tail bits. symbol_ns 0: the rate gives the time of the bits. */
	__u32 preamble_ns;
	__u16 symbol_ns;
	__u16 tail_bits;

	/* VIEW_SSID */
	__u8 ssid[32];
	__u8 ssid_len; /* 0 with VIEW_SSID: a hidden SSID */
	__u8 pad3[7];
};
_Static_assert(sizeof(struct frame_view) == 424, "a view is ABI between modules and the capture");

#ifdef __bpf__

/* Sends an event of `len` bytes, at most MODULE_EVENT_MAX, to the collector, after its frame, and
 * to the module's consumer on the sensor. A frame has one event: a second call replaces the first.
 * Events above the policy's rate are dropped and counted. */
#define module_emit(v, data, len)                                                                  \
	do {                                                                                       \
		_Static_assert((len) > 0 && (len) <= MODULE_EVENT_MAX, "an event is too long");    \
		__builtin_memcpy((v)->event, (data), (len));                                       \
		(v)->event_len = (len);                                                            \
	} while (0)

/* Returns whether to inspect this frame, at random, one in `n`. Needs the helper
 * get_prandom_u32. */
#define module_sample(n) (bpf_get_prandom_u32() % (n) == 0)

/* `v` is never NULL. The return value is ignored. */
int module(struct frame_view *v);

char LICENSE[] SEC("license") = "GPL";

#endif
#endif
