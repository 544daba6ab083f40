// SPDX-License-Identifier: GPL-2.0
/* Declares a larger view than there is. */
// refused: wants another view: refused: its struct frame_view has 4096 bytes

struct frame_view {
	char bytes[4096];
};

int module(struct frame_view *v)
{
	return v ? v->bytes[4095] : 0;
}

char LICENSE[] __attribute__((section("license"), used)) = "GPL";
