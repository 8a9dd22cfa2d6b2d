#!/bin/sh
# What stands in docs/protocol.md and docs/codecs.md is enough for another
# implementation: one in Python, tests/interop.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common
export PYTHONDONTWRITEBYTECODE=1
# The system's, whose packages tools/packages names.
python=/usr/bin/python3

# ---- vectors ----

$python tests/interop/vectors.py || failed "the vectors are not as documented"
