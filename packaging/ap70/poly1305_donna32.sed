# A sum of five products stays where the processor adds them up (MADDU): the compiler takes it from there and
# puts it back between any two, which is a tenth of what sealing takes.
/^#define poly1305_block_size/a\
#define SUM(d, a0, a1, a2, a3, a4) do { unsigned long lo, hi; \\\
	__asm__("multu %2, %3\\n\\tmaddu %4, %5\\n\\tmaddu %6, %7\\n\\tmaddu %8, %9\\n\\tmaddu %10, %11\\n\\t" \\\
		"mflo %0\\n\\tmfhi %1" : "=r"(lo), "=r"(hi) : "r"(h0), "r"(a0), "r"(h1), "r"(a1), "r"(h2), \\\
		"r"(a2), "r"(h3), "r"(a3), "r"(h4), "r"(a4) : "hi", "lo"); \\\
	d = (unsigned long long)hi << 32 | lo; } while (0)
/^ *d[0-4] = ((uns/{
N
N
s/((unsigned long long) h[0-4] \* \([rs][0-4]\))/\1/g
s/[ \n]*+[ \n]*/, /g
s/\(d[0-4]\) = \(.*\);/SUM(\1, \2);/
}
