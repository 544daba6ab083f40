// SPDX-License-Identifier: GPL-2.0
/*
 * LRD: the inner loop of the estimation of long-range dependence ("Open Packet Monitoring on
 * FLAME", section 3.1; M. Roughan, D. Veitch, P. Abry, "Real-Time Estimation of the Parameters of
 * Long-Range Dependence", IEEE/ACM Transactions on Networking 8(4), 2000). Counts bytes and packets
 * per direction and interval, and puts each finished interval through a pyramid of wavelets. Needs
 * only the length of each frame.
 *
 * The wavelet is the "two/six" wavelet, with three vanishing moments against a box. It ignores slow
 * changes of the load, up to parabolas, and needs only integers. An octave takes the sums of the
 * octave below in pairs (a, b): a + b goes up, and the detail is
 *
 *     8 (a - b) + (a + b)_after - (a + b)_before
 *
 * A silence is a series of zeros. However long it is, only its first three pairs per octave are
 * computed. All later details are 0 and are only counted.
 *
 *     Helper = map_lookup_elem
 *     Map = array
 */
#include <stdbool.h>

#include <saluki/module.h>

#include "lrd.h"

#define DETAIL_BITS                                                                                \
	24 /* of a detail, with `shift` more behind them; squares have twice as many               \
	    */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LRD_DIRECTIONS);
	__type(key, __u32);
	__type(value, struct lrd_series);
} series SEC(".maps");

/* ---- squares --------------------------------------------------------------------------------- */

/* Returns the number's length in bits. No branches, as the verifier would follow each. */
static __always_inline __s32 bits_of(__u64 n)
{
	n |= n >> 1;
	n |= n >> 2;
	n |= n >> 4;
	n |= n >> 8;
	n |= n >> 16;
	n |= n >> 32;
	n -= n >> 1 & 0x5555555555555555ULL; /* count the bits that are set */
	n = (n & 0x3333333333333333ULL) + (n >> 2 & 0x3333333333333333ULL);
	n = (n + (n >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
	return n * 0x0101010101010101ULL >> 56;
}

static __always_inline __u32 above_zero(__s32 n)
{
	return n & ~(n >> 31);
}

/* Adds a detail's square. Details range from 1 byte to 10^15 bytes: if the sum does not fit, it is
 * shifted down. The error is below a millionth of the sum. */
static __always_inline void add_square(struct lrd_energy *e, __s64 detail)
{
	__u64 size = (detail ^ detail >> 63) - (detail >> 63);
	__u32 shift = e->shift, more = above_zero(bits_of(size) - DETAIL_BITS - (__s32)shift);
	__u64 sum = e->sum >> more >> more;

	shift += more;
	size >>= shift;
	sum += size * size;
	more = sum >> 62 & 1; /* the sum is below 2^63 before and after */
	e->sum = sum >> 2 * more;
	e->shift = shift + more;
	e->count++;
}

/* ---- the pyramid ----------------------------------------------------------------------------- */

/* The first pair has no pair before it, so it has no detail. */
static __always_inline void take_pair(struct lrd_octave *o, __u64 sum, __s64 difference)
{
	if (o->pairs >= 2)
		add_square(&o->energy, 8 * o->difference_last + (__s64)(sum - o->sum_before));
	o->sum_before = o->sum_last;
	o->sum_last = sum;
	o->difference_last = difference;
	o->pairs++;
}

/* Puts `value` and then `zeros` zeros into an octave. Returns true if sums go up to the next
 * octave: one value and then zeros, which replace `value` and `zeros`. */
static __always_inline bool take_values(struct lrd_octave *o, __u64 *value, __u64 *zeros)
{
	__u64 total = 1 + *zeros + o->has_left, pairs = total / 2;
	__u64 a = o->has_left ? o->left : *value, b = o->has_left ? *value : 0;

	o->has_left = total & 1;
	if (!pairs) {
		o->left = *value;
		return false;
	}
	o->left = 0;
	take_pair(o, a + b, (__s64)(a - b));
	for (__u32 i = 1; i < 3 && i < pairs; i++)
		take_pair(o, 0, 0);
	if (pairs > 3) { /* the last value is more than three pairs back */
		o->energy.count += pairs - 3;
		o->pairs += pairs - 3;
	}
	*value = a + b;
	*zeros = pairs - 1;
	return true;
}

static __noinline int take_interval(struct lrd_series *s, __u32 what, __u64 value, __u64 zeros)
{
	if (!s || what >= LRD_WHATS)
		return 0;
	for (__u32 i = 0; i < LRD_OCTAVES; i++)
		if (!take_values(&s->octaves[what * LRD_OCTAVES + i], &value, &zeros))
			break;
	return 0;
}

/* ---- events ---------------------------------------------------------------------------- */

static __always_inline void say_next(struct frame_view *v, struct lrd_series *s)
{
	__u32 next = s->said + 1 < LRD_WHATS * LRD_OCTAVES ? s->said + 1 : 0;
	struct lrd_event e = {
		.interval_ns = LRD_INTERVAL_NS,
		.intervals = s->intervals,
		.begin_ns = s->begin_ns,
		.direction = v->direction,
		.what = next / LRD_OCTAVES,
		.octave = next % LRD_OCTAVES + 1,
	};

	s->said = next;
	s->unsaid = 0;
	asm volatile("" : "+r"(next)); /* compare and use the same register */
	if (next >= LRD_WHATS * LRD_OCTAVES)
		return;
	e.energy = s->octaves[next].energy;
	module_emit(v, &e, sizeof(e));
}

/* ---- intervals ------------------------------------------------------------------------------- */

static __always_inline void begin(struct lrd_series *s, __u64 now)
{
	s->begin_ns = now;
	s->end_ns = now + LRD_INTERVAL_NS;
}

/* Ends the current interval, and the empty ones after it. */
static __always_inline void end_interval(struct frame_view *v, struct lrd_series *s)
{
	__u64 zeros = (v->time_ns - s->end_ns) / LRD_INTERVAL_NS;
	__u64 now = __sync_lock_test_and_set(&s->now, 0);

	take_interval(s, LRD_BYTES, now % LRD_NOW_PACKET, zeros);
	take_interval(s, LRD_PACKETS, now / LRD_NOW_PACKET, zeros);
	s->intervals += 1 + zeros;
	s->unsaid += 1 + zeros;
	if (s->unsaid >= LRD_SAY)
		say_next(v, s);
	/* This store is last: until then other CPUs see the old interval, which has ended. */
	*(volatile __u64 *)&s->end_ns = s->end_ns + (1 + zeros) * LRD_INTERVAL_NS;
}

int module(struct frame_view *v)
{
	struct lrd_series *s;
	__u32 direction;

	direction = v->direction - 1U;
	s = bpf_map_lookup_elem(&series, &direction);
	if (!s)
		return 0;
	/* One CPU ends an interval. Frames on other CPUs meanwhile count for the next one. */
	if (v->time_ns >= *(volatile __u64 *)&s->end_ns && !__sync_lock_test_and_set(&s->busy, 1)) {
		if (!s->end_ns)
			begin(s, v->time_ns);
		else if (v->time_ns >= s->end_ns)
			end_interval(v, s);
		__sync_lock_test_and_set(&s->busy, 0); /* after all stores */
	}
	__sync_fetch_and_add(&s->now, LRD_NOW_PACKET | v->frame_len);
	return 0;
}
