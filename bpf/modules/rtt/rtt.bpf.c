// SPDX-License-Identifier: GPL-2.0
/*
 * RTT: round-trip times of TCP connections that pass by, from their handshakes ("Open Packet
 * Monitoring on FLAME", section 3.1). Tells of each connection once (struct rtt_event), and
 * remembers a histogram. Takes IP addresses and ports, as they are or hashed or by their prefixes:
 * both directions are hidden alike.
 *
 * Only what answers by its numbers is a sample: a SYN/ACK that acknowledges the SYN, an ACK that
 * acknowledges the SYN/ACK. What was sent again gives none (Karn's rule), and so it is with a
 * segment that waited for something to send. What no tap can tell: a SYN/ACK that was sent again
 * where the first never got here.
 *
 * Both directions must come by: a mirror port, or `saluki run --source tc -Q inout`.
 *
 *     Show = ip, ports
 *     Helper = map_lookup_elem, map_update_elem, map_delete_elem
 *     Map = array, percpu_array, lru_hash
 */
#include <stdbool.h>

#include <saluki/module.h>

#include "rtt.h"

#define CONNECTIONS 16384 /* whose handshakes are under way; the oldest are forgotten */
#define RECENT 16384	  /* a power of two */
#define RECENT_SHIFT 30	  /* units of 2^30 ns, 1.07 s */
#define RECENT_MAX 8	  /* an ACK later than this is not waited for */
/* What comes again sooner is a copy that the tap or the network has made: nobody sends again
 * before 200 ms have passed (RFC 6298 says 1 s). */
#define COPY_NS 20000000ULL

#define BOTH_NS 10000000000ULL /* a SYN from the other side, so much earlier, was nothing to it */

#define FIN 1
#define SYN 2
#define RST 4
#define ACK 16

struct connection {
	__u64 client[2], server[2];
	__u16 client_port, server_port;
	__u32 pad;
};

struct handshake {
	__u64 syn_ns, syn_ack_ns; /* the first; 0: none yet */
	__u64 syn_last_ns, syn_ack_last_ns;
	__u32 syn_seq, syn_len; /* of the client, and bytes of data with it (RFC 7413) */
	__u32 client_next;	/* what the SYN/ACK has acknowledged */
	__u32 server_next;	/* what its ACK will acknowledge */
	__u32 flags;
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CONNECTIONS);
	__type(key, struct connection);
	__type(value, struct handshake);
} connections SEC(".maps");

/* When a SYN/ACK was last seen of connections by their hash: all other segments are let go without
 * a look at `connections`, which costs more than all else here. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RECENT);
	__type(key, __u32);
	__type(value, __u32);
} recent SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, RTT_HISTOGRAM);
	__type(key, __u32);
	__type(value, __u64);
} histogram SEC(".maps");

/* ---- connections ----------------------------------------------------------------------------- */

static __always_inline struct connection from_client(const struct frame_view *v)
{
	const __u64 *s = (const __u64 *)v->saddr, *d = (const __u64 *)v->daddr;

	return (struct connection){ { s[0], s[1] }, { d[0], d[1] }, v->sport, v->dport, 0 };
}

static __always_inline struct connection from_server(const struct frame_view *v)
{
	const __u64 *s = (const __u64 *)v->saddr, *d = (const __u64 *)v->daddr;

	return (struct connection){ { d[0], d[1] }, { s[0], s[1] }, v->dport, v->sport, 0 };
}

static __always_inline __u32 *recent_of(const struct connection *c)
{
	__u64 h = c->client[0] ^ c->server[1];
	__u32 i;

	h = (h ^ h >> 32) * 0x9e3779b97f4a7c15ULL;
	h ^= c->server[0] ^ c->client[1];
	h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9ULL;
	h ^= (__u64)c->client_port << 16 | c->server_port;
	h = (h ^ h >> 32) * 0x94d049bb133111ebULL;
	i = h >> 40 & (RECENT - 1);
	return bpf_map_lookup_elem(&recent, &i);
}

static __always_inline bool is_recent(const struct connection *c, __u64 now)
{
	__u32 *when = recent_of(c);

	/* 0 is never: nothing was seen yet. */
	return when && *when && (__u32)(now >> RECENT_SHIFT) + 1 - *when <= RECENT_MAX;
}

static __always_inline void make_recent(const struct connection *c, __u64 now)
{
	__u32 *when = recent_of(c);

	if (when)
		*when = (now >> RECENT_SHIFT) + 1;
}

/* ---- samples --------------------------------------------------------------------------------- */

static __always_inline void count(__u32 kind, __u64 ns)
{
	__u32 i = kind * RTT_BUCKETS + rtt_bucket(ns);
	__u64 *n = bpf_map_lookup_elem(&histogram, &i);

	if (n)
		(*n)++;
}

static __always_inline __u64 server_half(const struct handshake *h)
{
	return h->syn_ack_ns && !(h->flags & RTT_SYN_AGAIN) ? h->syn_ack_ns - h->syn_ns : 0;
}

/* The handshake is over: says so, and forgets it. `client_ns`: 0, where that half is not known. */
static __always_inline void over(struct frame_view *v, const struct connection *c,
				 const struct handshake *h, __u32 flags, __u64 client_ns)
{
	__u64 server_ns = server_half(h);
	struct rtt_event e = {
		.client_port = c->client_port,
		.server_port = c->server_port,
		.ip_version = v->ip_version,
		.flags = h->flags | flags,
		.server_ns = server_ns,
		.client_ns = client_ns,
	};

	__builtin_memcpy(e.client, c->client, 16);
	__builtin_memcpy(e.server, c->server, 16);
	if (server_ns)
		count(RTT_SERVER, server_ns);
	if (client_ns)
		count(RTT_CLIENT, client_ns);
	if (server_ns && client_ns)
		count(RTT_WHOLE, server_ns + client_ns);
	module_emit(v, &e, sizeof(e));
	bpf_map_delete_elem(&connections, c);
}

/* ---- segments -------------------------------------------------------------------------------- */

/* The same SYN again, or that of another connection with the same ports. */
static __always_inline void take_syn(struct frame_view *v)
{
	struct connection c = from_client(v), other = from_server(v);
	struct handshake *h = bpf_map_lookup_elem(&connections, &c), first = { 0 };

	if (h && h->syn_seq == v->tcp_seq) {
		if (v->time_ns - h->syn_last_ns > COPY_NS)
			h->flags |= RTT_SYN_AGAIN;
		h->syn_last_ns = v->time_ns;
		return;
	}
	first.syn_ns = first.syn_last_ns = v->time_ns;
	first.syn_seq = v->tcp_seq;
	first.syn_len = v->payload_len;
	h = bpf_map_lookup_elem(&connections, &other);
	if (h && !h->syn_ack_ns && v->time_ns - h->syn_last_ns < BOTH_NS) {
		h->flags |= RTT_BOTH_OPEN;
		first.flags |= RTT_BOTH_OPEN;
	}
	bpf_map_update_elem(&connections, &c, &first, BPF_ANY);
}

/* Whether `ack` is of the SYN, or of that and of data that came with it. */
static __always_inline bool acknowledges(const struct handshake *h, __u32 ack)
{
	return ack - (h->syn_seq + 1) <= h->syn_len;
}

static __always_inline void take_syn_ack(struct frame_view *v)
{
	struct connection c = from_server(v);
	struct handshake *h = bpf_map_lookup_elem(&connections, &c);

	if (!h || !acknowledges(h, v->tcp_ack))
		return;
	if (!h->syn_ack_ns)
		h->syn_ack_ns = v->time_ns;
	else if (h->server_next != v->tcp_seq + 1 || v->time_ns - h->syn_ack_last_ns > COPY_NS)
		h->flags |= RTT_SYN_ACK_AGAIN;
	h->syn_ack_last_ns = v->time_ns;
	h->client_next = v->tcp_ack;
	h->server_next = v->tcp_seq + 1;
	make_recent(&c, v->time_ns);
}

/* The first segment of the client's that has the SYN/ACK behind it. One with data may have waited
 * for that; one that acknowledges more was not the first. */
static __always_inline void take_ack(struct frame_view *v)
{
	struct connection c = from_client(v);
	struct handshake *h;
	__u32 flags = 0;

	if (!is_recent(&c, v->time_ns))
		return;
	h = bpf_map_lookup_elem(&connections, &c);
	if (!h || !h->syn_ack_ns || (__s32)(v->tcp_ack - h->server_next) < 0 ||
	    (__s32)(v->tcp_seq - h->client_next) < 0)
		return;
	if (v->tcp_seq != h->client_next || v->tcp_ack != h->server_next || v->payload_len ||
	    (v->tcp_flags & FIN))
		flags = RTT_LATE_ACK;
	over(v, &c, h, flags,
	     flags || (h->flags & (RTT_SYN_ACK_AGAIN | RTT_BOTH_OPEN))
		     ? 0
		     : v->time_ns - h->syn_ack_ns);
}

/* Of the server: the answer to the SYN, or the end of what it has answered. Of the client: the end.
 * Either by its numbers, so that nobody else ends it. */
static __always_inline void take_rst(struct frame_view *v)
{
	struct connection c = from_server(v);
	struct handshake *h = bpf_map_lookup_elem(&connections, &c);

	if (h && (v->tcp_flags & ACK) && acknowledges(h, v->tcp_ack)) {
		if (h->syn_ack_ns) {
			over(v, &c, h, RTT_RESET, 0);
			return;
		}
		h->syn_ack_ns = v->time_ns;
		over(v, &c, h, RTT_REFUSED, 0);
		return;
	}
	c = from_client(v);
	h = bpf_map_lookup_elem(&connections, &c);
	if (h && acknowledges(h, v->tcp_seq))
		over(v, &c, h, RTT_RESET, 0);
}

int module(struct frame_view *v)
{
	const __u32 wanted = VIEW_IP | VIEW_PORTS | VIEW_TCP | VIEW_TRANSPORT;

	if ((v->has & wanted) != wanted)
		return 0;
	switch (v->tcp_flags & (FIN | SYN | RST | ACK)) {
	case ACK:
	case ACK | FIN:
		take_ack(v);
		break;
	case SYN:
		take_syn(v);
		break;
	case SYN | ACK:
		take_syn_ack(v);
		break;
	case RST:
	case RST | ACK:
		take_rst(v);
		break;
	}
	return 0;
}
