"""The UCI options that exist: their types, meanings and dependencies."""
