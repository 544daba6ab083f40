// SPDX-License-Identifier: GPL-2.0
/* Table name: see table_name.h. */
#include "table_name.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/utf8.h"

unsigned int table_part(const char *name)
{
	unsigned int number = 0;
	int len = 0;

	if (sscanf(name, "part-%8u%n", &number, &len) != 1 || strcmp(name + len, TABLE_ENDING) != 0)
		return 0;
	return number; /* more than 8 digits: none */
}

bool table_is_text(const char *name)
{
	for (int n; *name; name += n) {
		n = utf8_character((const unsigned char *)name, 4);
		if (!n || (unsigned char)*name < 0x20)
			return false;
	}
	return true;
}

const char *table_wrong_stem(const char *stem)
{
	char name[NAME_MAX + sizeof(TABLE_ENDING)];

	if (snprintf(name, sizeof(name), "%s" TABLE_ENDING, stem) > NAME_MAX)
		return "it is too long";
	if (!strncmp(stem, "part-", 5) && table_part(name))
		return "joined tables have such names";
	if (*stem == '_' || *stem == '.')
		return "pandas and Spark read no file with '_' or '.' at its begin";
	return table_is_text(stem) ? NULL : "it is not UTF-8, or has control characters";
}
