"""One small file for each command of `takifugu`."""
