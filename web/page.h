/* SPDX-License-Identifier: GPL-2.0 */
/* The page's files, compiled into the program. */
#ifndef WEB_PAGE_H
#define WEB_PAGE_H

#include <stddef.h>

struct page_file {
	const char *path; /* in URLs */
	const char *type;
	const char *begin, *end;
};

/* Returns NULL if there is no such file. */
const struct page_file *page_find(const char *path);

#endif
