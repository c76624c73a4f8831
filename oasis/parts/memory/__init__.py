"""What Oasis remembers beside the chats: records in files, knowledge, facts; files and services enter as arguments."""
