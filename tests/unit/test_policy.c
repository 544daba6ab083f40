// SPDX-License-Identifier: GPL-2.0
/*
 * links: agent/module/policy.o agent/module/policy_grant.o agent/module/words.o
 * agent/module/signature.o agent/module/object.o agent/module/trusted.o wire/keys.o
 */
#include "unit.h"

#include <linux/bpf.h>

#include "agent/module/policy.h"

#define KEY "dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo="
#define OTHER "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo="

static struct module_policy policy;
static char why[POLICY_WHY_LEN];

static int parse(const char *text)
{
	why[0] = 0;
	return policy_parse(&policy, text, strlen(text), why);
}

static const struct module_grant *granted(const char *entries)
{
	char text[1024];

	snprintf(text, sizeof(text), "[Keys]\nAnonymise=/a\nTrajectory=/t\n[Module m]\n%s\n",
		 entries);
	assert_int_equal(parse(text), 0);
	return policy_grant(&policy, "m");
}

/* Asserts a refusal that names the line and has these words. */
static void assert_refused(const char *text, const char *said)
{
	assert_int_equal(parse(text), -EINVAL);
	if (!strstr(why, said))
		fail_msg("'%s' is refused with '%s', not with '%s'", text, why, said);
}

static void what_is_not_named_is_not_granted(void **state)
{
	const struct module_grant *g = granted("");
	static const struct module_grant nothing;

	(void)state;
	assert_memory_equal(&g->key_count, &nothing.key_count,
			    sizeof(*g) - offsetof(struct module_grant, key_count));
	assert_false(grant_for_interface(g, "eth0"));
	assert_false(grant_key(g, g->keys[0]));
	assert_null(policy_grant(&policy, "n"));
}

static void all_that_can_be_granted(void **state)
{
	const struct module_grant *g = granted(
		"Key = " KEY "  # whose\n  key=" OTHER "\r\nINTERFACE = mon*,eth0\ninterface = x\n"
		"Show = radiotap, mac hashed,ssid,ip  prefix, ports, payload 64\nshow = label\n"
		"Helper = map_lookup_elem , ktime_get_ns\nMap = array, lru_hash\nMapMemory = 256K\n"
		"Instructions = 2000\nEvents = 100\nPriority = 50\nproof = kernel\n\n# the end");

	(void)state;
	assert_int_equal(g->line, 4);
	assert_int_equal(g->key_count, 2);
	assert_int_equal(g->keys[0][0], 0x77);
	assert_true(grant_key(g, g->keys[1]));
	assert_true(grant_for_interface(g, "mon12") && grant_for_interface(g, "x"));
	assert_false(grant_for_interface(g, "eth01"));
	assert_int_equal(g->shown, VIEW_RADIOTAP | VIEW_MAC | VIEW_SSID | VIEW_IP | VIEW_PORTS |
					   VIEW_PAYLOAD | VIEW_LABEL);
	assert_int_equal(g->hashed, VIEW_MAC);
	assert_int_equal(g->prefix, VIEW_IP);
	assert_int_equal(g->payload, 64);
	assert_true(grant_helper(g, BPF_FUNC_map_lookup_elem) &&
		    grant_helper(g, BPF_FUNC_ktime_get_ns));
	assert_false(grant_helper(g, BPF_FUNC_map_update_elem) || grant_helper(g, 100000));
	assert_true(grant_map_type(g, BPF_MAP_TYPE_LRU_HASH));
	assert_false(grant_map_type(g, BPF_MAP_TYPE_HASH) || grant_map_type(g, 1000));
	assert_int_equal(g->map_memory, 256 << 10);
	assert_int_equal(g->instructions, 2000);
	assert_int_equal(g->events, 100);
	assert_int_equal(g->priority, 50);
	assert_int_equal(g->proof, GRANT_PROOF_KERNEL);
	assert_string_equal(policy.anonymise, "/a");
	assert_string_equal(policy.trajectory, "/t");
}

static void a_module_s_own_section_goes_first(void **state)
{
	(void)state;
	assert_int_equal(parse("[Module *]\nEvents=1\n[module  m ]\nEvents=2\n[Module n]"), 0);
	assert_int_equal(policy_grant(&policy, "m")->events, 2);
	assert_int_equal(policy_grant(&policy, "n")->events, 0);
	assert_int_equal(policy_grant(&policy, "other")->events, 1);
}

static void who_is_to_prove_it(void **state)
{
	(void)state;
	assert_int_equal(granted("Events = 1")->proof, GRANT_PROOF_EITHER);
	assert_int_equal(granted("Proof = kernel # only")->proof, GRANT_PROOF_KERNEL);
	assert_int_equal(granted("PROOF=saluki")->proof, GRANT_PROOF_SALUKI);
}

static void mistakes_are_said_with_line_and_word(void **state)
{
	static const struct {
		const char *text, *said;
	} bad[] = {
		{ "\n\nEvents = 1", "line 3: Events: belongs into a section" },
		{ "[Module]", "line 1: [Module]: is no section" },
		{ "[Modules m]", "line 1: [Modules m]: is no section" },
		{ "[Module m", "line 1: [Module m: is no section" },
		{ "[Module ]", "is no name of a module" },
		{ "[Module a b]", "a b: is no name of a module" },
		{ "[Module ../m]", "../m: is no name" },
		{ "[Module m]\n[Module m]", "line 2: m: has a section already" },
		{ "[Module *]\n[Module *]", "line 2: *: has a section already" },
		{ "[Module m]\nEvents", "line 2: Events: needs something behind it" },
		{ "[Module m]\nEvents =  # 5", "line 2: Events: needs something behind it" },
		{ "[Module m]\n= 5", "needs something" },
		{ "[Module m]\nProof = none", "line 2: Proof: none: no such choice" },
		{ "[Module m]\nProof = kernel, saluki", "kernel, saluki: no such choice" },
		{ "[Module m]\nProof = kernel\nPROOF = kernel",
		  "line 3: Proof: stands here twice" },
		{ "[Module m]\nBark = 5", "line 2: Bark: no such entry; there are Key" },
		{ "[Module m]\nKey = abc", "line 2: Key: abc: is no key" },
		{ "[Module m]\nKey = " KEY ",", "Key: a word is missing beside a comma" },
		{ "[Module m]\nInterface = a b", "Interface: a b: is no interface" },
		{ "[Module m]\nInterface = abcdefghijklmnop", "is no interface" },
		{ "[Module m]\nShow = ip, mac, ip", "Show: ip: stands here twice" },
		{ "[Module m]\nShow = ip\nShow = ip hashed",
		  "line 3: Show: ip: stands here twice" },
		{ "[Module m]\nShow = mac prefix", "it can be shown as 'mac' or 'hashed'" },
		{ "[Module m]\nShow = ports hashed", "'ports' and in no other way" },
		{ "[Module m]\nShow = ip maybe", "'ip' or 'hashed' or 'prefix'" },
		{ "[Module m]\nShow = ip mac", "'ip' or 'hashed' or 'prefix'" },
		{ "[Module m]\nShow = ip hashed mac", "mac: a comma is missing" },
		{ "[Module m]\nShow = payload", "how many bytes" },
		{ "[Module m]\nShow = payload 0", "how many bytes" },
		{ "[Module m]\nShow = payload 129", "how many bytes" },
		{ "[Module m]\nShow = payload 1K", "how many bytes" },
		{ "[Module m]\nHelper = bpf_map_lookup_elem", "is none that a module can have" },
		{ "[Module m]\nHelper = probe_read_kernel", "is none that a module can have" },
		{ "[Module m]\nHelper = snprintf", "is none that a module can have" },
		{ "[Module m]\nHelper = loop", "is none that a module can have" },
		{ "[Module m]\nHelper = tail_call", "is none that a module can have" },
		{ "[Module m]\nMap = prog_array", "is no type that a module can have" },
		{ "[Module m]\nPriority = 101",
		  "line 2: Priority: 101: must be a whole number from 0 to 100" },
		{ "[Module m]\nPriority = -1", "must be a whole number" },
		{ "[Module m]\nEvents = 1\nevents = 2", "line 3: Events: stands here twice" },
		{ "[Module m]\nMapMemory = 1G", "must be a whole number" },
		{ "[Module m]\nMapMemory = 1KK", "must be a whole number" },
		{ "[Module m]\nMapMemory = 1025M", "must be a whole number" },
		{ "[Module m]\nMapMemory = 18446744073709551616", "must be a whole number" },
		{ "[Module m]\nMapMemory = 18014398509481985K", "must be a whole number" },
		{ "[Keys]\nAnonymise = a", "line 2: a: must be a path from / on" },
		{ "[Keys]\nOther = /a", "no such entry in [Keys]" },
		{ "[Keys]\nAnonymise = /a\nAnonymise = /b",
		  "line 3: Anonymise: stands here twice" },
		{ "\n[Module m]\nShow = mac hashed",
		  "line 2: [Module m]: 'hashed' and 'prefix' need a key" },
		{ "[Module m]\nShow = ip prefix\n[Keys]\nTrajectory=/t", "need a key: Anonymise" },
		{ "[Module m]\nShow = label\n[Keys]\nAnonymise=/t",
		  "'label' needs a key: Trajectory" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_refused(bad[i].text, bad[i].said);
	assert_int_equal(policy_parse(&policy, "[Keys]\n\0x", 9, why), -EINVAL);
	assert_int_equal(parse("[Module m]\nShow = ip prefix\n[Keys]\nAnonymise=/t"), 0);
}

static void no_more_than_there_is_room_for(void **state)
{
	char text[8192] = "[Module m]\n";

	(void)state;
	for (int i = 0; i < GRANT_KEYS_MAX; i++)
		strcat(text, "Key = " KEY "\n");
	assert_int_equal(parse(text), 0);
	assert_refused(strcat(text, "Key = " KEY "\n"), "line 18: Key: more than 16");
	strcpy(text, "[Module m]\nInterface = a");
	for (int i = 1; i < GRANT_INTERFACES_MAX; i++)
		strcat(text, ",a");
	assert_int_equal(parse(text), 0);
	assert_refused(strcat(text, ",a"), "Interface: more than 16");
	text[0] = 0;
	for (int i = 0; i < POLICY_GRANTS_MAX; i++)
		snprintf(text + strlen(text), 32, "[Module m%d]\n", i);
	assert_int_equal(parse(text), 0);
	assert_refused(strcat(text, "[Module n]\n"), "more than 64 sections");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_named_is_not_granted),
		cmocka_unit_test(all_that_can_be_granted),
		cmocka_unit_test(a_module_s_own_section_goes_first),
		cmocka_unit_test(who_is_to_prove_it),
		cmocka_unit_test(mistakes_are_said_with_line_and_word),
		cmocka_unit_test(no_more_than_there_is_room_for),
	};

	return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
