// SPDX-License-Identifier: GPL-2.0
/* links: agent/module/signature.o wire/keys.o */
/*
 * Signatures of modules. Always holds: a refused one has a reason; an accepted one is written as
 * the same bytes again; only the genuine one is valid.
 */
#include "fuzz.h"

#include "agent/module/signature.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const uint8_t seed[KEY_LEN] = { 1 };
	uint8_t *text = fuzz_copy(data, len);
	char again[SIGNATURE_TEXT_MAX];
	struct module_signature s;
	const char *why = NULL;

	if (signature_parse(&s, (const char *)text, len, &why)) {
		CHECK(why && *why);
	} else {
		CHECK(module_name_valid(s.name));
		CHECK(signature_print(again, &s) == len && !memcmp(again, text, len));
		signature_make(&s, seed);
		CHECK(signature_valid(&s));
		s.serial ^= 1;
		CHECK(!signature_valid(&s));
	}
	fuzz_free(text);
	return 0;
}
