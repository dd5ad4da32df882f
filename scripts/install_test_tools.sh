#!/usr/bin/env bash
# The one program that the tests need and pip cannot bring: Chromium, which drives the explorer's page.
set -euo pipefail
for name in chromium-headless-shell chromium; do
  if command -v "$name" >/dev/null; then
    echo "$name is here already: $(command -v "$name")"
    exit 0
  fi
done
if ! command -v apt-get >/dev/null; then
  echo "Install Chromium so that 'chromium' is on the PATH; this script knows Debian and Ubuntu alone." >&2
  exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
"${as_root[@]}" apt-get update
# Where it is packaged, the shell alone: the same engine without what surrounds a window.
browser=chromium
if apt-cache show chromium-headless-shell >/dev/null 2>&1; then browser=chromium-headless-shell; fi
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$browser" fonts-dejavu-core
