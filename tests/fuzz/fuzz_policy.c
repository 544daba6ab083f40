// SPDX-License-Identifier: GPL-2.0
/*
 * links: agent/module/policy.o agent/module/policy_grant.o agent/module/words.o
 * agent/module/signature.o agent/module/object.o agent/module/trusted.o wire/keys.o
 *
 * Policies of modules. Always holds: a refusal names the line; an accepted policy grants nothing
 * that no policy can grant, and nothing by a missing key.
 */
#include "fuzz.h"

#include "agent/module/policy.h"
#include "agent/module/signature.h"
#include "agent/module/words.h"

static void check_grant(const struct module_policy *p, const struct module_grant *g)
{
	CHECK(module_name_valid(g->name) || !strcmp(g->name, "*"));
	CHECK(policy_grant(p, g->name) == g);
	CHECK(g->key_count <= GRANT_KEYS_MAX && g->interface_count <= GRANT_INTERFACES_MAX);
	for (unsigned int i = 0; i < g->interface_count; i++)
		CHECK(*g->interfaces[i] && memchr(g->interfaces[i], 0, IFNAMSIZ));
	CHECK(!((g->hashed | g->prefix) & ~g->shown) && !(g->hashed & g->prefix));
	CHECK(!(g->hashed | g->prefix) || *p->anonymise == '/');
	CHECK(!(g->shown & VIEW_LABEL) || *p->trajectory == '/');
	CHECK(!!(g->shown & VIEW_PAYLOAD) == !!g->payload && g->payload <= MODULE_PAYLOAD_MAX);
	for (uint32_t i = 0; i < GRANT_HELPERS; i++)
		CHECK(!grant_helper(g, i) || words_helper_grantable(i));
	for (uint32_t i = 0; i < GRANT_MAP_TYPES; i++)
		CHECK(!grant_map_type(g, i) || words_map_type_grantable(i));
	CHECK(g->map_memory <= 1 << 30 && g->priority <= 100);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct module_policy p;
	uint8_t *text = fuzz_copy(data, len);
	char why[POLICY_WHY_LEN] = "";

	if (policy_parse(&p, (const char *)text, len, why))
		CHECK(!strncmp(why, "line ", 5));
	else
		for (unsigned int i = 0; i < p.count; i++)
			check_grant(&p, &p.grants[i]);
	fuzz_free(text);
	return 0;
}
