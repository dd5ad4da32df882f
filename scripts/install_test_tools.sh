#!/usr/bin/env bash
# The one program that the tests need and pip cannot bring: Chromium, which drives the explorer's page.
set -euo pipefail
if command -v chromium >/dev/null; then
  echo "chromium is here already: $(command -v chromium)"
  exit 0
fi
if ! command -v apt-get >/dev/null; then
  echo "Install Chromium so that 'chromium' is on the PATH; this script knows Debian and Ubuntu alone." >&2
  exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
"${as_root[@]}" apt-get update
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends chromium fonts-dejavu-core
