# Matches of at least 4 bytes: what wire/compress.c asks for on 32 bits, where a hash of 5 takes
# six times the instructions. Each other length would be another copy of the search.
/^ *case [567] :$/,+1d
s/ms->cParams.windowLog < 19;/1;/
s/const mls = cParams->minMatch;/const mls = 4;/
