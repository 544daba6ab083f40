// SPDX-License-Identifier: GPL-2.0
/*
 * Filters for packet sockets: see filter_packet.h. The output has the program twice: unchanged for
 * frames without a tag, and with adjusted loads for frames whose tag the kernel removed. Bytes of
 * the tag itself are computed from the kernel's metadata.
 *
 * Always holds: jumps go forward only, and too long ones go through a `ja` next to them. The added
 * instructions change only A.
 */
#include "filter_packet.h"

#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define TAG_OFFSET 12 /* on the wire, after the two MAC addresses */
#define TAG_LEN 4
#define TAG_END (TAG_OFFSET + TAG_LEN)
#define TPID_DEFAULT 0x8100

/* No frame is as long: from here on the kernel gives offsets another meaning. */
#define OFFSET_MAX 0x7fffffffu

/* Open targets of jumps: items by number, instructions of the given program by TO(), and the
 * refusing end. */
#define TO(instruction) (-(int)(instruction)-1)
#define REFUSE INT32_MIN
#define ACCEPT (INT32_MIN + 1)
#define WHOLE (INT32_MIN + 2)
#define NEXT (INT32_MIN + 3) /* the item after the jump */

/* End of the longest headers in put_accept: Ethernet, IPv6, TCP. */
#define HEADERS_MOST (ETH_HLEN + 40 + 60)

#define ITEMS_MAX (2 * FILTER_PACKET_MAX)

struct item {
	uint16_t code;
	uint32_t k;
	int jt, jf;	   /* of jumps; `ja` has jt */
	bool far_t, far_f; /* through a `ja` after it */
	uint32_t at;	   /* instruction of the output */
};

struct writer {
	const struct filter *f;
	const struct filter_packet *how;
	bool tagged; /* the half for frames whose tag was removed */
	bool full;
	int len, start[FILTER_LEN_MAX];
	int spare[2];			  /* scratch words that the program leaves free; -1: none */
	struct item items[ITEMS_MAX + 1]; /* the last one takes items beyond the limit */
};

/* ---- items ----------------------------------------------------------------------------------- */

static void put_jump(struct writer *w, uint16_t code, uint32_t k, int jt, int jf)
{
	if (w->len == ITEMS_MAX) {
		w->full = true;
		return;
	}
	w->items[w->len] = (struct item){
		.code = code,
		.k = k,
		.jt = jt == NEXT ? w->len + 1 : jt,
		.jf = jf == NEXT ? w->len + 1 : jf,
	};
	w->len++;
}

static void put(struct writer *w, uint16_t code, uint32_t k)
{
	put_jump(w, code, k, 0, 0);
}

/* Points a jump with an open target to the next item. */
static void land(struct writer *w, int *target)
{
	*target = w->len;
}

/* Finds scratch words for values that must survive a load. */
static int spare(struct writer *w, int n)
{
	if (w->spare[n] < 0)
		w->full = true;
	return w->spare[n] < 0 ? 0 : w->spare[n];
}

static void find_spare(struct writer *w)
{
	bool used[BPF_MEMWORDS] = { false };
	int n = 0;

	for (uint32_t i = 0; i < w->f->len; i++) {
		uint16_t code = w->f->code[i].code;
		int class = BPF_CLASS(code);

		if ((class == BPF_ST || class == BPF_STX ||
		     ((class == BPF_LD || class == BPF_LDX) && BPF_MODE(code) == BPF_MEM)) &&
		    w->f->code[i].k < BPF_MEMWORDS)
			used[w->f->code[i].k] = true;
	}
	w->spare[0] = w->spare[1] = -1;
	for (int i = BPF_MEMWORDS - 1; i >= 0 && n < 2; i--)
		if (!used[i])
			w->spare[n++] = i;
}

/* ---- loads ----------------------------------------------------------------------------------- */

static uint16_t size_code(uint32_t size)
{
	return size == 4 ? BPF_W : size == 2 ? BPF_H : BPF_B;
}

/* Loads `size` bytes of the tag from `offset` on the wire: TPID, TCI, or a byte of them.
 */
static void put_tag_part(struct writer *w, uint32_t offset, uint32_t size)
{
	if (offset >= TAG_OFFSET + 2)
		put(w, BPF_LD | BPF_W | BPF_ABS, SKF_AD_OFF + SKF_AD_VLAN_TAG);
	else if (w->how->tags == FILTER_TAGS_WITH_ID)
		put(w, BPF_LD | BPF_W | BPF_ABS, SKF_AD_OFF + SKF_AD_VLAN_TPID);
	else
		put(w, BPF_LD | BPF_IMM, TPID_DEFAULT);
	if (size == 2)
		return;
	if (offset & 1)
		put(w, BPF_ALU | BPF_AND | BPF_K, 0xff);
	else
		put(w, BPF_ALU | BPF_RSH | BPF_K, 8);
}

/* Returns how many bytes one load can take from `offset` on, at most `most`. */
static uint32_t piece_len(uint32_t offset, uint32_t most)
{
	uint32_t end = offset < TAG_OFFSET	 ? TAG_OFFSET
		       : offset < TAG_OFFSET + 2 ? TAG_OFFSET + 2
		       : offset < TAG_END	 ? TAG_END
						 : UINT32_MAX;
	uint32_t len = end - offset < most ? end - offset : most;

	return len == 3 ? 2 : len;
}

static void put_piece(struct writer *w, uint32_t offset, uint32_t size)
{
	if (offset >= TAG_OFFSET && offset < TAG_END)
		put_tag_part(w, offset, size);
	else
		put(w, BPF_LD | BPF_ABS | size_code(size),
		    offset < TAG_OFFSET ? offset : offset - TAG_LEN);
}

/* A load of `size` bytes at `offset` on the wire, for a frame whose tag was removed. */
static void put_load(struct writer *w, uint32_t offset, uint32_t size)
{
	uint32_t len = piece_len(offset, size), done = 0;

	if (len == size) {
		put_piece(w, offset, size);
		return;
	}
	put(w, BPF_STX, spare(w, 1));
	for (; done < size; done += len) {
		len = piece_len(offset + done, size - done);
		put_piece(w, offset + done, len);
		if (done + len < size)
			put(w, BPF_ALU | BPF_LSH | BPF_K, 8 * (size - done - len));
		if (done) {
			put(w, BPF_LDX | BPF_MEM, spare(w, 0));
			put(w, BPF_ALU | BPF_OR | BPF_X, 0);
		}
		if (done + len < size)
			put(w, BPF_ST, spare(w, 0));
	}
	put(w, BPF_LDX | BPF_MEM, spare(w, 1));
}

/* A load from X + k. The place depends on X, so each place around the tag has its own load. */
static void put_indirect_tagged(struct writer *w, uint16_t code, uint32_t k, uint32_t size)
{
	int ends[8], places[8], behind = -1, n = 0;

	if (k >= TAG_END) {
		put(w, code, k - TAG_LEN);
		return;
	}
	behind = w->len;
	put_jump(w, BPF_JMP | BPF_JGE | BPF_K, TAG_END - k, 0, NEXT);
	for (uint32_t o = TAG_END - 1; o > TAG_OFFSET - size && o >= k; o--) {
		places[n++] = w->len;
		put_jump(w, BPF_JMP | BPF_JEQ | BPF_K, o - k, 0, NEXT);
	}
	put(w, code, k);
	for (int i = 0; i < n; i++) {
		ends[i] = w->len;
		put_jump(w, BPF_JMP | BPF_JA, 0, 0, 0);
		land(w, &w->items[places[i]].jt);
		put_load(w, TAG_END - 1 - i, size);
	}
	ends[n] = w->len;
	put_jump(w, BPF_JMP | BPF_JA, 0, 0, 0);
	land(w, &w->items[behind].jt);
	put(w, code, k - TAG_LEN); /* X is large enough, and the sum wraps */
	for (int i = 0; i <= n; i++)
		land(w, &w->items[ends[i]].jt);
}

static void put_indirect(struct writer *w, uint16_t code, uint32_t k, uint32_t size)
{
	/* A sum that is no valid offset is refused here, as it might be one in the kernel. */
	put(w, BPF_MISC | BPF_TXA, 0);
	put_jump(w, BPF_JMP | BPF_JGT | BPF_K, OFFSET_MAX - k, REFUSE, NEXT);
	if (w->tagged)
		put_indirect_tagged(w, code, k, size);
	else
		put(w, code, k);
}

/* X = 4 * (byte at k & 15) */
static void put_header_len(struct writer *w, uint16_t code, uint32_t k)
{
	if (!w->tagged || k < TAG_OFFSET || k >= TAG_END) {
		put(w, code, w->tagged && k >= TAG_END ? k - TAG_LEN : k);
		return;
	}
	put(w, BPF_ST, spare(w, 0));
	put_load(w, k, 1);
	put(w, BPF_ALU | BPF_AND | BPF_K, 15);
	put(w, BPF_ALU | BPF_LSH | BPF_K, 2);
	put(w, BPF_MISC | BPF_TAX, 0);
	put(w, BPF_LD | BPF_MEM, spare(w, 0));
}

/* X = length of the frame */
static void put_len_x(struct writer *w, uint16_t code)
{
	if (!w->tagged) {
		put(w, code, 0);
		return;
	}
	put(w, BPF_ST, spare(w, 0));
	put(w, BPF_LD | BPF_W | BPF_LEN, 0);
	put(w, BPF_ALU | BPF_ADD | BPF_K, TAG_LEN);
	put(w, BPF_MISC | BPF_TAX, 0);
	put(w, BPF_LD | BPF_MEM, spare(w, 0));
}

static void put_ld(struct writer *w, uint16_t code, uint32_t k)
{
	uint32_t size = BPF_SIZE(code) == BPF_W ? 4 : BPF_SIZE(code) == BPF_H ? 2 : 1;
	int mode = BPF_MODE(code);

	if ((mode == BPF_ABS || mode == BPF_IND) && k > OFFSET_MAX)
		put(w, BPF_RET | BPF_K, 0); /* beyond any frame */
	else if (mode == BPF_ABS && w->tagged)
		put_load(w, k, size);
	else if (mode == BPF_IND)
		put_indirect(w, code, k, size);
	else
		put(w, code, k);
	if (mode == BPF_LEN && w->tagged)
		put(w, BPF_ALU | BPF_ADD | BPF_K, TAG_LEN);
}

static void put_ldx(struct writer *w, uint16_t code, uint32_t k)
{
	if (BPF_MODE(code) == BPF_MSH && k > OFFSET_MAX)
		put(w, BPF_RET | BPF_K, 0);
	else if (BPF_MODE(code) == BPF_MSH)
		put_header_len(w, code, k);
	else if (BPF_MODE(code) == BPF_LEN)
		put_len_x(w, code);
	else
		put(w, code, k);
}

/* ---- the rest -------------------------------------------------------------------------------- */

/* A shift by 32 or more gives 0 in libpcap, and depends on the CPU in the kernel.
 */
static void put_shift(struct writer *w, uint16_t code, uint32_t k)
{
	int far, end;

	if (BPF_SRC(code) == BPF_K) {
		if (k < 32)
			put(w, code, k);
		else
			put(w, BPF_LD | BPF_IMM, 0);
		return;
	}
	put(w, BPF_ST, spare(w, 0));
	put(w, BPF_MISC | BPF_TXA, 0);
	far = w->len;
	put_jump(w, BPF_JMP | BPF_JGE | BPF_K, 32, 0, NEXT);
	put(w, BPF_LD | BPF_MEM, spare(w, 0));
	put(w, code, 0);
	end = w->len;
	put_jump(w, BPF_JMP | BPF_JA, 0, 0, 0);
	land(w, &w->items[far].jt);
	put(w, BPF_LD | BPF_IMM, 0);
	land(w, &w->items[end].jt);
}

static int put_ret(struct writer *w, uint16_t code, uint32_t k)
{
	if (BPF_RVAL(code) == BPF_A)
		put_jump(w, BPF_JMP | BPF_JEQ | BPF_K, 0, REFUSE, NEXT);
	else if (BPF_RVAL(code) != BPF_K)
		return -EINVAL;
	if (BPF_RVAL(code) == BPF_A || k)
		put_jump(w, BPF_JMP | BPF_JA, 0, ACCEPT, 0);
	else
		put(w, BPF_RET | BPF_K, 0);
	return 0;
}

static int put_instruction(struct writer *w, uint32_t i)
{
	const struct sock_filter *s = &w->f->code[i];
	uint32_t left = w->f->len - i - 1;

	switch (BPF_CLASS(s->code)) {
	case BPF_LD:
		put_ld(w, s->code, s->k);
		return 0;
	case BPF_LDX:
		put_ldx(w, s->code, s->k);
		return 0;
	case BPF_RET:
		return put_ret(w, s->code, s->k);
	case BPF_JMP:
		if (BPF_OP(s->code) == BPF_JA ? s->k >= left : s->jt >= left || s->jf >= left)
			return -EINVAL;
		if (BPF_OP(s->code) == BPF_JA)
			put_jump(w, s->code, 0, TO(i + 1 + s->k), 0);
		else
			put_jump(w, s->code, s->k, TO(i + 1 + s->jt), TO(i + 1 + s->jf));
		return 0;
	case BPF_ALU:
		if (BPF_OP(s->code) == BPF_LSH || BPF_OP(s->code) == BPF_RSH) {
			put_shift(w, s->code, s->k);
			return 0;
		}
		/* fall through */
	default:
		put(w, s->code, s->k);
		return 0;
	}
}

static int target(const struct writer *w, int to)
{
	return to < 0 && to > NEXT ? w->start[TO(to)] : to;
}

static int put_half(struct writer *w, bool tagged)
{
	int first = w->len;

	w->tagged = tagged;
	for (uint32_t i = 0; i < w->f->len; i++) {
		int err;

		w->start[i] = w->len;
		err = put_instruction(w, i);
		if (err)
			return err;
	}
	for (int i = first; i < w->len; i++) {
		w->items[i].jt = target(w, w->items[i].jt);
		w->items[i].jf = target(w, w->items[i].jf);
	}
	return 0;
}

/* Points all jumps to `to` to the next item. */
static void replace(struct writer *w, int to)
{
	for (int i = 0; i < w->len; i++) {
		if (w->items[i].jt == to)
			w->items[i].jt = w->len;
		if (w->items[i].jf == to)
			w->items[i].jf = w->len;
	}
}

/* Keeps TCP's header after one that ends at `end`. A malformed header keeps 20 bytes.
 */
static void put_tcp(struct writer *w, uint32_t end)
{
	put(w, BPF_LD | BPF_B | BPF_ABS, end + 12);
	put(w, BPF_ALU | BPF_AND | BPF_K, 0xf0);
	put(w, BPF_ALU | BPF_RSH | BPF_K, 2);
	put_jump(w, BPF_JMP | BPF_JGE | BPF_K, 20, NEXT, WHOLE);
	put(w, BPF_ALU | BPF_ADD | BPF_K, end);
	put(w, BPF_RET | BPF_A, 0);
}

/* A has the protocol. */
static void put_transport(struct writer *w, uint32_t end)
{
	int udp = w->len;

	put_jump(w, BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, NEXT);
	put_jump(w, BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, NEXT, WHOLE);
	put_tcp(w, end);
	land(w, &w->items[udp].jt);
	put(w, BPF_RET | BPF_K, end + 8);
}

/* With `headers`, the kernel copies only the headers in simple cases: TCP and UDP after an IP
 * header without options. Other frames are truncated later by trim.h. A load beyond a frame's end
 * would refuse it, so short frames are copied whole. */
static void put_accept(struct writer *w)
{
	if (w->how->headers && w->how->accept > HEADERS_MOST) {
		int ipv6;

		put(w, BPF_LD | BPF_W | BPF_LEN, 0);
		put_jump(w, BPF_JMP | BPF_JGT | BPF_K, HEADERS_MOST, NEXT, WHOLE);
		/* Checks EtherType, and IPv4's version and header length. */
		put(w, BPF_LD | BPF_W | BPF_ABS, ETH_HLEN - 2);
		put(w, BPF_ALU | BPF_AND | BPF_K, 0xffffff00);
		ipv6 = w->len;
		put_jump(w, BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP << 16 | 0x4500, NEXT, 0);
		put(w, BPF_LD | BPF_B | BPF_ABS, ETH_HLEN + 9);
		put_transport(w, ETH_HLEN + 20);
		land(w, &w->items[ipv6].jf);
		put(w, BPF_ALU | BPF_RSH | BPF_K, 16);
		put_jump(w, BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IPV6, NEXT, WHOLE);
		put(w, BPF_LD | BPF_B | BPF_ABS, ETH_HLEN + 6);
		put_transport(w, ETH_HLEN + 40);
		replace(w, WHOLE);
	}
	put(w, BPF_RET | BPF_K, w->how->accept);
}

/* Refuses frames of the other direction, for kernels that deliver both. */
static void put_direction(struct writer *w)
{
	if (w->how->direction == DIRECTION_INOUT)
		return;
	put(w, BPF_LD | BPF_W | BPF_ABS, SKF_AD_OFF + SKF_AD_PKTTYPE);
	if (w->how->direction == DIRECTION_IN)
		put_jump(w, BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, REFUSE, NEXT);
	else
		put_jump(w, BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, NEXT, REFUSE);
}

static int put_all(struct writer *w)
{
	int untagged = -1, err = 0;

	find_spare(w);
	put_direction(w);
	if (!w->f->len) {
		put_jump(w, BPF_JMP | BPF_JA, 0, ACCEPT, 0);
	} else {
		if (w->how->tags != FILTER_TAGS_NONE) {
			put(w, BPF_LD | BPF_W | BPF_ABS, SKF_AD_OFF + SKF_AD_VLAN_TAG_PRESENT);
			untagged = w->len;
			put_jump(w, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, NEXT);
			put(w, BPF_LD | BPF_IMM, 0); /* programs begin with A = 0 */
			err = put_half(w, true);
			land(w, &w->items[untagged].jt);
		}
		put(w, BPF_LD | BPF_IMM, 0);
		err = err ?: put_half(w, false);
	}
	replace(w, REFUSE);
	put(w, BPF_RET | BPF_K, 0);
	replace(w, ACCEPT);
	put_accept(w);
	return err ? err : w->full ? -E2BIG : 0;
}

/* ---- layout ---------------------------------------------------------------------------------- */

static bool is_branch(const struct item *m)
{
	return BPF_CLASS(m->code) == BPF_JMP && BPF_OP(m->code) != BPF_JA;
}

static bool too_far(const struct writer *w, const struct item *m, int to)
{
	return w->items[to].at - m->at - 1 > 255;
}

/* Places every item, and adds a `ja` for each too long jump, until all jumps fit. */
static uint32_t lay_out(struct writer *w)
{
	uint32_t at;
	bool again;

	do {
		again = false;
		at = 0;
		for (int i = 0; i < w->len; i++) {
			w->items[i].at = at;
			at += 1 + w->items[i].far_t + w->items[i].far_f;
		}
		for (struct item *m = w->items; m < w->items + w->len; m++) {
			if (!is_branch(m))
				continue;
			if (!m->far_t && too_far(w, m, m->jt))
				m->far_t = again = true;
			if (!m->far_f && too_far(w, m, m->jf))
				m->far_f = again = true;
		}
	} while (again);
	return at;
}

static void write_item(const struct writer *w, const struct item *m, struct sock_filter *out)
{
	struct sock_filter *s = &out[m->at], *ja = s + 1;

	*s = (struct sock_filter){ .code = m->code, .k = m->k };
	if (BPF_CLASS(m->code) != BPF_JMP)
		return;
	if (!is_branch(m)) {
		s->k = w->items[m->jt].at - m->at - 1;
		return;
	}
	s->jt = m->far_t ? 0 : w->items[m->jt].at - m->at - 1;
	s->jf = m->far_f ? m->far_t : w->items[m->jf].at - m->at - 1;
	if (m->far_t) {
		*ja = (struct sock_filter){ .code = BPF_JMP | BPF_JA };
		ja->k = w->items[m->jt].at - (ja - out) - 1;
		ja++;
	}
	if (m->far_f) {
		*ja = (struct sock_filter){ .code = BPF_JMP | BPF_JA };
		ja->k = w->items[m->jf].at - (ja - out) - 1;
	}
}

int filter_packet(struct sock_filter *out, const struct filter *f, const struct filter_packet *how)
{
	struct writer *w = calloc(1, sizeof(*w));
	int len;

	if (!w)
		return -ENOMEM;
	w->f = f;
	w->how = how;
	len = put_all(w);
	if (!len) {
		len = lay_out(w);
		if (len > FILTER_PACKET_MAX)
			len = -E2BIG;
		for (int i = 0; len > 0 && i < w->len; i++)
			write_item(w, &w->items[i], out);
	}
	free(w);
	return len;
}

enum filter_tags filter_packet_tags(int fd)
{
	int most = 0;
	socklen_t len = sizeof(most);

	/* Since Linux 3.14: the number after the last extension. */
	if (getsockopt(fd, SOL_SOCKET, SO_BPF_EXTENSIONS, &most, &len))
		return FILTER_TAGS_NONE;
	return most > SKF_AD_VLAN_TPID		? FILTER_TAGS_WITH_ID
	       : most > SKF_AD_VLAN_TAG_PRESENT ? FILTER_TAGS_8100
						: FILTER_TAGS_NONE;
}
