"""Campaigns against the disk store: what must hold whatever happens to it.

`kills` ends writers at random moments, `flips` damages files at random places, `adversity` takes
away disk, descriptors, rights and folders under the feet of a compiler. The benchmark ``faults``
runs the long campaigns, ``tests/process/test_campaign.py`` short ones, and it also runs them
against stores that are broken on purpose, which a campaign must find out.

All choices follow from a seed. What a campaign finds wrong, it says in a `Finding`, with the seed
and the step; the moments at which processes run and die are the system's.
"""
