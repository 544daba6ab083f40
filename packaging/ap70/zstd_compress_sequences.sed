# How the fast search's sequences are coded is chosen by rules of thumb; to weigh it in bits is for slower
# ones: 2 KB.
s/if (strategy < ZSTD_lazy)/if (1)/
