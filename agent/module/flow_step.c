// SPDX-License-Identifier: GPL-2.0
/* Flow, step: see flow_step.h. */
#include "flow_step.h"

#define ATOMIC 0xc0 /* BPF_ATOMIC, Linux 5.12; before BPF_XADD */
#define MEMSX 0x80  /* BPF_MEMSX, Linux 6.6 */

static const struct flow_value data = { .may = FLOW_DATA }, nothing;
static const char unknown[] = "it has an instruction that is not known here";
static const char followed[] = "it follows the address of a map";
static const char left[] = "it leaves an address where others can read it";
static const char made[] = "it makes data of an address";

static bool is_data(const struct flow_value *v)
{
	return !(v->may & FLOW_ADDRESS);
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

static struct flow_value operand(const struct flow_state *s, const struct bpf_insn *i)
{
	if (BPF_SRC(i->code) == BPF_X)
		return s->registers[i->src_reg];
	return (struct flow_value){ .may = FLOW_DATA, .known = true, .number = i->imm };
}

/* An address, and so many bytes from it. */
static struct flow_value moved(struct flow_value v, const struct flow_value *by, bool back)
{
	int64_t to = back ? (int64_t)v.number - by->number : (int64_t)v.number + by->number;

	v.known &= by->known && to > -65536 && to < 65536; /* no stack is as large */
	v.number = v.known ? to : 0;
	return v;
}

static const char *add(struct flow_value *to, const struct flow_value *by, bool back)
{
	if (is_data(to) && is_data(by))
		*to = data;
	else if (is_data(by))
		*to = moved(*to, by, back);
	else if (is_data(to) && !back)
		*to = moved(*by, to, false);
	else
		return "it reckons with two addresses";
	return NULL;
}

static const char *move(struct flow_value *to, const struct flow_value *from, bool whole)
{
	if (!whole && !is_data(from))
		return made;
	*to = whole ? *from : data;
	return NULL;
}

static const char *reckon(struct flow_state *s, const struct bpf_insn *i)
{
	struct flow_value *to = &s->registers[i->dst_reg], by = operand(s, i);
	bool wide = BPF_CLASS(i->code) == BPF_ALU64;
	bool small = BPF_SRC(i->code) == BPF_K && i->imm >= 0;
	uint8_t op = BPF_OP(i->code);

	if (op == BPF_MOV)
		return move(to, &by, (wide || small) && !i->off);
	if (wide && (op == BPF_ADD || op == BPF_SUB))
		return add(to, &by, op == BPF_SUB);
	if (!is_data(to) || (op != BPF_NEG && op != BPF_END && !is_data(&by)))
		return made;
	*to = data;
	return NULL;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static uint32_t size_of(const struct bpf_insn *i)
{
	switch (BPF_SIZE(i->code)) {
	case BPF_B:
		return 1;
	case BPF_H:
		return 2;
	case BPF_W:
		return 4;
	default:
		return 8;
	}
}

static struct flow_value address_of(const struct flow_state *s, uint8_t reg, int16_t off)
{
	const struct flow_value by = { .may = FLOW_DATA, .known = true, .number = off };

	return moved(s->registers[reg], &by, false);
}

static const char *load(struct flow_state *s, const struct bpf_insn *i)
{
	struct flow_value at = address_of(s, i->src_reg, i->off), found = { 0 };
	const char *why = NULL;

	if (at.may & FLOW_MAP)
		return followed;
	if (at.may & FLOW_STACK)
		why = flow_stack_load(s, &at, size_of(i), &found);
	if (at.may & ~FLOW_STACK || BPF_MODE(i->code) == MEMSX)
		flow_value_join(&found, &data);
	s->registers[i->dst_reg] = found;
	return why;
}

static const char *store(struct flow_state *s, const struct bpf_insn *i)
{
	struct flow_value at = address_of(s, i->dst_reg, i->off), value = data;
	bool sure = at.may == FLOW_STACK;

	if (BPF_CLASS(i->code) == BPF_STX)
		value = s->registers[i->src_reg];
	if (at.may & FLOW_MAP)
		return followed;
	if (!is_data(&value) && !sure)
		return left;
	return at.may & FLOW_STACK ? flow_stack_store(s, &at, size_of(i), &value, sure) : NULL;
}

static const char *atomic(struct flow_state *s, const struct bpf_insn *i)
{
	struct flow_value at = address_of(s, i->dst_reg, i->off), found = data;
	struct flow_value *value = &s->registers[i->src_reg];
	const char *why = NULL;

	if (i->imm & ~(0xf0 | BPF_FETCH))
		return unknown;
	if (at.may & FLOW_MAP)
		return followed;
	if (!is_data(value) || (i->imm == BPF_CMPXCHG && !is_data(&s->registers[BPF_REG_0])))
		return left;
	if (at.may & FLOW_STACK)
		why = flow_stack_read(s, &at, size_of(i))
			      ?: flow_stack_store(s, &at, size_of(i), &data, false);
	if (i->imm == BPF_CMPXCHG)
		s->registers[BPF_REG_0] = found;
	else if (i->imm & BPF_FETCH)
		*value = found;
	return why;
}

/* ---- helpers --------------------------------------------------------------------------------- */

enum argument {
	NONE,
	NUMBER,
	MAP,
	KEY,	/* as long as the map's */
	VALUE,	/* the same */
	PLACE,	/* where a value is put */
	BYTES,	/* as many as the next argument says */
	RECORD, /* of a ring */
};

#define ARGUMENTS 4
static const struct helper {
	enum argument takes[ARGUMENTS];
	uint8_t gives;
} helpers[] = {
	[BPF_FUNC_map_lookup_elem] = { { MAP, KEY }, FLOW_MEMORY | FLOW_DATA },
	[BPF_FUNC_map_update_elem] = { { MAP, KEY, VALUE, NUMBER }, FLOW_DATA },
	[BPF_FUNC_map_delete_elem] = { { MAP, KEY }, FLOW_DATA },
	[BPF_FUNC_map_push_elem] = { { MAP, VALUE, NUMBER }, FLOW_DATA },
	[BPF_FUNC_map_pop_elem] = { { MAP, PLACE }, FLOW_DATA },
	[BPF_FUNC_map_peek_elem] = { { MAP, PLACE }, FLOW_DATA },
	[BPF_FUNC_map_lookup_percpu_elem] = { { MAP, KEY, NUMBER }, FLOW_MEMORY | FLOW_DATA },
	[BPF_FUNC_ktime_get_ns] = { .gives = FLOW_DATA },
	[BPF_FUNC_ktime_get_boot_ns] = { .gives = FLOW_DATA },
	[BPF_FUNC_ktime_get_coarse_ns] = { .gives = FLOW_DATA },
	[BPF_FUNC_ktime_get_tai_ns] = { .gives = FLOW_DATA },
	[BPF_FUNC_jiffies64] = { .gives = FLOW_DATA },
	[BPF_FUNC_get_prandom_u32] = { .gives = FLOW_DATA },
	[BPF_FUNC_get_smp_processor_id] = { .gives = FLOW_DATA },
	[BPF_FUNC_get_numa_node_id] = { .gives = FLOW_DATA },
	[BPF_FUNC_ringbuf_output] = { { MAP, BYTES, NUMBER, NUMBER }, FLOW_DATA },
	[BPF_FUNC_ringbuf_reserve] = { { MAP, NUMBER, NUMBER }, FLOW_MEMORY | FLOW_DATA },
	[BPF_FUNC_ringbuf_submit] = { { RECORD, NUMBER }, FLOW_DATA },
	[BPF_FUNC_ringbuf_discard] = { { RECORD, NUMBER }, FLOW_DATA },
	[BPF_FUNC_ringbuf_query] = { { MAP, NUMBER }, FLOW_DATA },
};

/* Which one is known; where it is not, the lengths of its key and value are. */
static const char *map_of(const struct flow_value *v, const struct flow_maps *maps,
			  struct flow_map *out)
{
	if (v->may != FLOW_MAP)
		return "it calls a helper with what may be no map";
	for (size_t i = 0; i < maps->count; i++) {
		const struct flow_map *m = &maps->all[i];

		if (v->known && m->fd != v->number)
			continue;
		out->type = v->known ? m->type : BPF_MAP_TYPE_UNSPEC;
		out->key_len = m->key_len > out->key_len ? m->key_len : out->key_len;
		out->value_len = m->value_len > out->value_len ? m->value_len : out->value_len;
	}
	return out->key_len || out->value_len || !v->known || out->type == BPF_MAP_TYPE_RINGBUF
		       ? NULL
		       : "it calls a helper with a map that is not its own";
}

/* Of a Bloom filter what is at the place is read. */
static bool is_queue(const struct flow_map *map)
{
	return map->type == BPF_MAP_TYPE_QUEUE || map->type == BPF_MAP_TYPE_STACK;
}

static const char *argument(struct flow_state *s, unsigned int reg, enum argument is,
			    const struct flow_map *map)
{
	const struct flow_value *v = &s->registers[reg], *next = v + 1;
	uint32_t len = 0;

	switch (is) {
	case NUMBER:
		return is_data(v) ? NULL : "it gives an address to a helper that takes a number";
	case KEY:
		len = map->key_len;
		break;
	case VALUE:
	case PLACE:
		len = map->value_len;
		break;
	case BYTES: /* where it is not known: up to the frame's end */
		len = next->known && next->may == FLOW_DATA && next->number > 0 ? next->number : 0;
		break;
	default:
		return NULL;
	}
	if (v->may & FLOW_MAP)
		return "it gives a helper the address of a map as that of data";
	if (!(v->may & FLOW_STACK))
		return NULL;
	if (is == PLACE && v->may == FLOW_STACK && is_queue(map))
		return flow_stack_store(s, v, len, &data, true);
	return flow_stack_read(s, v, len)
		       ?: is == PLACE ? flow_stack_store(s, v, len, &data, false)
				      : NULL;
}

static const char *call(struct flow_state *s, const struct bpf_insn *i,
			const struct flow_maps *maps)
{
	struct flow_map map = { 0 };
	const struct helper *h;
	const char *why = NULL;

	if (i->imm < 0 || (size_t)i->imm >= sizeof(helpers) / sizeof(helpers[0]) ||
	    !helpers[i->imm].gives)
		return "it calls a helper that is not known here";
	h = &helpers[i->imm];
	if (h->takes[0] == MAP)
		why = map_of(&s->registers[BPF_REG_1], maps, &map);
	for (unsigned int a = 0; !why && a < ARGUMENTS; a++)
		why = argument(s, BPF_REG_1 + a, h->takes[a], &map);
	for (unsigned int reg = BPF_REG_1; reg <= BPF_REG_5; reg++)
		s->registers[reg] = nothing;
	s->registers[BPF_REG_0] = (struct flow_value){ .may = h->gives };
	return why;
}

/* ---- jumps ----------------------------------------------------------------------------------- */

/* Whether there is an address is asked by comparing it with 0. */
static bool asks_for_null(const struct bpf_insn *i)
{
	uint8_t op = BPF_OP(i->code);

	return BPF_CLASS(i->code) == BPF_JMP && BPF_SRC(i->code) == BPF_K && !i->imm &&
	       (op == BPF_JEQ || op == BPF_JNE);
}

static const char *compare(const struct flow_state *s, const struct bpf_insn *i)
{
	struct flow_value with = operand(s, i);

	if (asks_for_null(i) || (is_data(&s->registers[i->dst_reg]) && is_data(&with)))
		return NULL;
	return "it compares an address";
}

void flow_branch(struct flow_state *s, const struct bpf_insn *i, bool taken)
{
	if (asks_for_null(i) && (BPF_OP(i->code) == BPF_JEQ) == taken)
		s->registers[i->dst_reg] = (struct flow_value){ .may = FLOW_DATA, .known = true };
}

/* ---------------------------------------------------------------------------------------------- */

static const char *load_number(struct flow_state *s, const struct bpf_insn *i)
{
	struct flow_value v = data;

	if (i->src_reg == BPF_PSEUDO_MAP_VALUE)
		v.may = FLOW_MEMORY;
	else if (i->src_reg == BPF_PSEUDO_MAP_FD)
		v = (struct flow_value){ .may = FLOW_MAP, .known = true, .number = i->imm };
	else if (i->src_reg)
		return "it takes an address that is not known here";
	s->registers[i->dst_reg] = v;
	return NULL;
}

static const char *jump(struct flow_state *s, const struct bpf_insn *i,
			const struct flow_maps *maps)
{
	if (i->code == (BPF_JMP | BPF_CALL))
		return call(s, i, maps);
	if (i->code == (BPF_JMP | BPF_JA) || i->code == (BPF_JMP32 | BPF_JA))
		return NULL;
	return BPF_OP(i->code) == BPF_JA || BPF_OP(i->code) == BPF_CALL ? unknown : compare(s, i);
}

const char *flow_step(struct flow_state *s, const struct bpf_insn *i, const struct flow_maps *maps)
{
	if (i->dst_reg >= FLOW_REGISTERS || i->src_reg >= FLOW_REGISTERS)
		return unknown;
	switch (BPF_CLASS(i->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		return reckon(s, i);
	case BPF_LD:
		return i->code == (BPF_LD | BPF_IMM | BPF_DW) ? load_number(s, i) : unknown;
	case BPF_LDX:
		return load(s, i);
	case BPF_ST:
		return store(s, i);
	case BPF_STX:
		return BPF_MODE(i->code) == ATOMIC ? atomic(s, i) : store(s, i);
	default:
		return jump(s, i, maps);
	}
}
