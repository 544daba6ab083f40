// SPDX-License-Identifier: GPL-2.0
/* Preloaded into the agent: each X25519 product prints the thread that computed it. */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

int crypto_scalarmult(unsigned char *out, const unsigned char *secret, const unsigned char *public)
{
	int (*real)(unsigned char *, const unsigned char *, const unsigned char *);
	char name[16] = "", line[64];
	int len;

	*(void **)&real = dlsym(RTLD_NEXT, "crypto_scalarmult");
	prctl(PR_GET_NAME, name);
	len = snprintf(line, sizeof(line), "X25519 on thread <%s>\n", name);
	if (write(STDERR_FILENO, line, len) != len)
		_exit(98);
	return real(out, secret, public);
}
