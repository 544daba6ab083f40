// SPDX-License-Identifier: GPL-2.0
/* Day names: see day_name.h. */
#include "day_name.h"

#include <stddef.h>
#include <time.h>

#define SECOND_NS 1000000000LL

bool day_is_valid(const char *name)
{
	static const char form[] = "day=0000-00-00";

	for (size_t i = 0; i < sizeof(form); i++)
		if (form[i] == '0' ? name[i] < '0' || name[i] > '9' : name[i] != form[i])
			return false;
	return true;
}

void day_of(int64_t time_ns, char name[DAY_NAME])
{
	time_t seconds = time_ns / SECOND_NS;
	struct tm tm;

	gmtime_r(&seconds, &tm); /* its year has four digits: from 1677 to 2262 */
	strftime(name, DAY_NAME, "day=%Y-%m-%d", &tm);
}
