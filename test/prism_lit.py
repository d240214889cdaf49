# Test formats of the lit suite. A module of its own, because lit hands tests to
# its workers by pickling and a class of lit.cfg.py cannot be pickled.

import lit.formats


class PrismOptTests(lit.formats.ShTest):
    """Only the tests that run prism-opt: the others would repeat themselves."""

    def getTestsInDirectory(self, test_suite, path_in_suite, lit_config, local_config):
        for test in super().getTestsInDirectory(test_suite, path_in_suite, lit_config, local_config):
            with open(test.getSourcePath(), encoding="utf-8", errors="replace") as source:
                if "prism-opt" in source.read():
                    yield test
