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
INCLUDE(page_words, "web/page/words.js");
INCLUDE(page_fleet, "web/page/fleet.js");
INCLUDE(page_squares, "web/page/squares.js");
INCLUDE(page_channels, "web/page/channels.js");
INCLUDE(page_sensor, "web/page/sensor.js");
INCLUDE(page_script, "web/page/page.js");
INCLUDE(page_style, "web/page/page.css");
INCLUDE(page_icon, "web/page/icon.svg");

#define SCRIPT "text/javascript; charset=utf-8"

static const struct page_file files[] = {
	{ "/", "text/html; charset=utf-8", page_index_begin, page_index_end },
	{ "/words.js", SCRIPT, page_words_begin, page_words_end },
	{ "/fleet.js", SCRIPT, page_fleet_begin, page_fleet_end },
	{ "/squares.js", SCRIPT, page_squares_begin, page_squares_end },
	{ "/channels.js", SCRIPT, page_channels_begin, page_channels_end },
	{ "/sensor.js", SCRIPT, page_sensor_begin, page_sensor_end },
	{ "/page.js", SCRIPT, page_script_begin, page_script_end },
	{ "/page.css", "text/css; charset=utf-8", page_style_begin, page_style_end },
	{ "/icon.svg", "image/svg+xml", page_icon_begin, page_icon_end },
};

const struct page_file *page_find(const char *path)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (!strcmp(files[i].path, path))
			return &files[i];
	return NULL;
}
