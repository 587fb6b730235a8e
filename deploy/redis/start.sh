#!/bin/sh
# Starts a Redis that keeps every acknowledged write, with the settings of redis.conf, and the users of docs/operations.md
# and docs/runbook.md. Arguments are further settings. REDIS_PASSWORD is the password of the service, REDIS_OPERATOR_PASSWORD that of the users for
# operators, REDIS_ADMIN_PASSWORD that of the administrator `admin`; these do not exist without their password.
set -eu

# The passwords are parts of URLs.
for name in REDIS_PASSWORD REDIS_OPERATOR_PASSWORD REDIS_ADMIN_PASSWORD; do
  eval "value=\${$name:-}"
  case $name=$value in
    REDIS_OPERATOR_PASSWORD= | REDIS_ADMIN_PASSWORD=) continue ;;
    *=*[!A-Za-z0-9_-]*) problem='must have only letters, digits, _ and -' ;;
    *=????????????????*) continue ;;
    *) problem='must have at least 16 characters: openssl rand -hex 24' ;;
  esac
  echo "start.sh: $name $problem" >&2
  exit 1
done

# What docs/operations.md grants the service, and operators in addition.
service='~plant-store:* -@all +info +config|get +client|setname +get +set +evalsha +eval +xrange +xrevrange +xadd +zadd +zrange +wait'
snapshots='(~plant-store:*:snapshot* +hmget +hset +pexpire +persist +rename +unlink)'
in_addition='+zrem +zscore +xlen +exists +xinfo|stream +hkeys +hdel +unlink'

# A replica (the argument --replicaof) follows its primary as the user for backups, who has the same rights.
operators() {
  [ -n "${REDIS_OPERATOR_PASSWORD:-}" ] || return 0
  cat <<USERS
user plant-store-operator on >$REDIS_OPERATOR_PASSWORD $service $in_addition $snapshots
user plant-store-backup on >$REDIS_OPERATOR_PASSWORD -@all +ping +psync +sync +replconf
user plant-store-admin on >$REDIS_OPERATOR_PASSWORD -@all +ping +info +bgrewriteaof +failover +replicaof +config|rewrite
masteruser plant-store-backup
masterauth $REDIS_OPERATOR_PASSWORD
USERS
}

# From the standard input, so that no password is in a file or in the list of processes. The entry point of Redis' image,
# if there is one, runs Redis as the user `redis`. The default user cannot log in, but has all rights: Redis applies its
# rights when it loads the append-only file.
exec $(command -v docker-entrypoint.sh) redis-server - "$@" <<CONF
include $(cd "$(dirname "$0")" && pwd)/redis.conf
bind * -::*
protected-mode no
user default off resetpass ~* &* +@all
user probe on nopass -@all +ping
user plant-store on >$REDIS_PASSWORD $service $snapshots
$(operators)
${REDIS_ADMIN_PASSWORD:+user admin on >$REDIS_ADMIN_PASSWORD ~* &* +@all}
CONF
