// SPDX-License-Identifier: GPL-2.0
/* Extcap: see extcap.h. */
#include "extcap.h"

#include <stdio.h>
#include <string.h>

#include "expression.h"
#include "version.h"

/* ---- words ----------------------------------------------------------------------------------- */

static const struct extcap_setting flags[] = {
	{ "--extcap-interfaces", offsetof(struct extcap_call, interfaces) },
	{ "--extcap-dlts", offsetof(struct extcap_call, link_types) },
	{ "--extcap-config", offsetof(struct extcap_call, config) },
	{ "--capture", offsetof(struct extcap_call, capture) },
	{ 0 },
};

static const struct extcap_setting values_of_call[] = {
	{ "--extcap-capture-filter", offsetof(struct extcap_call, filter) },
	{ "--extcap-control-in", offsetof(struct extcap_call, control_in) },
	{ "--extcap-control-out", offsetof(struct extcap_call, control_out) },
	{ "--fifo", offsetof(struct extcap_call, fifo) },
	{ 0 },
};

bool extcap_is(const char *link, int argc, char **argv)
{
	const char *name = argc ? strrchr(argv[0], '/') : NULL;

	name = name ? name + 1 : argc ? argv[0] : "";
	return !strcmp(name, link) ||
	       (argc > 1 && (!strncmp(argv[1], "--extcap-", 9) || !strcmp(argv[1], "--capture")));
}

/* Returns where the word's value is kept, or NULL. */
static void *place_of(const struct extcap_setting *list, void *base, const char *word, size_t len)
{
	for (; list->name; list++)
		if (strlen(list->name) == len && !memcmp(list->name, word, len))
			return (char *)base + list->offset;
	return NULL;
}

/* A value is the next word, or behind '='. */
void extcap_read(struct extcap_call *c, const struct extcap_setting *settings, void *values,
		 int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		size_t len = strcspn(argv[i], "=");
		bool *flag = place_of(flags, c, argv[i], len);
		const char **value = place_of(values_of_call, c, argv[i], len)
					     ?: place_of(settings, values, argv[i], len);

		if (flag)
			*flag = true;
		else if (value && argv[i][len])
			*value = argv[i] + len + 1;
		else if (value && i + 1 < argc)
			*value = argv[++i];
	}
}

/* ---- answers --------------------------------------------------------------------------------- */

void extcap_print_version(const char *display)
{
	printf("extcap {version=" SALUKI_VERSION "}{display=%s}\n", display);
}

/* The interfaces in the stream have their own link types. */
void extcap_print_link_types(void)
{
	printf("dlt {number=147}{name=USER0}{display=The link types of the sensors}\n");
}

bool extcap_is_plain(const char *word)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-";

	return *word && !word[strspn(word, allowed)];
}

void extcap_check_filter(const char *filter)
{
	struct expression e = { 0 };
	char why[EXPRESSION_WHY_MAX] = "out of memory";

	if (expression_set(&e, filter, why))
		printf("%s\n", why);
	expression_free(&e);
}
