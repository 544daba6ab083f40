// SPDX-License-Identifier: GPL-2.0
/*
 * RTT: measures round-trip times of passing TCP connections from their handshakes ("Open Packet
 * Monitoring on FLAME", section 3.1). Reports each connection once (struct rtt_event), and keeps a
 * histogram. Needs IP addresses and ports, plain or as pseudonyms: both directions have the same
 * pseudonyms.
 *
 * A sample needs matching sequence numbers: a SYN/ACK that acknowledges the SYN, an ACK that
 * acknowledges the SYN/ACK. A retransmission gives no sample (Karn's rule), nor does an ACK that
 * waited for data. One case cannot be detected: a retransmitted SYN/ACK whose first copy was lost
 * before the tap.
 *
 * The sensor must see both directions: a mirror port, or `saluki run --source tc -Q inout`.
 *
 *     Show = ip, ports
 *     Helper = map_lookup_elem, map_update_elem, map_delete_elem
 *     Map = array, percpu_array, lru_hash
 */
#include <stdbool.h>

#include <saluki/module.h>

#include "rtt.h"

#define CONNECTIONS 16384 /* in their handshake; the oldest are evicted */
#define RECENT 16384	  /* a power of two */
#define RECENT_SHIFT 30	  /* units of 2^30 ns, 1.07 s */
#define RECENT_MAX 8	  /* a later ACK is not measured */
/* A segment that repeats sooner is a copy made by the tap or the network. No TCP retransmits before
 * 200 ms (RFC 6298 demands 1 s). */
#define COPY_NS 20000000ULL

#define BOTH_NS 10000000000ULL /* an older SYN from the other side is unrelated */

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
	__u32 syn_seq, syn_len; /* of the client, and its bytes of data (RFC 7413) */
	__u32 client_next;	/* number that the SYN/ACK acknowledged */
	__u32 server_next;	/* number that its ACK will acknowledge */
	__u32 flags;
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CONNECTIONS);
	__type(key, struct connection);
	__type(value, struct handshake);
} connections SEC(".maps");

/* Time of the last SYN/ACK, by the connection's hash. Other segments skip the lookup in
 * `connections`, the most expensive step. */
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

	/* 0 means no time, so the value is never 0. */
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

/* Ends a handshake: reports and deletes it. `client_ns`: 0 if that half is not known. */
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

/* A repeated SYN, or the SYN of a new connection with the same ports. */
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

/* Whether `ack` acknowledges the SYN, or the SYN and its data. */
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

/* The client's first segment after the SYN/ACK. A segment with data may have waited for the data.
 * One that acknowledges more was not the first. */
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

/* A RST. From the server, it answers the SYN or ends the connection; from the client, it ends the
 * connection. Its sequence number must match, so that forged ones have no effect. */
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
