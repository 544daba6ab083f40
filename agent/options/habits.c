// SPDX-License-Identifier: GPL-2.0
/* Habits: see habits.h. */
#include "habits.h"

#ifdef WITHOUT_BPF
const struct option_foreign run_habits[] = { { 0 } }, capture_habits[] = { { 0 } };
#else

/* Rows that both commands have. */
#define HABITS_OF_ALL                                                                              \
	{ "Ulg", "packet-buffered nano", NULL, NULL },                                             \
		{ "", "snapshot-length=", "snaplen", NULL },                                       \
		{ "", "buffer-size=", "ring-size", NULL },                                         \
		{ "Z:", "relinquish-privileges=", "user", NULL },                                  \
		{ "", "version", NULL, "'saluki --version' prints it" },                           \
		{ "", "immediate-mode", NULL,                                                      \
		  "--combo-age MS sets how long frames wait before they are sent" },               \
		{ "I", "monitor-mode", NULL,                                                       \
		  "give --monitor after the interface: '-i IF --monitor'" },                       \
		{ "y:", "linktype=", NULL,                                                         \
		  "the link type is the interface's own; after '-i IF --monitor' it is "           \
		  "radiotap" },                                                                    \
		{ "k:", "", NULL, "give --channel CHANNEL after the interface" },                  \
		{ "J", "list-time-stamp-types", NULL,                                              \
		  "time stamps are the kernel's, in nanoseconds" },                                \
		{ "j:", "time-stamp-type= time-stamp-precision= micro", NULL,                      \
		  "time stamps are the kernel's, in nanoseconds" },                                \
		{ "L", "list-data-link-types", NULL,                                               \
		  "each interface has one link type; 'saluki probe -i IF' tests an interface" },   \
		{ "d", "", NULL,                                                                   \
		  "'tcpdump -d' prints the code of a filter; --filter-code FILE reads the output " \
		  "of 'tcpdump -ddd'" },                                                           \
		{ "O", "no-optimize", NULL,                                                        \
		  "to skip the optimizer, compile with 'tcpdump -O -ddd', and give --filter-code " \
		  "FILE" },                                                                        \
		{ "f:", "", NULL, "give the filter's expression last, without an option" },        \
		{ "V:", "", NULL, "give one file with -r; mergecap(1) joins several files" },      \
		{ "P", "", NULL, "files are pcapng; 'editcap -F pcap' converts them" },            \
		{ "z:", "", NULL,                                                                  \
		  "saluki runs no programs; inotifywait(1) waits for closed files" },              \
		{ "", "ifname= ifdescr=", NULL,                                                    \
		  "a file names each interface SENSOR:IF, after the sensors file" },               \
		{ "", "capture-comment=", NULL,                                                    \
		  "'editcap --capture-comment TEXT' adds a comment to a file" },                   \
		{ "", "temp-dir=", NULL, "there are no temporary files; -w says where files go" }, \
	{                                                                                          \
		"", "log-level= log-fatal= log-domains= log-debug= log-noisy= log-file=", NULL,    \
			"messages go to standard error; redirect it with 2>FILE"                   \
	}

const struct option_foreign run_habits[] = {
	HABITS_OF_ALL,
	{ "p", "no-promiscuous-mode", NULL, NULL }, /* `saluki run` never sets the mode */
	{ "w:", "", NULL,
	  "run sends to a collector, which writes; to write a file here, use 'saluki capture -w "
	  "FILE'" },
	{ "c:", "", NULL,
	  "run captures until it is stopped; 'saluki capture -c COUNT' stops after COUNT frames" },
	{ "a:", "autostop=", NULL,
	  "run captures until it is stopped; use 'timeout SECONDS saluki run ...', or 'saluki "
	  "capture -c COUNT'" },
	{ "C:G:W:b:", "ring-buffer=", NULL,
	  "the program that writes the files has -C, -G and -W: saluki-collector, or 'saluki "
	  "capture'" },
	{ "D", "list-interfaces", NULL, "'saluki capture -D' lists the interfaces" },
	{ "S", "absolute-tcp-sequence-numbers", NULL,
	  "run prints no frames, 'saluki capture' does; 'saluki status' prints counters" },
	{ "AbeE:HKm:M:nN#tT:uxX", "count number print dont-verify-checksums", NULL,
	  "run sends frames and prints none; 'saluki capture' prints them" },
	{ 0 },
};

const struct option_foreign capture_habits[] = {
	HABITS_OF_ALL,
	{ "a:", "autostop=", NULL,
	  "-c COUNT stops after COUNT frames; 'timeout SECONDS saluki capture ...' after a time" },
	{ "b:", "ring-buffer=", NULL, "a ring of files is -C SIZE or -G TIME, with -W COUNT" },
	{ "S", "absolute-tcp-sequence-numbers", NULL,
	  "tcpdump reads from a pipe: 'saluki capture -i IF -w - | tcpdump -S -r -'; 'saluki "
	  "status' prints counters" },
	{ "E:HKm:M:N#T:u", "count number print dont-verify-checksums", NULL,
	  "tcpdump reads from a pipe: 'saluki capture -i IF -w - | tcpdump -r - ...'" },
	{ 0 },
};

#endif /* WITHOUT_BPF */
