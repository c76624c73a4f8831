"""What the owner set: UCI sections, the key file, and on other hosts oasis.toml and the environment."""
