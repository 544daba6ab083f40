// SPDX-License-Identifier: GPL-2.0
/* Answers: see answers.h. */
#include "answers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- headers --------------------------------------------------------------------------------- */

/* A browser runs only the page's own script, and shows the page in no other site's frame. */
static const char *const headers[][2] = {
	{ "Content-Security-Policy",
	  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
	  "img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'" },
	{ "X-Content-Type-Options", "nosniff" },
	{ "Cache-Control", "no-store" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
};

static void describe(struct MHD_Response *r, const char *type, const char *tag)
{
	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
		MHD_add_response_header(r, headers[i][0], headers[i][1]);
	if (type)
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	if (tag)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ETAG, tag);
}

static void count(struct answers *a, unsigned int code)
{
	static const unsigned int codes[] = {
#define X(code) code,
		WEB_CODES(X)
#undef X
	};

	for (int i = 0; i < WEB_CODE_COUNT; i++)
		a->counts[i] += codes[i] == code;
}

static enum MHD_Result queue(struct answers *a, struct MHD_Connection *c, unsigned int code,
			     struct MHD_Response *r)
{
	count(a, code);
	return MHD_queue_response(c, code, r);
}

static enum MHD_Result queue_once(struct answers *a, struct MHD_Connection *c, unsigned int code,
				  struct MHD_Response *r)
{
	enum MHD_Result result = queue(a, c, code, r);

	MHD_destroy_response(r); /* the connection keeps it */
	return result;
}

const char *answers_tag(char out[ANSWERS_TAG_MAX], const struct board_states *s)
{
	snprintf(out, ANSWERS_TAG_MAX, "\"%llx-%llx\"",
		 (unsigned long long)s->now.collector.begun_us,
		 (unsigned long long)s->now.collector.time_us);
	return out;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

struct body {
	char *text;
	size_t len;
	struct answers *answers;
};

static void body_free(void *arg)
{
	struct body *b = arg;

	b->answers->held_bytes -= b->len;
	free(b->text);
	free(b);
}

/* Returns 0 or -errno. */
static int body_write(struct body *b, const struct web_look *l, const struct web_resource *r,
		      const char *arg)
{
	FILE *f = open_memstream(&b->text, &b->len);
	int err = f ? r->write(f, l, arg) : -ENOMEM;

	if (f && fclose(f) && !err)
		err = -ENOMEM;
	return err;
}

static int body_make(struct answers *a, const struct web_look *l, const struct web_resource *r,
		     const char *arg, struct MHD_Response **out)
{
	struct body *b = calloc(1, sizeof(*b));
	int err = b ? body_write(b, l, r, arg) : -ENOMEM;

	if (!err) {
		b->answers = a;
		*out = MHD_create_response_from_buffer_with_free_callback_cls(b->len, b->text,
									      body_free, b);
		err = *out ? 0 : -ENOMEM;
	}
	if (!err) {
		a->held_bytes += b->len;
		return 0;
	}
	if (b)
		free(b->text);
	free(b);
	return err;
}

/* ---- answers --------------------------------------------------------------------------------- */

void answers_free(struct answers *a)
{
	for (int i = 0; i < ROUTES_MAX; i++) {
		if (a->kept[i])
			MHD_destroy_response(a->kept[i]);
		a->kept[i] = NULL;
	}
}

void answers_renew(struct answers *a, uint32_t changes)
{
	if (a->changes != changes)
		answers_free(a);
	a->changes = changes;
}

enum MHD_Result answers_page(struct answers *a, struct MHD_Connection *c, const struct page_file *p)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(
		p->end - p->begin, (void *)p->begin, MHD_RESPMEM_PERSISTENT);

	if (!r)
		return MHD_NO;
	describe(r, p->type, NULL);
	return queue_once(a, c, MHD_HTTP_OK, r);
}

enum MHD_Result answers_unchanged(struct answers *a, struct MHD_Connection *c, const char *tag)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);

	if (!r)
		return MHD_NO;
	describe(r, NULL, tag);
	return queue_once(a, c, MHD_HTTP_NOT_MODIFIED, r);
}

enum MHD_Result answers_refuse(struct answers *a, struct MHD_Connection *c, unsigned int code,
			       const char *why)
{
	struct MHD_Response *r;
	char text[512];
	int len = snprintf(text, sizeof(text), "%u: %s\n", code, why);

	if (len >= (int)sizeof(text))
		len = sizeof(text) - 1;
	r = MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_COPY);
	if (!r)
		return MHD_NO;
	describe(r, "text/plain; charset=utf-8", NULL);
	if (code == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	if (code == MHD_HTTP_SERVICE_UNAVAILABLE)
		MHD_add_response_header(r, MHD_HTTP_HEADER_RETRY_AFTER, "5");
	else if (code != MHD_HTTP_NOT_FOUND)
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONNECTION, "close");
	return queue_once(a, c, code, r);
}

enum MHD_Result answers_resource(struct answers *a, struct MHD_Connection *c,
				 const struct web_look *l, const struct web_resource *r,
				 const char *arg)
{
	struct MHD_Response **kept = arg ? NULL : &a->kept[r - routes], *made;
	char tag[ANSWERS_TAG_MAX];
	int err;

	if (kept && *kept)
		return queue(a, c, MHD_HTTP_OK, *kept);
	if (a->held_bytes >= ANSWERS_BYTES_MAX)
		return answers_refuse(a, c, MHD_HTTP_SERVICE_UNAVAILABLE,
				      "too many clients read their answers slowly");
	err = body_make(a, l, r, arg, &made);
	if (err == -ENOENT)
		return answers_refuse(a, c, MHD_HTTP_NOT_FOUND, "the collector knows no such name");
	if (err)
		return answers_refuse(a, c, MHD_HTTP_INTERNAL_SERVER_ERROR, strerror(-err));
	describe(made, r->type, l->states ? answers_tag(tag, l->states) : NULL);
	if (!kept)
		return queue_once(a, c, MHD_HTTP_OK, made);
	*kept = made;
	return queue(a, c, MHD_HTTP_OK, made);
}
