"""flwr's spelling of the script: pyproject.toml names the two apps in app.py."""
