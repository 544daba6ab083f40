// SPDX-License-Identifier: GPL-2.0
/* Dictionary: see dictionary.h. The path is relative to where make runs. */
#include "dictionary.h"

__asm__(".section .rodata\n"
	".global dictionary_dot11, dictionary_dot11_end\n"
	".balign 8\n"
	"dictionary_dot11:\n"
	".incbin \"wire/dictionary_dot11.bin\"\n"
	"dictionary_dot11_end:\n"
	".byte 0\n"
	".previous\n");
