"""Output for people: tables, pictures, reports, and folders of results."""
