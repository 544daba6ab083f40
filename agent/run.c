// SPDX-License-Identifier: GPL-2.0
/*
 * saluki run. A frame's way, and where to read it:
 *
 *     privileged process         unprivileged process (sensor.c)                    collector
 *
 *     privileged.c, tap/         source/       capture.c    queue.c     export/
 *     interface ─▶ bpf/capture.bpf.c ─▶ ring ─▶ combo ─▶ queue ─▶ zstd ─▶ seal ─▶ UDP ─▶
 *               │  filter.h parse*.h     source_ring.c          compress.c wire/shroud.c
 *               │  trim.h
 *               ├▶ bpf/xsk.bpf.c ─▶ a queue's socket: source_xsk.c     control.c,
 *               └▶ packet socket: source_mmap.c                        session.c ◀─ ACKs
 *     file ─▶ source_file.c
 *     privileged_requests.c ◀──────────────────────── commands.c, compile_filter.c ◀─ control.c ◀─
 * orders tap/tune.c ◀─ radio/sampler.c, plan.c ─▶ radio/dwells.c ─▶ capture.c
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <saluki/log.h>
#include <saluki/privsep.h>

#include "agent/options/subcommands.h"
#include "agent/options/options.h"
#include "privileged.h"
#include "sensor.h"
#include "agent/tap/xsk.h"
#include "wire/keys.h"

int run_main(int argc, char **argv)
{
	static struct run_options o; /* and what it points to: for the whole run */
	int socks[2], status = options_parse(&o, argc, argv);
	struct shared_statistics *board; /* the one thing that both processes write and read */
	sigset_t signals;
	pid_t child;

	if (status)
		return status < 0 ? 0 : status;
	/* It may wait: nothing is attached yet, and a signal ends it. */
	if (keys_init()) {
		log_line("libsodium does not start on this machine");
		return 1;
	}
	/* Both processes have these from the fork: see xsk.h. */
	if (o.capture.source == SOURCE_XSK && xsk_sockets_open(&o.capture))
		return 1;
	privsep_block_signals(&signals);
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (board == MAP_FAILED || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks)) {
		log_line("cannot make a socket pair: %s", strerror(errno));
		return 1;
	}
	child = fork();
	if (child < 0) {
		log_line("cannot start a second process: %s", strerror(errno));
		return 1;
	}
	if (child == 0) {
		close(socks[0]);
		_exit(sensor_process(&o, socks[1], board));
	}
	close(socks[1]);
	xsk_sockets_forget_memory();
	status = privileged_process(&o, socks[0], &signals, child, board);
	waitpid(child, NULL, 0); /* where there was no handover; else it has ended already */
	return status;
}
