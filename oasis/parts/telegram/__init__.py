"""The messenger Telegram as a front end."""
