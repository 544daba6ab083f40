// SPDX-License-Identifier: GPL-2.0
/* Event lines: see event_line.h. A line is an object (RFC 8259) that has texts and whole numbers.
 */
#include "event_line.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define NEEDED (1u << EVENT_TIME | 1u << EVENT_SENSOR | 1u << EVENT_MODULE)

static const struct {
	const char *key;
	bool is_number;
} known[EVENT_MEMBERS] = {
	[EVENT_TIME] = { "time_ns", true },	    [EVENT_SENSOR] = { "sensor", false },
	[EVENT_INTERFACE] = { "interface", false }, [EVENT_MODULE] = { "module", false },
	[EVENT_SERIAL] = { "serial", true },	    [EVENT_DIRECTION] = { "direction", false },
	[EVENT_DATA] = { "data", false },	    [EVENT_ID] = { "id", false },
};

struct reader {
	const char *at, *end;
	char *to, *to_end; /* room for texts */
};

static void skip_blanks(struct reader *r)
{
	while (r->at < r->end && *r->at && strchr(" \t\r\n", *r->at))
		r->at++;
}

static bool take(struct reader *r, char c)
{
	skip_blanks(r);
	if (r->at == r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static int put(struct reader *r, unsigned int byte)
{
	if (r->to == r->to_end)
		return -EBADMSG;
	*r->to++ = (char)byte;
	return 0;
}

/* Writes a character as UTF-8. The collector has \u0080 to \u00ff for bytes of names. */
static int put_character(struct reader *r, unsigned int c)
{
	if (c < 0x100)
		return put(r, c);
	if (c < 0x800)
		return put(r, 0xc0 | c >> 6) ?: put(r, 0x80 | (c & 0x3f));
	if (c < 0x10000)
		return put(r, 0xe0 | c >> 12) ?: put(r, 0x80 | (c >> 6 & 0x3f)) ?:
						 put(r, 0x80 | (c & 0x3f));
	return put(r, 0xf0 | c >> 18) ?: put(r, 0x80 | (c >> 12 & 0x3f)) ?:
	       put(r, 0x80 | (c >> 6 & 0x3f)) ?: put(r, 0x80 | (c & 0x3f));
}

/* Reads the four digits of \uNNNN. */
static int read_unit(struct reader *r, unsigned int *unit)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";

	*unit = 0;
	for (int i = 0; i < 4; i++, r->at++) {
		const char *digit = r->at < r->end && *r->at ? strchr(digits, *r->at) : NULL;

		if (!digit)
			return -EBADMSG;
		*unit = *unit << 4 | ((unsigned int)(digit - digits) & 15);
	}
	return 0;
}

/* Reads what follows \u. Two surrogates are a character; one alone is none. */
static int read_code(struct reader *r)
{
	unsigned int c, low;

	if (read_unit(r, &c) || (c & 0xfc00) == 0xdc00)
		return -EBADMSG;
	if ((c & 0xfc00) != 0xd800)
		return put_character(r, c);
	if (r->end - r->at < 2 || memcmp(r->at, "\\u", 2) != 0)
		return -EBADMSG;
	r->at += 2;
	if (read_unit(r, &low) || (low & 0xfc00) != 0xdc00)
		return -EBADMSG;
	return put_character(r, 0x10000 + ((c & 0x3ff) << 10 | (low & 0x3ff)));
}

/* Reads what follows a backslash. */
static int read_escape(struct reader *r)
{
	static const char escapes[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
	const char *escape;

	if (r->at == r->end || !*r->at)
		return -EBADMSG;
	if (*r->at == 'u') {
		r->at++;
		return read_code(r);
	}
	escape = strchr(escapes, *r->at++);
	return escape ? put(r, meanings[escape - escapes]) : -EBADMSG;
}

/* Reads a text to the room for texts. */
static int read_text(struct reader *r, const char **text, uint32_t *len)
{
	int err = take(r, '"') ? 0 : -EBADMSG;

	*text = r->to;
	while (!err && r->at < r->end && *r->at != '"') {
		unsigned char c = *r->at++;

		if (c < ' ')
			err = -EBADMSG;
		else
			err = c == '\\' ? read_escape(r) : put(r, c);
	}
	*len = r->to - *text;
	return err ?: r->at++ < r->end ? 0 : -EBADMSG;
}

/* ---- members --------------------------------------------------------------------------------- */

static int read_number(struct reader *r, uint64_t *v)
{
	const char *begin = r->at;

	*v = 0;
	for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
		if (__builtin_mul_overflow(*v, 10, v) ||
		    __builtin_add_overflow(*v, *r->at - '0', v))
			return -EBADMSG;
	return r->at == begin ? -EBADMSG : 0;
}

/* Returns EVENT_MEMBERS if it is another one. */
static enum event_member find(const char *key, uint32_t len)
{
	enum event_member m = 0;

	while (m < EVENT_MEMBERS &&
	       (len != strlen(known[m].key) || memcmp(key, known[m].key, len) != 0))
		m++;
	return m;
}

static int read_member(struct event_line *e, struct reader *r)
{
	struct event_value v = { .text = NULL };
	enum event_member member;
	const char *key;
	bool is_number;
	uint32_t len;
	int err = read_text(r, &key, &len);

	if (err || !take(r, ':'))
		return -EBADMSG;
	member = find(key, len);
	skip_blanks(r);
	is_number = r->at < r->end && *r->at != '"';
	err = is_number ? read_number(r, &v.number) : read_text(r, &v.text, &v.len);
	if (err || member == EVENT_MEMBERS)
		return err;
	if (is_number != known[member].is_number || (member == EVENT_TIME && v.number > INT64_MAX))
		return -EBADMSG;
	e->values[member] = v;
	e->set |= 1u << member;
	return 0;
}

int event_line_read(struct event_line *e, const char *line, size_t len)
{
	struct reader r = { line, line + len, e->texts, e->texts + sizeof(e->texts) };
	int err = take(&r, '{') ? 0 : -EBADMSG;

	e->set = 0;
	do
		err = err ?: read_member(e, &r);
	while (!err && take(&r, ','));
	if (err || !take(&r, '}') || (e->set & NEEDED) != NEEDED)
		return -EBADMSG;
	skip_blanks(&r);
	return r.at == r.end ? 0 : -EBADMSG;
}
