"""Published models of transport over one or several links, one equation a function."""
