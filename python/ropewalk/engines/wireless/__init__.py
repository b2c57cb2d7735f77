"""The 802.11 channels, radios and links of a scenario, and their budgets by formulas."""
