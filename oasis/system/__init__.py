"""The machine below: files, digests, processes, peers; the only rooms that touch the operating system."""
