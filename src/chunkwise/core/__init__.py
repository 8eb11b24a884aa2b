"""Records, protocols, recipes and errors: what every other part stands on."""
