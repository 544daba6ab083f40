/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parse: the bytes of a frame, taken so that the verifier believes every access, and so that the
 * host compiles the same text.
 */
#ifndef SALUKI_PARSE_FRAME_H
#define SALUKI_PARSE_FRAME_H

/* The verifier follows no packet pointer through a call; a compiler for the host knows best. */
#ifdef __bpf__
#define parse_inline static inline __attribute__((always_inline))
#else
#define parse_inline static inline
#endif

/* No header is looked for beyond this offset: the verifier wants a bound for packet offsets. */
#define PARSE_OFFSET_MAX 16384
#define PARSE_ALL 0xffffffffu /* the whole frame may be kept */

/* Every path through the headers reaches the next one with other bounds on the offset, and the
 * verifier would walk on from each of them: tags, labels and extensions multiply to more than it
 * takes. At the joints its knowledge is therefore dropped: adding a zero that it cannot know
 * and masking leaves just "at most `mask`", the same on all paths. Nothing of an offset is cut
 * off by PARSE_OFFSET_MASK: a header begins at PARSE_OFFSET_MAX at most, and the longest has 2 KB.
 * Linux 6.1 forgets a comparison when the offset is spilled to the stack; the mask alone keeps a
 * packet pointer within the 65,535 it allows. */
#define PARSE_OFFSET_MASK 0x7fffu
#ifdef __bpf__
extern volatile unsigned int parse_zero; /* in .bss: only we know that it stays 0 */
#define parse_joint(value, mask) (((value) + parse_zero) & (mask))
#else
#define parse_joint(value, mask) (value)
#endif

struct frame {
	const unsigned char *data, *end; /* the bytes at hand */
	unsigned int orig_len;		 /* bytes the frame had before anybody cut it */
	unsigned int malformed;		 /* out: a header lied */
	unsigned int flags;		 /* radiotap's, where there are any: radiotap_flags() */
};

/* Returns the `n` bytes at `off`, or 0 where they are not all there. */
parse_inline const unsigned char *frame_at(const struct frame *f, unsigned int off, unsigned int n)
{
#ifdef __bpf__
	const unsigned char *p;

	asm volatile("" : "+r"(off)); /* compare and add one register, not two loads of it */
	if (off > PARSE_OFFSET_MAX)
		return 0;
	p = f->data + off;
	/* Without this clang compares one pointer with the end and reads through another, and
	 * the verifier knows only the first as checked. */
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

/* Words are loaded at once where a BPF program may load them from wherever they lie. */
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

/* End of a header at `off` that says it has `len` bytes, `fixed` of them always. */
parse_inline unsigned int header_end(struct frame *f, unsigned int off, unsigned int len,
				     unsigned int fixed)
{
	if (len < fixed || off + len > f->orig_len)
		return frame_malformed(f, off + fixed);
	return off + len;
}

#endif
