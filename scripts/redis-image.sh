#!/usr/bin/env bash
# Makes a Redis image out of this machine's own redis-server and the libraries it
# needs, for machines where no image can be pulled:
#
#   scripts/redis-image.sh && REDIS_IMAGE=plant-store-redis:local TESTCONTAINERS_RYUK_DISABLED=true npm test
#
# Usage: scripts/redis-image.sh [tag]
set -euo pipefail

tag=${1:-plant-store-redis:local}
server=$(command -v redis-server) || { echo 'redis-image: there is no redis-server on the PATH' >&2; exit 1; }

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

# -L: redis-server and the libraries are links, and the image has room for the files behind them only.
install -D "$server" "$root/usr/local/bin/redis-server"
ldd "$server" | grep -o '/[^ ]*' | sort -u | xargs cp -L --parents -t "$root"
mkdir -p "$root/data" "$root/etc" "$root/tmp"

# Published ports reach the container through its own network interface, so it must listen there
# and let in clients that are not local to it.
tar -C "$root" -c . | docker import --message 'redis-server of this machine' \
  --change 'ENTRYPOINT ["/usr/local/bin/redis-server", "--bind", "0.0.0.0", "--protected-mode", "no"]' \
  --change 'WORKDIR /data' \
  --change 'EXPOSE 6379' \
  - "$tag" >/dev/null

echo "redis-image: $tag holds $("$server" --version)"
