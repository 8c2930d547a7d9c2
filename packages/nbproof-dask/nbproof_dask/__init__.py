"""Grading on many machines: ``grade --pool dask:tcp://HOST:8786``. docs/more_machines.md says how.

====================  =======================================================================================
``pool``              where the run is: who is on the cluster, who may mark, what has come back
``fitness``           whether a worker would come to the verdicts that this machine comes to
``parcels``           what travels, as bytes
``worker``            in the process of a Dask worker: starts a station for each run, and passes bytes on to it
``station``           a process beside a Dask worker, with an engine of its own: the only one that marks
====================  =======================================================================================
"""
