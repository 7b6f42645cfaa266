"""Jupyter notebooks: the cells are one program, and nothing but their text is changed."""
