# Trying each depth of a table is for the slowest levels.
s/if (!(flags & HUF_flags_optimalDepth))/if (1)/
