// SPDX-License-Identifier: GPL-2.0
/* The page's files: see page.h. The paths are relative to where make runs. */
#include "page.h"

#include <string.h>

#define INCLUDE(name, path)                                                                        \
	__asm__(".section .rodata\n" #name "_begin:\n"                                             \
		".incbin \"" path "\"\n" #name "_end:\n"                                           \
		".byte 0\n"                                                                        \
		".previous\n");                                                                    \
	extern const char name##_begin[] __attribute__((visibility("hidden")));                    \
	extern const char name##_end[] __attribute__((visibility("hidden")))

INCLUDE(page_index, "web/page/index.html");
INCLUDE(page_script, "web/page/page.js");
INCLUDE(page_style, "web/page/page.css");

static const struct page_file files[] = {
	{ "/", "text/html; charset=utf-8", page_index_begin, page_index_end },
	{ "/page.js", "text/javascript; charset=utf-8", page_script_begin, page_script_end },
	{ "/page.css", "text/css; charset=utf-8", page_style_begin, page_style_end },
};

const struct page_file *page_find(const char *path)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (!strcmp(files[i].path, path))
			return &files[i];
	return NULL;
}
