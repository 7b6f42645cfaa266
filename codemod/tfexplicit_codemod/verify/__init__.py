"""Runs a program before and after migration and compares the two trajectories.

In the parent, `run` leads from the options to the exit code: `workspace` copies the project and
runs both programs (`process`), `compare` compares their records, `verdict` says what that means,
and `report`, `json_report`, `page` and `picture` show it. In every process of a program,
`bootstrap/sitecustomize.py` calls `child`; there `hooks` finds the updates and `recorder` writes
one record for each, in the format of `records`.
"""
