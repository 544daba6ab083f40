// SPDX-License-Identifier: GPL-2.0
/*
 * saluki run. A frame's way, and where to read it. ═▶ leads to another process or thread. capture/
 * calls source/ for each frame (struct source_ops), and source/ calls rings/. After the queue,
 * export.c calls onward.
 *
 *     privileged.c: the privileged process, in which tap/ attaches to
 *       interface ─▶ bpf/capture.bpf.c: filter, trim, ring or mapped ═▶ rings/ring, mapped
 *                 │    and afterwards modules.bpf.c, which adds events to the ring
 *                 ├▶ bpf/xsk.bpf.c: filter, trim ═▶ a queue's socket, rings/xsk_ring
 *                 └▶ packet socket: filter, first cut ═▶ rings/packet_ring
 *
 *     sensor.c: the unprivileged process
 *       capture thread    rings/ or a file ─▶ source/: filters a file's frames, and trims if no
 *                         BPF program has ─▶ capture/: a combo is filled ═▶ queue
 *       export thread     export/export.c: wire/compress ─▶ deliver, store ─▶ deliver_send
 *                         ─▶ session_send ═▶ UDP. source/ frees space in BPF and mapped rings when
 *                         a combo was exported, and in other rings when a combo has the frame
 *           rings/journal   how far the ring is exported, for the next agent
 *           resume          before the threads: an earlier agent's last combo, ring ═▶ queue
 *           spool           with --spool, puts combos into the store. Combos that wait, or have no
 *                           room there, go to a file (a thread), and come back
 *           forward         combos that an earlier agent left in that file ─▶ a deliver of its own
 *           in_flight       datagrams in the network, and those that are lost
 *           session_mailbox the control thread's ACKs ═▶ deliver_receive ─▶ store
 *           one_way         with --one-way, each turn and batch: its own ACK ─▶ deliver_receive
 *       control thread    control/ ─▶ export/session, handshake, session_receive ◀─ UDP
 *           remote/         commands ─▶ privileged_requests, in the privileged process
 *           radio/          sampler, plan ─▶ tap/tune.c there; dwells ─▶ capture/
 *           model/          statistics, which status/ reads there for `saluki status`
 *
 * options/ fills in the options of both; model/handover.h has their messages. filter/, programs/
 * and interface/ are tools of tap/, and some of source/. process/ confines each process.
 * tests/cli/test_rooms.py has the order of all rooms.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/options/subcommands.h"
#include "agent/options/options.h"
#include "common/log.h"
#include "common/privsep.h"
#include "common/terminal_line.h"
#include "privileged.h"
#include "run.h"
#include "sensor.h"
#include "agent/rings/xsk.h"
#include "wire/keys.h"

int run_sensor(const struct run_options *o)
{
	struct shared_statistics *board; /* shared by both processes */
	int sock, status;
	sigset_t signals;
	struct terminal_line line = { 0 };
	pid_t child;

	if (o->log_level > LOG_LEVEL_QUIET && !o->no_line)
		terminal_line_open(&line);
	/* Both processes get these by the fork: see xsk.h. */
	if (o->capture.source == SOURCE_XSK && xsk_sockets_open(&o->capture))
		return 1;
	privsep_block_signals(&signals);
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (board == MAP_FAILED) {
		log_line("cannot share memory with a second process: %s", strerror(errno));
		return 1;
	}
	child = privsep_fork(&sock);
	if (child < 0)
		return 1;
	if (child == 0) {
		for (int i = 0; i < 2; i++)
			if (o->begin_fds[i] >= 0)
				close(o->begin_fds[i]);
		_exit(sensor_process(o, sock, board, &line));
	}
	if (o->local)
		close(o->to[0].inherited); /* the collector sees the other process's end by it */
	xsk_sockets_forget_memory();
	status = privileged_process(o, sock, &signals, child, board, &line);
	waitpid(child, NULL, 0); /* without a handover; else it has ended already */
	terminal_line_close(&line);
	return status;
}

int run_main(int argc, char **argv)
{
	static struct run_options o; /* and its pointers: for the whole run */
	int status = options_parse(&o, argc, argv);

	if (status)
		return status < 0 ? 0 : status;
	log_start(o.log_level);
	/* It may wait: nothing is attached yet, and signals end it. */
	if (keys_init()) {
		log_line("libsodium does not start on this machine");
		return 1;
	}
	return run_sensor(&o);
}
