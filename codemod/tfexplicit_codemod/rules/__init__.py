"""One code per file, found by `registry.all_rules`."""
