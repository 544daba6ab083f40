// SPDX-License-Identifier: GPL-2.0
/* Has a license that the kernel refuses. */
// refused: wants license 'Proprietary': refused:

struct frame_view {
	char bytes[400];
};

int module(struct frame_view *v)
{
	return v != (void *)0;
}

char LICENSE[] __attribute__((section("license"), used)) = "Proprietary";
