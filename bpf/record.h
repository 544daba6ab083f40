/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Record: the parts that all capture programs share: counters, the record header (saluki/record.h),
 * and the check for a wrong FCS. Included after the constants that the loader sets.
 */
#ifndef SALUKI_BPF_RECORD_H
#define SALUKI_BPF_RECORD_H

/* One entry per CPU in a mapped array, not a per-CPU map. The agent reads the counters in memory,
 * without the right to call bpf(). */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set by the loader: possible CPUs */
	__type(key, __u32);
	__type(value, struct saluki_counters);
} saluki_counters SEC(".maps");

static __always_inline void record_fill(struct saluki_record *r, __u32 orig_len, __u32 kept_len,
					__u8 direction)
{
	r->time_ns = bpf_ktime_get_ns();
	r->orig_len = orig_len;
	r->kept_len = kept_len;
	r->linktype = linktype;
	r->interface = interface;
	r->direction = direction;
	r->pad = 0;
}

/* Counts a frame with a wrong FCS. Returns whether the frame is refused. */
static __always_inline bool record_bad_fcs(const struct frame *f, struct saluki_counters *c)
{
	if (!(f->flags & RADIOTAP_BAD_FCS))
		return false;
	c->bad_fcs++;
	if (drop_bad_fcs)
		c->filtered++;
	return drop_bad_fcs;
}

#endif
