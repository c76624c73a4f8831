"""From words to a router that works: commands, plan, policy, transaction, undo."""
