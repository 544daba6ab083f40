/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parse: access to a frame's bytes in a form that the verifier accepts and the host compiles too.
 */
#ifndef SALUKI_PARSE_FRAME_H
#define SALUKI_PARSE_FRAME_H

/* The verifier loses packet pointers in a call, so BPF code is inlined. The host's compiler decides
 * itself. */
#ifdef __bpf__
#define parse_inline static inline __attribute__((always_inline))
#else
#define parse_inline static inline
#endif

/* No header is parsed beyond this offset: the verifier needs a bound for packet offsets. */
#define PARSE_OFFSET_MAX 16384
#define PARSE_ALL 0xffffffffu /* the whole frame may be kept */

/* Each path through the headers reaches the next header with different bounds on the offset, and
 * the verifier walks on from each. Tags, labels and extensions would multiply the paths beyond its
 * limit. A joint removes this knowledge: it adds a zero that the verifier cannot know, and masks
 * the sum. All paths then have the same bound, `mask`, and become one. PARSE_OFFSET_MASK truncates
 * no offset: a header begins at PARSE_OFFSET_MAX at most, and the longest has 2 KB. Linux 6.1
 * forgets a comparison when the offset is spilled to the stack. There the mask alone keeps a packet
 * pointer below the limit of 65,535. */
#define PARSE_OFFSET_MASK 0x7fffu
#ifdef __bpf__
extern volatile unsigned int parse_zero; /* in .bss: the verifier cannot know that it stays 0 */
#define parse_joint(value, mask) (((value) + parse_zero) & (mask))
#else
#define parse_joint(value, mask) (value)
#endif

struct frame {
	const unsigned char *data, *end; /* the captured bytes */
	unsigned int orig_len;		 /* length in bytes on the wire */
	unsigned int malformed;		 /* out: a header was malformed */
	unsigned int flags;		 /* of radiotap_flags(), or 0 */
};

/* Returns the `n` bytes at `off`, or 0 if the frame is shorter. */
parse_inline const unsigned char *frame_at(const struct frame *f, unsigned int off, unsigned int n)
{
#ifdef __bpf__
	const unsigned char *p;

	asm volatile("" : "+r"(off)); /* compare and add the same register, not two loads */
	if (off > PARSE_OFFSET_MAX)
		return 0;
	p = f->data + off;
	/* Without this, clang compares one pointer with the end and reads through another, which
	 * the verifier does not know as checked. */
	asm volatile("" : "+r"(p));
	if (p + n > f->end)
		return 0;
	return p;
#else
	unsigned long len = f->end - f->data;

	if (off > PARSE_OFFSET_MAX || off > len || n > len - off)
		return 0;
	return f->data + off;
#endif
}

/* BPF programs may load unaligned words, so each word is one load. */
#if defined(__bpf__) && (defined(__TARGET_ARCH_x86) || defined(__TARGET_ARCH_arm64))
#define PARSE_WIDE
typedef unsigned short __attribute__((may_alias)) parse_u16;
typedef unsigned int __attribute__((may_alias)) parse_u32;
typedef unsigned long long __attribute__((may_alias)) parse_u64;

parse_inline unsigned int parse_le16(const unsigned char *p)
{
	return *(const parse_u16 *)p;
}

parse_inline unsigned int parse_le32(const unsigned char *p)
{
	return *(const parse_u32 *)p;
}

parse_inline unsigned int parse_be16(const unsigned char *p)
{
	return __builtin_bswap16(*(const parse_u16 *)p);
}

parse_inline unsigned int parse_be32(const unsigned char *p)
{
	return __builtin_bswap32(*(const parse_u32 *)p);
}
#else
parse_inline unsigned int parse_be16(const unsigned char *p)
{
	return (unsigned int)p[0] << 8 | p[1];
}

parse_inline unsigned int parse_le16(const unsigned char *p)
{
	return (unsigned int)p[1] << 8 | p[0];
}

parse_inline unsigned int parse_be32(const unsigned char *p)
{
	return parse_be16(p) << 16 | parse_be16(p + 2);
}

parse_inline unsigned int parse_le32(const unsigned char *p)
{
	return parse_le16(p + 2) << 16 | parse_le16(p);
}
#endif

parse_inline unsigned long long parse_le64(const unsigned char *p)
{
	return (unsigned long long)parse_le32(p + 4) << 32 | parse_le32(p);
}

parse_inline unsigned int parse_min(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

parse_inline unsigned int frame_malformed(struct frame *f, unsigned int end)
{
	f->malformed = 1;
	return end;
}

/* End of a header at `off` whose length field says `len` bytes. `fixed`: its minimum length. */
parse_inline unsigned int header_end(struct frame *f, unsigned int off, unsigned int len,
				     unsigned int fixed)
{
	if (len < fixed || off + len > f->orig_len)
		return frame_malformed(f, off + fixed);
	return off + len;
}

#endif
