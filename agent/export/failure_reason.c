// SPDX-License-Identifier: GPL-2.0
/*
 * Failure reason: logs why there is no session. In: signs noted by handshake.c,
 * handshake_answer.c and session_receive.c. Out: lines with the collector, the reason and the
 * remedy. Each collector has its own reason.
 */
#include "session.h"

#include <stdio.h>
#include <string.h>

#include "common/log.h"

#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number
#define PADDED TEXT(SHROUD_DATAGRAM_PADDED)
#define OURS TEXT(TRYST_VERSION)

/* session_failure_reason() inserts a key or an error between the two. */
static const struct {
	const char *before, *after;
} whys[] = {
	[SESSION_NOT_ASKED] = { "it was not asked", "" },
	[SESSION_NOTHING] = { "no answer; check that it is running, the path there takes "
			      "datagrams of " PADDED " bytes, and --key has its public key",
			      "" },
	[SESSION_NO_ROUTE] = { "no route there at present: ", "; check this machine's routes" },
	[SESSION_PATH_MTU] = { "the interface there takes no datagrams of " PADDED
			       " bytes; raise its MTU to 1280",
			       "" },
	[SESSION_PORT_CLOSED] = { "nothing listens there; check that saluki-collector is running",
				  "" },
	[SESSION_REQUEST_ANSWERED] = { "it answers, but sets no session up; check that this "
				       "sensor's public key ",
				       " is in its --sensors file with the same preshared key, "
				       "and few datagrams are lost" },
	[SESSION_KEY_IN_USE] = { "another machine uses this sensor's key ",
				 "; it must be silent for 10 s first. Give each machine its own "
				 "key" },
	[SESSION_OTHER_VERSION] = { "it speaks version 1 of the protocol, this sensor version " OURS
				    "; upgrade the collector",
				    "" },
};

void session_failure_reason(const struct session *s, unsigned int peer,
			    char text[SESSION_FAILURE_REASON_MAX])
{
	const struct session_peer *p = &s->peers[peer];
	char key[KEY_TEXT_LEN];
	const char *what = "";

	key_to_text(key, s->own.public);
	if (p->sign == SESSION_NO_ROUTE)
		what = strerror(-p->no_route);
	else if (p->sign == SESSION_REQUEST_ANSWERED || p->sign == SESSION_KEY_IN_USE)
		what = key;
	if (!p->address.len)
		snprintf(text, SESSION_FAILURE_REASON_MAX, "its name could not be looked up");
	else
		snprintf(text, SESSION_FAILURE_REASON_MAX, "%s%s%s", whys[p->sign].before, what,
			 whys[p->sign].after);
}

static void tell(struct session *s, unsigned int peer, const char *then, const char *name)
{
	struct session_peer *p = &s->peers[peer];
	char why[SESSION_FAILURE_REASON_MAX];

	p->told |= 1U << p->sign;
	session_failure_reason(s, peer, why);
	log_line("collector %s: %s. %s%s", p->address.name, why, then, name);
}

bool session_failure_reason_is_told(const struct session *s, unsigned int peer)
{
	return s->peers[peer].told & 1U << s->peers[peer].sign;
}

void session_tell_trying(struct session *s, unsigned int old)
{
	tell(s, old, "Trying collector ", s->peers[s->trying].address.name);
}

void session_tell_asking(struct session *s, unsigned int peer)
{
	if (!session_failure_reason_is_told(s, peer))
		tell(s, peer, "Asking again every ", s->present ? "30 s" : "1 to 10 s");
}

void session_no_route(struct session *s, unsigned int peer, int err)
{
	s->peers[peer].no_route = err;
	s->peers[peer].sign = SESSION_NO_ROUTE;
}

void session_sign(struct session *s, enum session_sign sign)
{
	struct session_asked *a = &s->asked;

	if (sign <= a->sign)
		return;
	a->sign = s->peers[a->peer].sign = sign;
	/* If another collector is asked next, session_tell_trying() logs it. */
	if (sign >= SESSION_KEY_IN_USE && (s->present || s->peer_count == 1))
		session_tell_asking(s, a->peer);
}

void session_tell_failed(const struct session *s)
{
	char why[SESSION_FAILURE_REASON_MAX];

	for (unsigned int i = 0; i < s->peer_count; i++) {
		session_failure_reason(s, i, why);
		log_line("collector %s: gave no session: %s", s->peers[i].address.name, why);
	}
}
