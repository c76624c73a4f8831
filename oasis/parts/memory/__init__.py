"""What Oasis keeps in addition to chats: facts about the owner, their documents, and skills."""
