/* SPDX-License-Identifier: GPL-2.0 */
/* The one place where the version stands. Programs print it; formats have numbers of their own. */
#ifndef COMMON_VERSION_H
#define COMMON_VERSION_H

#define SALUKI_VERSION "0.1.0"

#endif
