#!/usr/bin/env bash
# A private PostgreSQL server on loopback, for the tests and for a try at home.
#
#   scripts/start_postgres.sh install          install the server where it is missing (Debian or Ubuntu, as root)
#   scripts/start_postgres.sh start DIR PORT   make a new cluster in DIR, serve it on 127.0.0.1:PORT, print its address
#   scripts/start_postgres.sh stop DIR         stop it; DIR may then be deleted
#
# The cluster trusts every local connection: give DIR a temporary folder and keep nothing of value in it.
set -euo pipefail

binaries() {
  # Debian keeps the server's programs out of PATH, in a folder per version: take the newest.
  local newest
  newest=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
  if [ -x "${newest:-}/initdb" ]; then echo "$newest"; return; fi
  if command -v initdb >/dev/null; then dirname "$(command -v initdb)"; return; fi
  return 1
}

as_server() {
  # PostgreSQL refuses to run as root: use the account its package made.
  if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi
}

case "${1:-}" in
  install)
    if binaries >/dev/null; then exit 0; fi
    if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
      echo "PostgreSQL's server is missing: install it with your package manager (Debian: apt-get install postgresql)" >&2
      exit 1
    fi
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql >/dev/null
    ;;
  start)
    dir=${2:?the folder for the cluster}
    port=${3:?the port to listen on}
    bin=$(binaries) || { echo "PostgreSQL's server is missing: run scripts/start_postgres.sh install" >&2; exit 1; }
    mkdir -p "$dir"
    if [ "$(id -u)" = 0 ]; then chown postgres "$dir"; fi
    cd "$dir"
    as_server "$bin/initdb" --pgdata="$dir/data" --username=postgres --auth=trust --encoding=UTF8 --locale=C >/dev/null
    as_server "$bin/pg_ctl" --pgdata="$dir/data" --log="$dir/log" --wait --silent \
      --options="-c listen_addresses=127.0.0.1 -c port=$port -c unix_socket_directories='' -c fsync=off" start >/dev/null
    echo "postgresql://postgres@127.0.0.1:$port/postgres"
    ;;
  stop)
    dir=${2:?the folder of the cluster}
    bin=$(binaries)
    cd "$dir"
    as_server "$bin/pg_ctl" --pgdata="$dir/data" --mode=immediate --wait --silent stop
    ;;
  *)
    sed -n '2,8p' "$0" >&2
    exit 2
    ;;
esac
