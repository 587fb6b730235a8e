#!/usr/bin/env bash
# Builds a Redis image from the redis-server of this machine, for machines without a registry:
#
#   scripts/redis-image.sh && REDIS_IMAGE=plant-store-redis:local TESTCONTAINERS_RYUK_DISABLED=true npm test
#
# Usage: scripts/redis-image.sh [tag]
set -euo pipefail

tag=${1:-plant-store-redis:local}
# Published ports reach the container through its own network interface, so it must listen there
# and accept clients that are not local to it.
bash "$(dirname "${BASH_SOURCE[0]}")/image-of.sh" "$tag" \
  --message 'redis-server of this machine' \
  --change 'ENTRYPOINT ["/usr/local/bin/redis-server", "--bind", "0.0.0.0", "--protected-mode", "no"]' \
  --change 'WORKDIR /data' \
  --change 'EXPOSE 6379' \
  -- redis-server redis-cli

echo "redis-image: $tag contains $(redis-server --version)"
