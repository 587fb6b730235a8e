#!/bin/sh
# Backs up and restores the Redis of plant-store; docs/runbook.md explains it. A task ends at the first step that fails,
# with a sentence and exit code 1, and removes or overwrites no data.
#
#   redis.sh backup FOLDER         copies the data of OPERATOR_URL into FOLDER, and restores the copy to verify it
#   redis.sh restore BACKUP DATA   makes the data directory DATA, which must not exist yet, and verifies it
#
# OPERATOR_URL is the URL of Redis, with the user plant-store-backup. A step takes at most LIMIT seconds. The Redis that
# verifies listens on CHECK_PORT. BACKUP_KEEP is the number of backups that stay in FOLDER; by default all.
set -eu
# Backups and restored data are for this user alone.
umask 077
limit=${LIMIT:-600}
draft=''
server=''

fail() {
  echo "redis.sh: $*" >&2
  exit 1
}

# Ends and removes what this run has made itself and not finished.
clean() {
  if [ -n "$server" ]; then kill -KILL "$server" 2>/dev/null || true; fi
  if [ -n "$draft" ]; then rm -rf "$draft"; fi
}
trap clean EXIT
trap 'exit 1' INT TERM HUP

# Whether the Redis at $url is the process $server: another one of the same port may accept any password.
answers() { timeout 10 redis-cli --no-auth-warning -u "$url" INFO server 2>/dev/null | tr -d '\r' | grep -qx "process_id:$server"; }

# Ended, though perhaps not awaited yet. The directory is last, as it may vanish before grep.
ended() { grep -qs '^State:[[:space:]]*Z' "/proc/$server/status" || [ ! -d "/proc/$server" ]; }

# Loads the data directory into a Redis of its own, and replays every history there.
verify() {
  port=${CHECK_PORT:-7379}
  password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  url=redis://default:$password@127.0.0.1:$port
  # As aof-load-truncated is on, a copy of a file system may end within an append that was never acknowledged.
  printf '%s\n' "port $port" 'bind 127.0.0.1' "requirepass $password" "dir $1" 'save ""' 'appendonly yes' \
    'appendfsync always' 'auto-aof-rewrite-percentage 0' 'daemonize no' | redis-server - >"$1/verify.log" 2>&1 &
  server=$!
  left=$((5 * limit))
  until ended || answers; do
    [ "$left" -gt 0 ] || fail "Redis did not load the backup within $limit s"
    left=$((left - 1))
    sleep 0.2
  done
  ! ended || fail "Redis cannot load the backup: $(tail -n 3 "$1/verify.log")"
  case ${OPERATOR_URL:-} in redis*://*/*[0-9]) database=/${OPERATOR_URL##*/} ;; *) database='' ;; esac
  (
    unset REDIS_CLUSTER_NODES REDIS_SENTINELS REDIS_SENTINEL_MASTER REDIS_WAIT_REPLICAS
    EVENT_STORE=redis REDIS_URL=$url$database timeout "$limit" plant-store events verify --quiet
  ) || fail 'plant-store events verify refuses the backup'
  redis-cli --no-auth-warning -e -u "$url" SHUTDOWN NOSAVE >/dev/null && wait "$server" ||
    fail 'the Redis that verified the backup does not end'
  server=''
  rm "$1/verify.log"
}

# Redis 7 reads an RDB file as the base of an append-only file, so it need not start without one.
base=appendonlydir/appendonly.aof.1.base.rdb
adopt() {
  redis-check-rdb "$draft/$base" >/dev/null || fail 'the RDB file is damaged or not whole'
  echo 'file appendonly.aof.1.base.rdb seq 1 type b' >"$draft/appendonlydir/appendonly.aof.manifest"
}

# new DIRECTORY: makes a directory that is removed unless the task ends well.
new() {
  mkdir "$1" || fail "$1 cannot be made"
  draft=$1
}

restore() {
  [ -e "$1" ] || fail "there is no $1"
  [ ! -e "$2" ] || fail "$2 exists already"
  new "$2.draft"
  if [ -d "$1" ]; then
    cp -R "$1/appendonlydir" "$draft/" || fail "$1 cannot be copied"
  else
    mkdir "$draft/appendonlydir" && cp "$1" "$draft/$base" || fail "$1 cannot be copied"
    adopt
  fi
  verify "$draft"
  mv "$draft" "$2" || fail "$draft cannot be renamed to $2"
  draft=''
}

backup() {
  [ -n "${OPERATOR_URL:-}" ] || fail 'OPERATOR_URL is missing'
  name=$1/plants-$(date -u +%Y%m%dT%H%M%SZ).rdb
  [ ! -e "$name" ] || fail "$name exists already"
  new "$name.draft"
  mkdir "$draft/appendonlydir" || fail "$draft cannot be written"
  reply=$(timeout "$limit" redis-cli --no-auth-warning -e -u "$OPERATOR_URL" --rdb "$draft/$base" 2>&1) ||
    fail "Redis sent no copy of its data: $reply"
  adopt
  verify "$draft"
  mv "$draft/$base" "$name" || fail "$name cannot be written"
  # Without arguments it would also write what other programs have changed, which may take minutes.
  sync "$name" "$1" || { rm -f "$name"; fail "$name cannot be written"; }
  if [ -n "${BACKUP_KEEP:-}" ]; then
    find "$1" -maxdepth 1 -name 'plants-*.rdb' | sort -r | tail -n "+$((BACKUP_KEEP + 1))" |
      while read -r old; do rm "$old"; done
  fi
  echo "verified: $name"
}

case "${1:-} $#" in
  'backup 2' | 'restore 3') ;;
  *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
for tool in redis-cli redis-server redis-check-rdb plant-store timeout; do
  command -v "$tool" >/dev/null || fail "$tool is not on the PATH"
done
"$@"
