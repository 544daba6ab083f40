# Levels above 2 are for other searches, which are left out (ZSTD_FLAGS in ap70.mk): 2 KB.
s/^\(#define ZSTD_MAX_CLEVEL *\)22/\12/
/level *\([3-9]\|[12][0-9]\) /d
