/* SPDX-License-Identifier: GPL-2.0 */
/* Channels are both ends': see wire/channel.h. */
#include "wire/channel.h"
