#!/bin/sh
# Starts a Redis that keeps every acknowledged write, with the users that docs/operations.md and docs/command-line.md
# describe. Arguments are further settings. REDIS_PASSWORD is the password of the service, REDIS_OPERATOR_PASSWORD that of
# the users for operators, who do not exist without it.
set -eu

# The passwords are parts of URLs.
for name in REDIS_PASSWORD REDIS_OPERATOR_PASSWORD; do
  eval "value=\${$name:-}"
  case $name=$value in
    REDIS_OPERATOR_PASSWORD=) continue ;;
    *=*[!A-Za-z0-9_-]*) problem='must have only letters, digits, _ and -' ;;
    *=????????????????*) continue ;;
    *) problem='must have at least 16 characters: openssl rand -hex 24' ;;
  esac
  echo "start.sh: $name $problem" >&2
  exit 1
done

operators() {
  [ -n "${REDIS_OPERATOR_PASSWORD:-}" ] || return 0
  cat <<END
user plant-store-backup on >$REDIS_OPERATOR_PASSWORD -@all +ping +psync +sync +replconf
user plant-store-admin on >$REDIS_OPERATOR_PASSWORD -@all +ping +info +config|get +shutdown +bgrewriteaof +failover
user plant-store-operator on >$REDIS_OPERATOR_PASSWORD ~plant-store:* -@all +info +config|get +client|setname +xrange +evalsha +eval +xadd +xinfo|stream +xsetid +wait +time +xread +scan +xlen +unlink +set +xtrim +memory|usage (~plant-store:*:feed +xdel) (~plant-store:*:feed:* +hmget +hset +hkeys +hdel) (~plant-store:*:snapshot* +hmget +hset +pexpire +persist +rename +unlink) (%R~plant-store:*:base +hmget) (%R~plant-store:*:feed:* +time +hkeys +hmget) (~plant-store:*:base* +hmget +hset +pexpire +persist +rename +unlink)
END
}

# From the standard input, so that no password is in a file or in the list of processes. The entry point of Redis' image,
# if there is one, makes the user `redis` of root. The default
# user cannot log in, but has all rights: Redis applies its rights when it loads the transactions of the append-only file,
# and would drop them without a word.
exec $(command -v docker-entrypoint.sh) redis-server - "$@" <<END
bind * -::*
protected-mode no
appendonly yes
appendfsync always
maxmemory-policy noeviction
user default off resetpass ~* &* +@all
user probe on nopass -@all +ping
user plant-store on >$REDIS_PASSWORD ~plant-store:* -@all +info +config|get +client|setname +xrange +evalsha +eval +xadd +xinfo|stream +xsetid +wait (~plant-store:*:snapshot* +hmget +hset +pexpire +persist +rename +unlink) (%R~plant-store:*:base +hmget) (%R~plant-store:*:feed:* +time +hkeys +hmget)
$(operators)
END
