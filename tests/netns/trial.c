// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into a program: SIGUSR2 with a number makes it try a forbidden action from inside, and
 * print the result on standard error. The numbers are the places in `trials`; test_sandbox.py knows
 * them by name.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *made, *removed; /* files */

static long open_file(void)
{
	return open("/etc/passwd", O_RDONLY);
}

static long make_file(void)
{
	return open(made, O_WRONLY | O_CREAT, 0600);
}

static long remove_file(void)
{
	return unlink(removed);
}

/* In any open file, after its end, where there is no data. */
static long punch_hole(void)
{
	long got = -1;

	for (int fd = 3; fd < 256 && got < 0; fd++)
		got = fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 1LL << 40, 4096);
	return got;
}

static long execute(void)
{
	char *argv[] = { "true", NULL }, *envp[] = { NULL };

	return execve("/bin/true", argv, envp);
}

static long start_process(void)
{
	long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(0);
	return pid;
}

static long socket_udp(void)
{
	return socket(AF_INET, SOCK_DGRAM, 0);
}

static long socket_tcp(void)
{
	return socket(AF_INET6, SOCK_STREAM, 0);
}

static long socket_packet(void)
{
	return socket(AF_PACKET, SOCK_RAW, 0);
}

static long socket_netlink(void)
{
	return socket(AF_NETLINK, SOCK_RAW, 0);
}

static long make_map(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = 4,
		.value_size = 8,
		.max_entries = 1,
	};

	return syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
}

static long executable_memory(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
			       MAP_FAILED
		       ? -1
		       : 0;
}

static long trace(void)
{
	return ptrace(PTRACE_ATTACH, getppid(), NULL, NULL);
}

static long mount_something(void)
{
	return mount("none", "/mnt", "tmpfs", 0, NULL);
}

static long become_root(void)
{
	return syscall(SYS_setresuid, 0, 0, 0);
}

static long signal_others(void)
{
	return kill(getppid(), 0);
}

static const struct {
	const char *name;
	long (*run)(void);
} trials[] = {
	{ "open a file", open_file },
	{ "make a file", make_file },
	{ "remove a file", remove_file },
	{ "execute", execute },
	{ "start a process", start_process },
	{ "UDP socket", socket_udp },
	{ "TCP socket", socket_tcp },
	{ "packet socket", socket_packet },
	{ "netlink socket", socket_netlink },
	{ "make a map", make_map },
	{ "executable memory", executable_memory },
	{ "trace", trace },
	{ "mount", mount_something },
	{ "become root", become_root },
	{ "signal others", signal_others },
	{ "punch a hole", punch_hole },
};

static void try(int signo, siginfo_t *info, void *context)
{
	size_t number = info->si_value.sival_int;
	int before = errno;
	char line[128];
	long got;

	(void)signo;
	(void)context;
	if (number >= sizeof(trials) / sizeof(trials[0]))
		return;
	got = trials[number].run();
	snprintf(line, sizeof(line), "trial: %s: %s\n", trials[number].name,
		 got < 0 ? strerrorname_np(errno) : "done");
	if (write(STDERR_FILENO, line, strlen(line)) < 0)
		_exit(1);
	errno = before;
}

__attribute__((constructor)) static void ready(void)
{
	struct sigaction action = { .sa_sigaction = try, .sa_flags = SA_SIGINFO | SA_RESTART };

	made = getenv("TRIAL_MAKE");
	removed = getenv("TRIAL_REMOVE");
	sigaction(SIGUSR2, &action, NULL);
}
