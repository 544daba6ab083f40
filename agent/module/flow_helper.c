// SPDX-License-Identifier: GPL-2.0
/* Flow, helper: see flow_helper.h. */
#include "flow_helper.h"

uint32_t flow_map_bit(size_t n)
{
	return 1U << (n < 31 ? n : 31);
}

enum argument {
	NONE,
	NUMBER,
	MAP,
	KEY,	/* as long as the map's keys */
	VALUE,	/* the same */
	PLACE,	/* where a value is written */
	BYTES,	/* the next argument has the length */
	RECORD, /* of a ring buffer */
};

#define ARGUMENTS 4
#define BYTES_MAX 8192 /* as for a map's value (maps.c): a call counts as one instruction */
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
	[BPF_FUNC_ringbuf_reserve] = { { MAP, NUMBER, NUMBER },
				       /* a released record's address is data */
				       FLOW_MEMORY | FLOW_LOOSE | FLOW_DATA },
	[BPF_FUNC_ringbuf_submit] = { { RECORD, NUMBER }, FLOW_DATA },
	[BPF_FUNC_ringbuf_discard] = { { RECORD, NUMBER }, FLOW_DATA },
	[BPF_FUNC_ringbuf_query] = { { MAP, NUMBER }, FLOW_DATA },
};

/* Properties shared by all maps that an argument may be. */
struct kind {
	uint32_t key_len, value_len;
	bool is_queue; /* of each */
};

static bool is_queue(const struct flow_map *m)
{
	return m->type == BPF_MAP_TYPE_QUEUE || m->type == BPF_MAP_TYPE_STACK;
}

static const char *kind_of(const struct flow_value *v, const struct flow_maps *maps,
			   struct kind *out)
{
	if (v->may != FLOW_MAP)
		return "it calls a helper with what may be no map";
	*out = (struct kind){ .is_queue = true };
	for (size_t i = 0; i < maps->count; i++) {
		const struct flow_map *m = &maps->all[i];

		if (!(v->maps & flow_map_bit(i)))
			continue;
		out->key_len = m->key_len > out->key_len ? m->key_len : out->key_len;
		out->value_len = m->value_len > out->value_len ? m->value_len : out->value_len;
		out->is_queue &= is_queue(m);
	}
	return NULL;
}

static const char *argument(struct flow_state *s, unsigned int reg, enum argument is,
			    const struct kind *map)
{
	const struct flow_value *v = &s->registers[reg], data = flow_data();
	const char *why = NULL;
	int32_t number;
	uint64_t most;
	uint32_t len;

	switch (is) {
	case NUMBER:
		return flow_is_data(v) ? NULL
				       : "it gives an address to a helper that takes a number";
	case KEY:
		len = map->key_len;
		break;
	case VALUE:
	case PLACE:
		len = map->value_len;
		break;
	case BYTES: /* unknown length: up to the frame's end */
		if (!flow_is_data(v + 1) || !flow_most(v + 1, &most) || most > BYTES_MAX)
			return "a call copies as many bytes as it likes; let that be at most 8192";
		len = flow_is_number(v + 1, &number) && number > 0 ? number : 0;
		break;
	default:
		return NULL;
	}
	if (v->may & FLOW_MAP)
		return "it gives a helper the address of a map as that of data";
	if (!(v->may & FLOW_STACK))
		return NULL;
	/* A queue writes exactly its argument's bytes. If their place depends on data, the verifier
	 * demands that all possible places were written. A Bloom filter reads them. */
	if (is != PLACE || !map->is_queue || v->span || v->is_indexed)
		why = flow_stack_read(s, v, len);
	if (!why && is == PLACE)
		why = flow_stack_store(s, v, len, &data, false);
	if (!why) /* older verifiers take bytes that a helper reads for written */
		flow_stack_loosen(s, v->frame);
	return why;
}

const char *flow_helper(struct flow_state *s, const struct bpf_insn *i,
			const struct flow_maps *maps)
{
	const struct helper *h;
	struct kind map = { 0 };
	const char *why = NULL;

	if (i->imm < 0 || (size_t)i->imm >= sizeof(helpers) / sizeof(helpers[0]) ||
	    !helpers[i->imm].gives)
		return "it calls a helper that is not known here";
	h = &helpers[i->imm];
	if (h->takes[0] == MAP)
		why = kind_of(&s->registers[BPF_REG_1], maps, &map);
	for (unsigned int a = 0; !why && a < ARGUMENTS; a++)
		why = argument(s, BPF_REG_1 + a, h->takes[a], &map);
	for (unsigned int reg = BPF_REG_1; reg <= BPF_REG_5; reg++)
		s->registers[reg] = (struct flow_value){ 0 };
	s->registers[BPF_REG_0] = (struct flow_value){
		.may = h->gives, .span = h->gives == FLOW_DATA ? FLOW_UNKNOWN : 0 /* NULL */
	};
	return why;
}
