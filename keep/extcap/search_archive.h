/* SPDX-License-Identifier: GPL-2.0 */
/* Search archive: a capture of Wireshark: runs the search of find/, whose output is Wireshark's
 * FIFO. */
#ifndef KEEP_EXTCAP_SEARCH_ARCHIVE_H
#define KEEP_EXTCAP_SEARCH_ARCHIVE_H

/* As Wireshark gives them. All but the folder may be NULL or "": all. Lists have commas. */
struct archive_search {
	const char *folder, *fifo;
	const char *from, *to;
	const char *sensors; /* @GROUP: a group's */
	const char *group;
	const char *addresses;
	const char *filter;
};

/* Returns the exit status: 1 after a line, which Wireshark shows. A search that Wireshark has
 * stopped is no failure. */
int archive_search(const struct archive_search *a);

#endif
