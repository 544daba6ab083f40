// SPDX-License-Identifier: GPL-2.0
/* Link: see link.h. Files are memory (memfd), shared by both processes. */
#include "link.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/process/sandbox.h"
#include "common/log.h"
#include "common/privsep.h"
#include "descriptors.h"

enum { SHIM, MODULE, OUT, SAYS, FILES };

/* ---- the process ----------------------------------------------------------------------------- */

static struct {
	char text[LINK_WHY_LEN];
} said;

/* Keeps libbpf's last message as the reason. */
static int keep_said(enum libbpf_print_level level, const char *fmt, va_list args)
{
	if (level == LIBBPF_WARN)
		vsnprintf(said.text, sizeof(said.text), fmt, args);
	return 0;
}

static const char *name_of(char name[32], int fd)
{
	snprintf(name, 32, "/proc/self/fd/%d", fd);
	return name;
}

static int link_files(const int *files)
{
	char name[32];
	struct bpf_linker *linker = bpf_linker__new(name_of(name, files[OUT]), NULL);
	int err = linker ? 0 : -errno;

	err = err ?: bpf_linker__add_file(linker, name_of(name, files[SHIM]), NULL);
	err = err ?: bpf_linker__add_file(linker, name_of(name, files[MODULE]), NULL);
	err = err ?: bpf_linker__finalize(linker);
	bpf_linker__free(linker);
	return err;
}

/* Whether libbpf can open the linked object. */
static int try_open(int fd)
{
	struct bpf_object *obj;
	struct stat st;
	void *data;

	if (fstat(fd, &st))
		return -errno;
	data = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return -errno;
	obj = bpf_object__open_mem(data, st.st_size, NULL);
	return libbpf_get_error(obj);
}

static bool is_ours(const int *files, int fd)
{
	for (int i = 0; i < FILES; i++)
		if (files[i] == fd)
			return true;
	return false;
}

/* Closes all other files, so that the process can neither read nor fake other data. */
static bool keep_alone(const int *files)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), last = STDERR_FILENO;

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (!is_ours(files, fd) && dup2(null, fd) < 0)
			return false;
	for (int i = 0; i < FILES; i++)
		last = files[i] > last ? files[i] : last;
	for (int fd = STDERR_FILENO + 1; fd < last; fd++)
		if (!is_ours(files, fd))
			close(fd);
	descriptors_close_from(last + 1);
	return true;
}

static void serve(const int *files)
{
	int err;

	if (!keep_alone(files))
		_exit(2);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(10);
	libbpf_set_print(keep_said);
	if (privsep_drop(PRIVSEP_USER_DEFAULT) || sandbox_linker())
		_exit(2);
	err = link_files(files);
	err = err ?: try_open(files[OUT]);
	if (err && write(files[SAYS], said.text, strlen(said.text)) < 0)
		_exit(2);
	_exit(err ? 1 : 0);
}

/* ---- who asks -------------------------------------------------------------------------------- */

static int memory_file(const void *data, size_t len)
{
	int fd = memfd_create("saluki-module", MFD_CLOEXEC);

	if (fd >= 0 && pwrite(fd, data, len, 0) == (ssize_t)len)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int ask(const int *files, int says)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0)
		serve(files);
	/* So that a read ends when the process does. */
	close(says);
	if (child > 0)
		while (waitpid(child, &status, 0) < 0 && errno == EINTR)
			;
	return child < 0 ? -errno : status;
}

static void explain(int fd, int status, char why[LINK_WHY_LEN])
{
	ssize_t n = read(fd, why, LINK_WHY_LEN - 1);

	why[n > 0 ? n : 0] = 0;
	why[strcspn(why, "\n")] = 0;
	if (WIFSIGNALED(status))
		snprintf(why, LINK_WHY_LEN, "libbpf does not come to an end with it (signal %d)",
			 WTERMSIG(status));
	else if (!*why)
		snprintf(why, LINK_WHY_LEN, "libbpf does not take it, and does not say why");
}

static int take_linked(struct module_object *linked, int fd)
{
	struct stat st;

	memset(linked, 0, sizeof(*linked));
	if (fstat(fd, &st) || st.st_size <= 0 || st.st_size > LINKED_MAX)
		return -E2BIG;
	linked->len = st.st_size;
	linked->data = malloc(linked->len);
	if (!linked->data)
		return -ENOMEM;
	return pread(fd, linked->data, linked->len, 0) == st.st_size ? 0 : -EIO;
}

int link_module(struct module_object *linked, const struct module_object *o, enum module_hook hook,
		char why[LINK_WHY_LEN])
{
	struct module_shim shim = module_shim(hook);
	int files[FILES], says[2] = { -1, -1 }, status, err = 0;

	memset(linked, 0, sizeof(*linked));
	files[SHIM] = memory_file(shim.data, shim.len);
	files[MODULE] = memory_file(o->data, o->len);
	files[OUT] = memory_file("", 0);
	if (pipe2(says, O_CLOEXEC) || files[SHIM] < 0 || files[MODULE] < 0 || files[OUT] < 0) {
		err = errno ? -errno : -EIO;
		snprintf(why, LINK_WHY_LEN, "%s", strerror(-err));
		goto out;
	}
	files[SAYS] = says[1];
	status = ask(files, says[1]);
	says[1] = -1;
	if (status) {
		explain(says[0], status, why);
		err = -EBADMSG;
	} else {
		err = take_linked(linked, files[OUT]);
		snprintf(why, LINK_WHY_LEN, "what libbpf has linked: %s", strerror(-err));
	}
out:
	for (int i = SHIM; i <= OUT; i++)
		if (files[i] >= 0)
			close(files[i]);
	for (int i = 0; i < 2; i++)
		if (says[i] >= 0)
			close(says[i]);
	return err;
}
