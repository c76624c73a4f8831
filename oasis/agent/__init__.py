"""One turn of the agent and what belongs to it: start, loop, runs, context, titles, goals."""
