// SPDX-License-Identifier: GPL-2.0
/* See host_name.h. */
#include "host_name.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

void host_name(char name[HOST_NAME_LEN])
{
	memset(name, 0, HOST_NAME_LEN);
	gethostname(name, HOST_NAME_LEN - 1);
	for (char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '-' && *c != '_' && *c != '.')
			*c = '-';
	if (!*name)
		strcpy(name, "localhost");
}
