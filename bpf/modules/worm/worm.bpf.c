// SPDX-License-Identifier: GPL-2.0
/*
 * Worm: reports content that many hosts send to many hosts (worm.h), and packets that match an
 * operator's signature. In: payloads of TCP and UDP. Memory and the work per frame are bounded:
 * rare content costs a hash and a lookup in a sketch.
 *
 * Worms that are not found:
 * - worms whose first 64 bytes differ between copies (polymorphic, encrypted, or with a random
 *   header), or whose segments differ. Later bytes may differ. A signature can match the common
 *   part.
 * - payloads below 40 bytes, other protocols, and later fragments;
 * - worms with less than one copy in about 2 seconds on this interface, as the sketch decays;
 * - worms from or to fewer than 30 hosts per minute. A false alarm: identical content that many
 *   hosts send to many at one port, such as the greeting of a peer-to-peer protocol. See `ignore`
 *   in the settings.
 *
 * Hashes have no key. An attacker gains nothing from collisions: a worm can avoid this module with
 * different content in each copy.
 *
 * Needs: Show = ip, ports, payload 64 (128 for signatures that begin late; addresses may be
 * pseudonyms); Helper = map_lookup_elem, map_update_elem; Map = array, percpu_array, lru_hash;
 * MapMemory = 2M and 256K per CPU; Instructions = 32000, most for 8 signatures of the same port.
 * Without signatures, a frame takes some hundred instructions.
 */
#include <saluki/module.h>

#include "worm.h"

#define NULL ((void *)0)
#define PAYLOAD_WORDS (WORM_CONTENT / 8)

/* Bytes to a word, the first byte lowest, and back. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define little(word) (word)
#else
#define little(word) __builtin_bswap64(word)
#endif

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct worm_settings);
} settings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct worm_signatures);
} signatures SEC(".maps");

/* ---- hashes ---------------------------------------------------------------------------------- */

static __always_inline __u64 finish(__u64 hash)
{
	hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdULL; /* MurmurHash3's finalizer */
	hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53ULL;
	return hash ^ hash >> 33;
}

/* Returns a word of the payload. Bytes beyond its `n` bytes are 0, whatever an earlier frame left.
 */
static __always_inline __u64 payload_word(const struct frame_view *v, __u32 i, __u32 n)
{
	__u64 word = little(((const __u64 *)v->payload)[i]);

	if (n >= i * 8 + 8)
		return word;
	return n > i * 8 ? word & ((1ULL << (n - i * 8) * 8) - 1) : 0;
}

/* Each word has its own multiplier, so that the CPU can multiply them in parallel. */
static __always_inline __u64 content_of(const struct frame_view *v)
{
	__u32 n = v->payload_seen < WORM_CONTENT ? v->payload_seen : WORM_CONTENT;
	__u64 hash = (__u64)n << 32 | v->dport << 8 | v->ip_protocol,
	      factor = 0x9e3779b97f4a7c15ULL;

#pragma unroll
	for (__u32 i = 0; i < PAYLOAD_WORDS; i++) {
		__u64 product = payload_word(v, i, n) * factor;

		hash += product ^ product >> 32;
		factor = factor * 0xd1342543de82ef95ULL | 1;
	}
	return finish(hash);
}

static __always_inline __u64 address_hash(const __u8 *address)
{
	const __u64 *words = (const __u64 *)address;

	return finish(words[0] ^ finish(words[1] + 1));
}

/* ---- the sketch: repeated content ------------------------------------------------- */

#define CELLS 4096 /* per part */
#define PARTS 32   /* 131,072 counts per CPU */
#define EPOCH 32   /* bits of ns: counts are halved every 4.3 s */
#define COPIES 3   /* from so many on, content gets an entry (EarlyBird) */
#define COUNT_MAX 255
#define LOOKS_MAX 65536 /* new entries per epoch: beyond, more copies are needed */

struct sketch {
	__u16 cells[CELLS]; /* epoch << 8 | count */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PARTS);
	__type(key, __u32);
	__type(value, struct sketch);
} sketches SEC(".maps");

/* Returns how many copies content needs for an entry. With so much new content that cells are
 * shared, it is more than COPIES. Then a worm still gets an entry, and other content does not. */
struct pressure {
	__u32 epoch, looks, copies;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pressure);
} pressures SEC(".maps");

static __always_inline int is_enough(__u32 count, __u8 epoch)
{
	__u32 zero = 0;
	struct pressure *p = bpf_map_lookup_elem(&pressures, &zero);

	if (!p)
		return 0;
	if (p->epoch != epoch) {
		p->epoch = epoch;
		p->looks = 0;
		p->copies /= 2;
	}
	if (p->copies < COPIES)
		p->copies = COPIES;
	if (count < p->copies)
		return 0;
	if (++p->looks >= LOOKS_MAX && p->copies < COUNT_MAX / 2) {
		p->looks = 0;
		p->copies *= 2;
	}
	return 1;
}

/* Counts a copy. Returns whether the content has enough copies for an entry. */
static __always_inline int sketch_count(__u64 content, __u64 now)
{
	__u32 part = content >> 12 & (PARTS - 1), count, age;
	struct sketch *s = bpf_map_lookup_elem(&sketches, &part);
	__u8 epoch = now >> EPOCH;
	__u16 *cell;

	if (!s)
		return 0;
	cell = &s->cells[content & (CELLS - 1)];
	age = (__u8)(epoch - (*cell >> 8));
	count = age < 8 ? (*cell & COUNT_MAX) >> age : 0;
	count += count < COUNT_MAX;
	*cell = epoch << 8 | count;
	return count >= COPIES && is_enough(count, epoch);
}

/* ---- content with an entry --------------------------------------------------------------- */

#define SECOND_NS 1000000000ULL

#define CONTENTS 4096 /* a power of two */
#define LIFE_MAX 64

struct content {
	__u64 content, first_ns;
	__u32 count, said; /* copies, and copies at the last report; 0: never */
	__u32 bytes_said;
	__u32 life; /* how many others it keeps out: at most as many as its copies */
	__u64 sources[WORM_LEVELS], destinations[WORM_LEVELS];
};

/* Each content has one place in an array. A hash map's lookup would cost as much as all the
 * rest. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CONTENTS);
	__type(key, __u32);
	__type(value, struct content);
} contents SEC(".maps");

/* Returns NULL if other content has its place. */
static __always_inline struct content *content_find(__u64 content, __u64 now)
{
	__u32 place = content >> 32 & (CONTENTS - 1);
	struct content *c = bpf_map_lookup_elem(&contents, &place);

	if (!c)
		return NULL;
	if (c->content == content) {
		c->life += c->life < LIFE_MAX;
		return c;
	}
	if (c->life) {
		c->life--;
		return NULL;
	}
	*c = (struct content){
		.content = content,
		.first_ns = now,
		.count = COPIES - 1, /* counted by the sketch */
		.life = 1,
	};
	return c;
}

/* If two CPUs set bits at once, one bit may be lost. The next copy sets it. */
static __always_inline void spread_add(__u64 bitmap[WORM_LEVELS], const __u8 *address)
{
	__u64 hash = address_hash(address), bit = 1ULL << (hash & 63);

	bitmap[0] |= bit;
	if (!(hash >> 6 & ((1 << WORM_LEVEL_SHIFT) - 1)))
		bitmap[1] |= bit;
	if (!(hash >> 6 & ((1 << 2 * WORM_LEVEL_SHIFT) - 1)))
		bitmap[2] |= bit;
}

static __always_inline void spread_say(__u8 bits[WORM_LEVELS], const __u64 bitmap[WORM_LEVELS])
{
#pragma unroll
	for (int i = 0; i < WORM_LEVELS; i++)
		bits[i] = __builtin_popcountll(bitmap[i]);
}

static __always_inline void describe(struct worm_event *e, const struct frame_view *v, __u8 kind)
{
	e->kind = kind;
	e->ip_version = v->ip_version;
	e->ip_protocol = v->ip_protocol;
	e->port = v->dport;
}

static __always_inline void addresses(struct worm_event *e, const struct frame_view *v)
{
	e->payload_len = v->payload_len;
	__builtin_memcpy(e->saddr, v->saddr, sizeof(e->saddr));
	__builtin_memcpy(e->daddr, v->daddr, sizeof(e->daddr));
}

/* Reports the content's first bytes, from which an operator can make a signature. */
static __always_inline void say_bytes(struct frame_view *v, __u64 content)
{
	struct worm_event e = { .content = content };
	__u64 *out = (__u64 *)e.bytes;

	describe(&e, v, WORM_BYTES);
	e.len = v->payload_seen < sizeof(e.bytes) ? v->payload_seen : sizeof(e.bytes);
#pragma unroll
	for (__u32 i = 0; i < sizeof(e.bytes) / 8; i++)
		out[i] = little(payload_word(v, i, e.len));
	module_emit(v, &e, sizeof(e));
}

static __always_inline int is_ignored(const struct worm_settings *s, __u16 port)
{
	int ignored = 0;

#pragma unroll
	for (int i = 0; i < WORM_IGNORE; i++)
		ignored |= s->ignore[i] && s->ignore[i] == port;
	return ignored;
}

static __always_inline int is_outbreak(const struct worm_settings *s, const struct content *c,
				       __u16 port)
{
	__u32 sources = s->source_bits ?: WORM_SPREAD_BITS;
	__u32 destinations = s->destination_bits ?: WORM_SPREAD_BITS;

	return c->count >= (s->prevalence ?: WORM_PREVALENCE) &&
	       (__u32)__builtin_popcountll(c->sources[0]) >= sources &&
	       (__u32)__builtin_popcountll(c->destinations[0]) >= destinations &&
	       !is_ignored(s, port);
}

static __always_inline void say_outbreak(struct frame_view *v, const struct content *c,
					 __u64 content)
{
	struct worm_event e = { .content = content, .count = c->count };

	describe(&e, v, WORM_OUTBREAK);
	e.since_ms = (v->time_ns - c->first_ns) / 1000000;
	spread_say(e.source_bits, c->sources);
	spread_say(e.destination_bits, c->destinations);
	addresses(&e, v);
	module_emit(v, &e, sizeof(e));
}

static __always_inline void look(struct frame_view *v, __u64 content)
{
	struct content *c = content_find(content, v->time_ns);
	__u32 zero = 0;
	struct worm_settings *s = bpf_map_lookup_elem(&settings, &zero);

	if (!c || !s)
		return;
	if (v->time_ns - c->first_ns > (s->window_s ?: WORM_WINDOW_S) * SECOND_NS)
		*c = (struct content){ .content = content,
				       .first_ns = v->time_ns,
				       .life = c->life };
	c->count++;
	spread_add(c->sources, v->saddr);
	spread_add(c->destinations, v->daddr);
	if (c->said && !c->bytes_said) {
		c->bytes_said = 1;
		say_bytes(v, content);
	} else if (c->count >= 2 * c->said && is_outbreak(s, c, v->dport)) {
		c->said = c->count; /* next report at twice the copies */
		say_outbreak(v, c, content);
	}
}

/* ---- signatures ------------------------------------------------------------------------------ */

struct hit {
	__u64 since_ns, count;
};

/* Sources per signature. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, struct hit);
} hits SEC(".maps");

/* Scratch space in the view. The verifier tracks no values there, so paths do not multiply. */
struct search {
	__u64 pattern[2], mask[2], found;
};
_Static_assert(sizeof(struct search) <= MODULE_EVENT_MAX, "it has an event's place");

/* Returns 1 for 0, else 0. No branch, as the verifier would follow both ways at each position. */
static __always_inline __u64 is_zero(__u64 x)
{
	x |= -x;
	asm volatile("" : "+r"(x));
	return x >> 63 ^ 1;
}

/* Returns a bit for each of the 8 positions in a payload's word where the pattern begins. */
static __always_inline __u64 match_word(const __u64 *words, const volatile struct search *m)
{
	__u64 a = little(words[0]), b = little(words[1]), c = little(words[2]), found = 0;

#pragma unroll
	for (int at = 0; at < 8; at++) {
		__u64 miss = (a ^ m->pattern[0]) & m->mask[0];

		miss |= (b ^ m->pattern[1]) & m->mask[1];
		found |= is_zero(miss) << at;
		a = a >> 8 | b << 56;
		b = b >> 8 | c << 56;
		c >>= 8;
	}
	return found;
}

/* Searches all words, also where the pattern may not begin: each branch would double the paths. */
static __always_inline void match_words(struct frame_view *v, const struct worm_signature *s)
{
	volatile struct search *m = (volatile struct search *)v->event;
	const __u64 *words = (const __u64 *)v->payload;

	for (int i = 0; i < 2; i++) {
		m->pattern[i] = little(((const __u64 *)s->pattern)[i]);
		m->mask[i] = little(((const __u64 *)s->mask)[i]);
	}
	m->found = 0;
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < WORM_SPAN / 8; i++)
		m->found |= match_word(words + ((s->from / 8 + i) & 15), m) << i * 8;
}

static __always_inline int match(struct frame_view *v, const struct worm_signature *s)
{
	const volatile struct search *m = (const volatile struct search *)v->event;
	__u32 first, span;
	long room;

	match_words(v, s);
	first = *(volatile __u8 *)&s->from;
	span = *(volatile __u8 *)&s->to - first;
	room = (long)*(volatile __u16 *)&v->payload_seen - s->len - first;
	if (room < 0 || span >= WORM_SPAN)
		return 0; /* later bytes are another frame's */
	span = span < room ? span : room;
	return (m->found >> (first & 7) & ((2ULL << span) - 1)) != 0;
}

static __always_inline void say_hit(struct frame_view *v, __u32 id)
{
	__u64 key = address_hash(v->saddr) + id;
	struct hit *h = bpf_map_lookup_elem(&hits, &key), new = { v->time_ns, 1 };
	struct worm_event e = { .content = id };

	if (h && v->time_ns - h->since_ns < 60 * SECOND_NS) {
		h->count++;
		return;
	}
	e.count = h ? h->count : 1;
	if (h)
		*h = new;
	else
		bpf_map_update_elem(&hits, &key, &new, BPF_ANY);
	describe(&e, v, WORM_HIT);
	addresses(&e, v);
	module_emit(v, &e, sizeof(e));
}

static __always_inline int is_for(const struct worm_signature *s, struct frame_view *v)
{
	return !(((v->dport ^ s->port) & s->port_mask) |
		 ((v->ip_protocol ^ s->protocol) & s->protocol_mask));
}

static __always_inline void search(struct frame_view *v)
{
	__u32 zero = 0, id = 0, any = 0;
	struct worm_signatures *list = bpf_map_lookup_elem(&signatures, &zero);

	if (!list)
		return;
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < WORM_SIGNATURES; i++) {
		const struct worm_signature *s = &list->list[i];

		if (i >= *(volatile __u32 *)&list->count)
			break;
		if (!is_for(s, v) || !match(v, s))
			continue;
		id = s->id;
		any = 1;
		break;
	}
	if (any)
		say_hit(v, id);
}

/* If a frame matches a signature and is an outbreak, it reports the signature. A later frame
 * reports the outbreak. */
int module(struct frame_view *v)
{
	__u64 content;

	if ((v->has & (VIEW_PAYLOAD | VIEW_PORTS)) != (VIEW_PAYLOAD | VIEW_PORTS))
		return 0;
	search(v);
	if (!(v->has & VIEW_IP) || v->payload_seen < WORM_CONTENT_MIN)
		return 0;
	content = content_of(v);
	if (sketch_count(content, v->time_ns))
		look(v, content);
	return 0;
}
