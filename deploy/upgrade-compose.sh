#!/bin/sh
# Replaces the instances of compose.yaml by instances of the present image and settings, which are ready before the old ones
# drain. COMPOSE is the command, by default `docker compose`. A new instance must be ready within LIMIT seconds.
set -eu
compose=${COMPOSE:-docker compose}

fail() {
  echo "upgrade-compose.sh: $*" >&2
  exit 1
}

# The image has no shell. Its health check is only whether the instance is live.
ready='fetch(`http://127.0.0.1:${process.env.PORT}/health/ready`).then(({ ok }) => process.exit(ok ? 0 : 1))'

old=$($compose ps --quiet plants)
[ -n "$old" ] || fail 'no instance runs'
count=$(echo "$old" | wc -l)
$compose up --detach --no-build --no-deps --no-recreate --scale "plants=$((2 * count))" plants ||
  fail 'the new instances do not start; the old ones serve'
for each in $($compose ps --quiet plants); do
  case $old in *"$each"*) continue ;; esac
  timeout "${LIMIT:-60}" sh -c "until docker exec $each node -e '$ready' >/dev/null 2>&1; do sleep 1; done" ||
    fail "the new instance $each is not ready; the old ones serve. Its log: docker logs $each"
done
# The proxy finds a new instance within two seconds, and sends requests to it when it is ready.
sleep 5
for each in $old; do
  docker stop "$each" >/dev/null && docker rm "$each" >/dev/null || fail "the old instance $each does not stop"
done
