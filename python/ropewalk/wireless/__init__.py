"""What a scenario's 802.11 channels, radios and links are, and what follows by formulas alone."""
