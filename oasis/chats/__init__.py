"""What is beside one chat file: the index of all, quota, archive, search, topics; files enter as an argument."""
