#!/bin/sh
# The tasks of docs/runbooks on Redis. A task ends at the first step that fails, with a sentence and exit code 1. No task
# removes or overwrites data: a restore makes a new data directory, and the one before it stays.
#
#   redis.sh backup FOLDER         copies the data of OPERATOR_URL into FOLDER, and restores the copy to verify it
#   redis.sh restore BACKUP DATA   makes the data directory DATA, which must not exist yet, and verifies it
#   redis.sh switch DATA CONF      stops Redis, and starts it with DATA as the `dir` of its configuration file
#   redis.sh start CONF            starts Redis, and waits until it has loaded its data
#   redis.sh rewrite               rewrites the append-only file without what was deleted
#   redis.sh failover              makes a replica the primary: that of OPERATOR_URL, or of MASTER at SENTINEL_URL
#
# OPERATOR_URL is the URL of Redis, with the user of the task. STOP and START are commands that replace SHUTDOWN and
# redis-server, such as `systemctl stop redis`. A step takes at most LIMIT seconds. The Redis that verifies listens on
# CHECK_PORT. BACKUP_KEEP is the number of backups that stay in FOLDER; by default all.
set -eu
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

# Prints the reply to a command. With a wrong password redis-cli would go on as another user.
redis() {
  url=$1
  shift
  reply=$(timeout 10 redis-cli --no-auth-warning -e -u "$url" "$@" 2>&1) || { echo "$reply" >&2; return 1; }
  case $reply in *'AUTH failed'*) echo "$reply" >&2; return 1 ;; esac
  printf '%s\n' "$reply" | tr -d '\r'
}

# field NAME SECTION: a field of INFO.
field() {
  info=$(redis "$OPERATOR_URL" INFO "$2") || return 1
  printf '%s\n' "$info" | sed -n "s/^$1://p"
}

# within SECONDS COMMAND: repeats the command until it succeeds.
within() {
  left=$((5 * $1))
  shift
  until "$@"; do
    [ "$left" -gt 0 ] || return 1
    left=$((left - 1))
    sleep 0.2
  done
}

answers() { [ "$(redis "$1" PING 2>/dev/null)" = PONG ]; }

refuses() {
  case $(timeout 10 redis-cli -u "$1" PING 2>&1) in *'Connection refused'*) ;; *) return 1 ;; esac
}

# Whether the process PID is the Redis at URL. Another one of the same port may accept any password, and must not be stopped.
is() { redis "$2" INFO server 2>/dev/null | grep -qx "process_id:$1"; }

# A process that its parent has not awaited yet is gone, too. The directory is last, as it may vanish before grep.
gone() { grep -qs '^State:[[:space:]]*Z' "/proc/$1/status" || [ ! -d "/proc/$1" ]; }

# Loads the data directory into a Redis of its own, and replays every history there.
verify() {
  port=${CHECK_PORT:-7379}
  password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  # As aof-load-truncated is on, a copy of a file system may end within an append that was never acknowledged.
  printf '%s\n' "port $port" 'bind 127.0.0.1' "requirepass $password" "dir $1" 'save ""' 'appendonly yes' \
    'appendfsync always' 'auto-aof-rewrite-percentage 0' 'daemonize no' | redis-server - >"$1/verify.log" 2>&1 &
  server=$!
  url=redis://default:$password@127.0.0.1:$port
  loaded() { gone "$server" || { answers "$url" && is "$server" "$url"; }; }
  within "$limit" loaded || fail "Redis did not load the backup within $limit s"
  ! gone "$server" || fail "Redis cannot load the backup: $(tail -n 3 "$1/verify.log")"
  case ${OPERATOR_URL:-} in redis*://*/*[0-9]) database=/${OPERATOR_URL##*/} ;; *) database='' ;; esac
  (
    unset REDIS_CLUSTER_NODES REDIS_SENTINELS REDIS_SENTINEL_MASTER REDIS_WAIT_REPLICAS
    EVENT_STORE=redis REDIS_URL=$url$database timeout "$limit" plant-store events verify --quiet
  ) || fail 'plant-store events verify refuses the backup'
  redis "$url" SHUTDOWN NOSAVE >/dev/null || fail 'the Redis that verified the backup does not end'
  wait "$server" || fail 'the Redis that verified the backup ended with an error'
  server=''
  rm "$1/verify.log"
}

# Redis 7 reads an RDB file as the base of an append-only file, so it need not start without one.
base=appendonlydir/appendonly.aof.1.base.rdb
adopt() {
  redis-check-rdb "$1/$base" >/dev/null || fail 'the RDB file is damaged or not whole'
  echo 'file appendonly.aof.1.base.rdb seq 1 type b' >"$1/appendonlydir/appendonly.aof.manifest"
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
    adopt "$draft"
  fi
  verify "$draft"
  mv "$draft" "$2" || fail "$draft cannot be renamed to $2"
  draft=''
}

backup() {
  name=$1/plants-$(date -u +%Y%m%dT%H%M%SZ).rdb
  [ ! -e "$name" ] || fail "$name exists already"
  new "$name.draft"
  mkdir "$draft/appendonlydir" || fail "$draft cannot be written"
  timeout "$limit" redis-cli --no-auth-warning -e -u "$OPERATOR_URL" --rdb "$draft/$base" >/dev/null ||
    fail 'Redis sent no copy of its data'
  adopt "$draft"
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

start() {
  if [ -n "${START:-}" ]; then timeout "$limit" sh -c "$START"; else timeout "$limit" redis-server "$1"; fi ||
    { echo 'Redis does not start' >&2; return 1; }
  within "$limit" answers "$OPERATOR_URL" || { echo "Redis did not answer within $limit s" >&2; return 1; }
}

switch() {
  case $1 in /*) ;; *) fail "$1 must begin with /" ;; esac
  case $1 in *[!A-Za-z0-9_./-]*) fail "$1 has other characters than letters, digits and . _ / -" ;; esac
  [ -f "$1/appendonlydir/appendonly.aof.manifest" ] || fail "$1 is no data directory that restore has made"
  [ "$(grep -c '^dir ' "$2")" = 1 ] || fail "$2 must have one line that begins with dir"
  grep -q '^appendonly yes' "$2" || fail "$2 must have the line: appendonly yes"
  pid=$(field process_id server) || fail 'Redis does not tell its process'
  [ "$(field config_file server)" -ef "$2" ] || fail "Redis does not run with $2"
  [ "$(field aof_enabled persistence)" = 1 ] || fail 'Redis has no append-only file, so its data would be lost'
  ! gone "$pid" || fail 'the process of Redis is not on this machine'
  if [ -n "${STOP:-}" ]; then timeout "$limit" sh -c "$STOP"; else redis "$OPERATOR_URL" SHUTDOWN NOSAVE; fi ||
    fail 'Redis was not stopped'
  within "$limit" gone "$pid" || fail "the process $pid of Redis still runs"
  refuses "$OPERATOR_URL" || fail 'something still answers at OPERATOR_URL: Redis was started again. Set STOP and START'
  before=$2.before-$(date -u +%Y%m%dT%H%M%SZ)
  cp -p "$2" "$before" && sed "s|^dir .*|dir $1|" "$before" >"$2.draft" && cat "$2.draft" >"$2" && rm "$2.draft" ||
    undo "$before" "$2" 'the configuration cannot be written'
  start "$2" || undo "$before" "$2" 'Redis does not start with the restored data'
  [ "$(redis "$OPERATOR_URL" CONFIG GET dir | tail -n 1)" -ef "$1" ] || fail 'Redis does not use the restored data'
  echo "Redis uses $1. The data before it stays where it was, and so does the configuration: $before"
}

undo() {
  echo "redis.sh: $3: going back to the data before" >&2
  if [ -s "$1" ]; then cat "$1" >"$2"; fi
  answers "$OPERATOR_URL" || start "$2" || true
  fail "$3. $2 is as it was before"
}

idle() {
  [ "$(field aof_rewrite_in_progress persistence)" = 0 ] && [ "$(field aof_rewrite_scheduled persistence)" = 0 ]
}

rewrite() {
  [ "$(field aof_enabled persistence)" = 1 ] || fail 'Redis has no append-only file'
  # One that runs already may have begun before the deletion.
  within "$limit" idle || fail "another rewrite takes longer than $limit s"
  count=$(field aof_rewrites persistence)
  redis "$OPERATOR_URL" BGREWRITEAOF >/dev/null || fail 'Redis does not rewrite its file'
  within "$limit" idle || fail "the rewrite takes longer than $limit s"
  [ "$(field aof_rewrites persistence)" -gt "$count" ] && [ "$(field aof_last_bgrewrite_status persistence)" = ok ] ||
    fail 'the rewrite failed: the file is as before, and the log of Redis says why'
}

failover() {
  if [ -z "${SENTINEL_URL:-}" ]; then
    redis "$OPERATOR_URL" FAILOVER TIMEOUT 10000 >/dev/null || fail 'Redis refuses the failover'
    ended() { [ "$(field master_failover_state replication)" = no-failover ]; }
    within 30 ended || fail 'the failover does not end'
    [ "$(field role replication)" = slave ] ||
      fail 'the replica did not have all writes within 10 s, so the primary is the same as before'
  else
    redis "$SENTINEL_URL" SENTINEL CKQUORUM "$MASTER" >/dev/null || fail 'the Sentinels cannot agree on a failover'
    primary() { redis "$SENTINEL_URL" SENTINEL GET-MASTER-ADDR-BY-NAME "$MASTER"; }
    before=$(primary) || fail "the Sentinel does not know $MASTER"
    redis "$SENTINEL_URL" SENTINEL FAILOVER "$MASTER" >/dev/null || fail 'the Sentinel refuses the failover'
    changed() { now=$(primary) && [ "$now" != "$before" ]; }
    within 60 changed || fail 'the primary is the same as before'
  fi
}

case "${1:-} $#" in
  'backup 2' | 'restore 3' | 'switch 3' | 'start 2' | 'rewrite 1' | 'failover 1') ;;
  *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
for tool in redis-cli redis-server timeout; do
  command -v "$tool" >/dev/null || fail "$tool is not on the PATH"
done
"$@"
