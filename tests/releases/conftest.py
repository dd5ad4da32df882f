def pytest_configure(config):
    config.addinivalue_line("markers", "draws: a test in which values are drawn")
