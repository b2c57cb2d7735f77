"""Tables and figures of the paper, made again."""
