"""How long a test waits for what has to come."""

#: Seconds. A wait ends as soon as its condition holds, so this bounds a hang and nothing else: it is
#: long enough for a machine on which twenty other processes want the same core.
PATIENCE = 300
