"""Model services as the owner manages them: add, change, try, count; and what an upgrade brings along."""
