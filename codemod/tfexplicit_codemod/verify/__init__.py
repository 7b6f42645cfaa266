"""Runs a training script before and after migration and compares the two trajectories.

The parent (`verdict`) copies (`project`), migrates, runs (`process`), compares (`compare`) and
reports (`report`). Each program runs in a fresh process (`child`), where `hooks` finds the updates
and `recorder` writes one record for each, in the format of `records`.
"""
