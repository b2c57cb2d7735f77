"""Published models of transport over one or several links, one function per equation."""
