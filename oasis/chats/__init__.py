"""All chats: index, quota, archive, search, presets; files enter as an argument."""
