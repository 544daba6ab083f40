// SPDX-License-Identifier: GPL-2.0
/* Takes a number in place of the view. */
// refused: wants to be called otherwise: refused: a module is one function

int module(unsigned long v)
{
	return v != 0;
}

char LICENSE[] __attribute__((section("license"), used)) = "GPL";
