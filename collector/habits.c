// SPDX-License-Identifier: GPL-2.0
/* Habits: see habits.h. */
#include "habits.h"

#include <stddef.h>

const struct option_foreign collector_habits[] = {
	/* The collector does these: it writes each combo at once, as pcapng with nanoseconds,
	 * prints no names and no counts, and its files' group may read them. */
	{ "Ulngq", "packet-buffered immediate-mode nano", NULL, NULL },
	{ "Z:", "relinquish-privileges=", "user", NULL },
	{ "i:", "interface=", NULL,
	  "sensors capture: 'saluki run -i IF --to HOST:PORT'; 'saluki capture -i IF' needs no "
	  "collector" },
	{ "D", "list-interfaces", NULL,
	  "sensors capture; there, 'saluki capture -D' lists the interfaces" },
	{ "r:V:", "", NULL, "a sensor reads files: 'saluki run -r FILE --to HOST:PORT'" },
	{ "s:", "snapshot-length=", NULL,
	  "a sensor has it: 'saluki run -s BYTES'; or change it: 'saluki-collector ctl SENSOR set "
	  "snaplen BYTES'" },
	{ "f:F:O", "no-optimize", NULL,
	  "a sensor filters: 'saluki run ... EXPRESSION'; or change it: 'saluki-collector ctl "
	  "SENSOR "
	  "set filter EXPRESSION'" },
	{ "d", "", NULL, "'tcpdump -d' prints the code of a filter" },
	{ "c:a:", "autostop=", NULL,
	  "the collector writes until it is stopped; 'timeout SECONDS saluki-collector ...' ends "
	  "it "
	  "after a time" },
	{ "b:", "ring-buffer=", NULL, "a ring of files is -C SIZE or -G TIME, with -W COUNT" },
	{ "Q:", "direction=", NULL, "a sensor has it: 'saluki run -Q in|out|inout'" },
	{ "B:", "buffer-size=", NULL, "a sensor has the ring: 'saluki run -B KIB'" },
	{ "I", "monitor-mode", NULL, "a sensor has it: 'saluki run -i IF --monitor'" },
	{ "p", "no-promiscuous-mode", NULL, "sensors capture; 'saluki capture -i IF' has -p" },
	{ "k:", "", NULL,
	  "a sensor tunes: 'saluki run -i IF --channel CHANNEL'; or change it: 'saluki-collector "
	  "ctl SENSOR set channels LIST'" },
	{ "L", "list-data-link-types", NULL,
	  "sensors capture: 'saluki probe -i IF' tests an interface" },
	{ "y:", "linktype=", NULL,
	  "the sensors file says which link types a sensor may send: linktypes=LIST" },
	{ "Jj:", "list-time-stamp-types time-stamp-type= time-stamp-precision= micro", NULL,
	  "time stamps are the sensors', in nanoseconds" },
	{ "P", "", NULL, "files are pcapng; 'editcap -F pcap' converts them" },
	{ "z:", "", NULL, "the collector runs no programs; inotifywait(1) waits for closed files" },
	{ "S", "absolute-tcp-sequence-numbers", NULL,
	  "--stats-file FILE has counters; 'tcpdump -S -r FILE' prints frames" },
	{ "AbeE:HKm:M:N#tT:uxX", "count number print dont-verify-checksums", NULL,
	  "the collector writes frames and prints none: 'tcpdump -r FILE', or '-w - | tcpdump -r "
	  "-'" },
	{ "", "ifname= ifdescr=", NULL,
	  "a file names each interface SENSOR:IF, after the sensors file" },
	{ "", "capture-comment=", NULL,
	  "'editcap --capture-comment TEXT' adds a comment to a file" },
	{ "", "temp-dir=", NULL, "there are no temporary files; -w says where files go" },
	{ "", "log-level= log-fatal= log-domains= log-debug= log-noisy= log-file=", NULL,
	  "messages go to standard error; redirect it with 2>FILE" },
	{ 0 },
};
