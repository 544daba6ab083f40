// SPDX-License-Identifier: GPL-2.0
/* loop N: runs N instructions of MIPS, to be counted, and a few thousand to start and end. */
#include <stdlib.h>

int main(int argc, char **argv)
{
	unsigned long rounds = argc == 2 ? strtoul(argv[1], NULL, 10) / 2 : 0;

	if (!rounds)
		return 2;
	__asm__ volatile(".set push\n\t.set noreorder\n"
			 "1:\tbnez %0, 1b\n\taddiu %0, %0, -1\n\t.set pop"
			 : "+r"(rounds));
	return 0;
}
