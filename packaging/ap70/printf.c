// SPDX-License-Identifier: GPL-2.0
/* printf without floating point, wide characters and numbered arguments, none of which the sensor
 * uses: a tenth of the C library's. What it does not know it prints as it stands, so that it shows.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Where characters go: to a stream, or to memory as far as there is room. */
struct sink {
	FILE *stream;
	char *at, *end;
	int count;
};

struct spec {
	bool left, zero, plus, blank, alternate;
	int width, precision; /* precision -1: none */
	int size;	      /* bytes of an integer */
};

static void put(struct sink *s, const char *text, size_t len)
{
	size_t room = s->end - s->at;

	s->count += len;
	if (s->stream) {
		fwrite(text, 1, len, s->stream);
		return;
	}
	if (len > room)
		len = room;
	if (len) /* there may be no memory at all */
		memcpy(s->at, text, len);
	s->at += len;
}

static void fill(struct sink *s, char c, int n)
{
	while (n-- > 0)
		put(s, &c, 1);
}

/* Sign or prefix, then zeros, then the text, all in the width. */
static void field(struct sink *s, const struct spec *p, const char *prefix, int zeros,
		  const char *text, size_t len)
{
	int blanks = p->width - (int)(strlen(prefix) + zeros + len);

	if (!p->left)
		fill(s, ' ', blanks);
	put(s, prefix, strlen(prefix));
	fill(s, '0', zeros);
	put(s, text, len);
	if (p->left)
		fill(s, ' ', blanks);
}

static void number(struct sink *s, const struct spec *p, char conversion, uint64_t v)
{
	const char *digits = conversion == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
	unsigned int base = conversion == 'o' ? 8 : (conversion | 32) == 'x' ? 16 : 10;
	char text[24], *at = text + sizeof(text);
	const char *prefix = "";
	int zeros, len;

	if (conversion == 'd') {
		prefix = (int64_t)v < 0 ? "-" : p->plus ? "+" : p->blank ? " " : "";
		v = (int64_t)v < 0 ? -v : v;
	} else if (p->alternate && v && base == 16) {
		prefix = conversion == 'X' ? "0X" : "0x";
	}
	for (; v; v /= base)
		*--at = digits[v % base];
	len = text + sizeof(text) - at;
	zeros = p->precision < 0 ? 1 - len : p->precision - len;
	if (p->alternate && base == 8 && zeros < 1)
		zeros = 1;
	if (p->zero && !p->left && p->precision < 0 && zeros < p->width - len - (int)strlen(prefix))
		zeros = p->width - len - (int)strlen(prefix);
	field(s, p, prefix, zeros < 0 ? 0 : zeros, at, len);
}

static uint64_t argument(va_list *a, int size, bool is_signed)
{
	uint64_t v = size == 8 ? va_arg(*a, uint64_t) : va_arg(*a, unsigned int);
	int shift = 64 - 8 * size;

	return is_signed ? (uint64_t)((int64_t)(v << shift) >> shift) : v << shift >> shift;
}

static const char *flags(struct spec *p, const char *f)
{
	for (;; f++) {
		switch (*f) {
		case '-':
			p->left = true;
			break;
		case '0':
			p->zero = true;
			break;
		case '+':
			p->plus = true;
			break;
		case ' ':
			p->blank = true;
			break;
		case '#':
			p->alternate = true;
			break;
		default:
			return f;
		}
	}
}

static const char *count_of(const char *f, va_list *a, int *n)
{
	if (*f == '*') {
		*n = va_arg(*a, int);
		return f + 1;
	}
	for (*n = 0; *f >= '0' && *f <= '9'; f++)
		*n = *n * 10 + *f - '0';
	return f;
}

static const char *size_of(const char *f, int *size)
{
	*size = sizeof(int);
	for (; *f && strchr("hlzjt", *f); f++) {
		if (*f == 'h')
			*size /= 2;
		else if (*f == 'l')
			*size = f[1] == 'l' ? 8 : f[-1] == 'l' ? 8 : (int)sizeof(long);
		else
			*size = *f == 'j' ? 8 : (int)sizeof(size_t);
	}
	return f;
}

/* One conversion, from behind its '%'. Returns what is behind it. */
static const char *convert(struct sink *s, const char *start, va_list *a)
{
	struct spec p = { .precision = -1 };
	const char *f = count_of(flags(&p, start), a, &p.width), *text;
	char c;

	if (p.width < 0) {
		p.left = true;
		p.width = -p.width;
	}
	if (*f == '.')
		f = count_of(f + 1, a, &p.precision);
	f = size_of(f, &p.size);
	switch (*f) {
	case 'd':
	case 'i':
		number(s, &p, 'd', argument(a, p.size, true));
		break;
	case 'u':
	case 'x':
	case 'X':
	case 'o':
		number(s, &p, *f, argument(a, p.size, false));
		break;
	case 'p':
		p.alternate = true;
		number(s, &p, 'x', (uintptr_t)va_arg(*a, void *));
		break;
	case 'c':
		c = (char)va_arg(*a, int);
		field(s, &p, "", 0, &c, 1);
		break;
	case 's':
		text = va_arg(*a, const char *);
		text = text ? text : "(null)";
		field(s, &p, "", 0, text,
		      p.precision < 0 ? strlen(text) : strnlen(text, p.precision));
		break;
	case '%':
		put(s, "%", 1);
		break;
	default:
		put(s, "%", 1);
		return start;
	}
	return f + 1;
}

static void format_all(struct sink *s, const char *f, va_list from)
{
	va_list a;

	va_copy(a, from);
	while (*f) {
		size_t len = strcspn(f, "%");

		put(s, f, len);
		f += len;
		if (*f)
			f = convert(s, f + 1, &a);
	}
	va_end(a);
}

int vfprintf(FILE *restrict stream, const char *restrict format, va_list a)
{
	struct sink s = { .stream = stream };

	flockfile(stream);
	format_all(&s, format, a);
	funlockfile(stream);
	return ferror(stream) ? -1 : s.count;
}

int vsnprintf(char *restrict out, size_t size, const char *restrict format, va_list a)
{
	struct sink s = { .at = out, .end = size ? out + size - 1 : out };

	format_all(&s, format, a);
	if (size)
		*s.at = 0;
	return s.count;
}

int printf(const char *restrict format, ...)
{
	va_list a;
	int n;

	va_start(a, format);
	n = vfprintf(stdout, format, a);
	va_end(a);
	return n;
}

int fprintf(FILE *restrict stream, const char *restrict format, ...)
{
	va_list a;
	int n;

	va_start(a, format);
	n = vfprintf(stream, format, a);
	va_end(a);
	return n;
}

int snprintf(char *restrict out, size_t size, const char *restrict format, ...)
{
	va_list a;
	int n;

	va_start(a, format);
	n = vsnprintf(out, size, format, a);
	va_end(a);
	return n;
}
