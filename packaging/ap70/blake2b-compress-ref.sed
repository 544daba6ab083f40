# Loops in place of twelve rounds, and of the eight mixings of each, one behind the other: 27 KB less. Only
# set-up takes such hashes.
/^    ROUND(0);$/i\
    for (i = 0; i < 12; i++) {\
        int k;\
        for (k = 0; k < 8; k++) { /* columns, then diagonals */\
            const int s = k >> 2;\
            G(i, k, v[k & 3], v[4 + ((k + s) & 3)], v[8 + ((k + 2 * s) & 3)], v[12 + ((k + 3 * s) & 3)]);\
        }\
    }
/^    ROUND([0-9]*);$/d
