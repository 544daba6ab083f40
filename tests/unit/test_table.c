// SPDX-License-Identifier: GPL-2.0
/* The table of addresses against a plain list: after any additions and removals both agree.
 *
 * links: wire/table.o */
#include "unit.h"

#include "wire/table.h"

#define MODEL_MAX 2000

static struct table_entry model[MODEL_MAX];
static size_t model_count;

static uint64_t random_state;

/* Knuth's MMIX generator, its upper bits twice. */
static uint64_t draw(void)
{
	uint64_t high;

	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	high = random_state >> 32;
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return high << 32 | random_state >> 32;
}

static void add(struct table *t, uint64_t address, uint32_t owner, uint32_t low)
{
	assert_true(model_count < MODEL_MAX);
	model[model_count++] =
		(struct table_entry){ .address = address, .owner = owner, .low = low };
	assert_int_equal(table_add(t, address, owner, low), 0);
}

static void drop(struct table *t, size_t i)
{
	struct table_entry e = model[i];

	model[i] = model[--model_count];
	table_remove(t, e.address, e.owner, e.low);
}

static size_t times(const struct table *t, const struct table_entry *e)
{
	const struct table_entry *f = NULL;
	size_t n = 0;

	while ((f = table_find(t, e->address, f)))
		n += f->owner == e->owner && f->low == e->low;
	return n;
}

static size_t model_times(const struct table_entry *e)
{
	size_t n = 0;

	for (size_t i = 0; i < model_count; i++)
		n += model[i].address == e->address && model[i].owner == e->owner &&
		     model[i].low == e->low;
	return n;
}

static void check(const struct table *t)
{
	assert_int_equal(t->used, model_count);
	assert_true(t->used < t->size);
	for (size_t i = 0; i < model_count; i++)
		assert_int_equal(times(t, &model[i]), model_times(&model[i]));
}

static uint64_t any(void)
{
	return draw();
}

/* All belong to a few places, at both ends of the table, so that runs wrap. */
static uint64_t crowded(void)
{
	uint64_t place = draw() % 3 ? ~0ULL : 0;

	return place ^ (draw() & 0xffffffffffff);
}

/* The same few again and again. */
static uint64_t few(void)
{
	return draw() % 5 * 0x3000000000000000ULL;
}

static void as_the_model(uint64_t (*address)(void), int steps)
{
	struct table t;

	model_count = 0;
	random_state = 1;
	assert_int_equal(table_init(&t, 1), 0);
	for (int i = 0; i < steps; i++) {
		/* Grows for a while, then shrinks for a while. */
		bool more = draw() % 8 < (i / 400 % 2 ? 3 : 5);

		if (model_count && !more)
			drop(&t, draw() % model_count);
		else
			add(&t, address(), 1 + draw() % 3, draw() % 4);
		if (i % 16 == 0)
			check(&t);
	}
	while (model_count)
		drop(&t, draw() % model_count);
	check(&t);
	for (uint64_t i = 0; i < t.size; i++)
		assert_int_equal(t.entries[i].owner, 0);
	table_free(&t);
}

static void it_has_what_was_added(void **state)
{
	(void)state;
	as_the_model(any, 4000);
	as_the_model(crowded, 2000);
	as_the_model(few, 1000);
}

static void equal_addresses_are_all_found(void **state)
{
	const struct table_entry *a, *b;
	struct table t;

	(void)state;
	assert_int_equal(table_init(&t, 8), 0);
	assert_int_equal(table_add(&t, 5, 1, 10), 0);
	assert_int_equal(table_add(&t, 5, 2, 10), 0);
	a = table_find(&t, 5, NULL);
	b = table_find(&t, 5, a);
	assert_true(a && b && a->owner + b->owner == 3);
	assert_null(table_find(&t, 5, b));
	table_remove(&t, 5, 1, 11); /* is not there */
	table_remove(&t, 5, 1, 10);
	a = table_find(&t, 5, NULL);
	assert_true(a && a->owner == 2 && !table_find(&t, 5, a));
	table_free(&t);
}

static void zero_is_an_address(void **state)
{
	struct table t;

	(void)state;
	assert_int_equal(table_init(&t, 0), 0);
	assert_null(table_find(&t, 0, NULL));
	assert_null(table_find(&t, UINT64_MAX, NULL));
	assert_int_equal(table_add(&t, 0, 1, 0), 0);
	assert_int_equal(table_add(&t, UINT64_MAX, 1, 0), 0);
	assert_non_null(table_find(&t, 0, NULL));
	assert_non_null(table_find(&t, UINT64_MAX, NULL));
	table_prefetch(&t, 0);
	table_prefetch(&t, UINT64_MAX);
	table_free(&t);
	table_free(&t);
}

/* The requested number fits without growing, at three quarters full or less; the table is never
 * full. */
static void sizes(void **state)
{
	(void)state;
	for (uint64_t expected = 0; expected < 3000; expected = expected * 5 / 4 + 1) {
		struct table_entry *before;
		struct table t;

		assert_int_equal(table_init(&t, expected), 0);
		before = t.entries;
		random_state = expected;
		for (uint64_t i = 0; i < expected; i++)
			assert_int_equal(table_add(&t, draw(), 1, i), 0);
		assert_ptr_equal(t.entries, before);
		assert_true(t.used * 4 <= t.size * 3);
		for (uint64_t i = 0; i < 3 * expected + 200; i++)
			assert_int_equal(table_add(&t, draw(), 2, i), 0);
		assert_true(t.used * 4 <= t.size * 3);
		table_free(&t);
	}
	assert_int_equal(sizeof(struct table_entry), 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_has_what_was_added),
		cmocka_unit_test(equal_addresses_are_all_found),
		cmocka_unit_test(zero_is_an_address),
		cmocka_unit_test(sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
