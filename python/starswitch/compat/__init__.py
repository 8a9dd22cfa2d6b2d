"""The interfaces of the systems that starswitch descends from, spelled as theirs."""
