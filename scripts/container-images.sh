#!/usr/bin/env bash
# Builds the base images of Dockerfile and compose.yaml from the programs of this machine, for machines
# without a registry: Node with npm and a shell, Redis, HAProxy.
#
#   scripts/container-images.sh
#   docker build --network host --build-arg NODE_IMAGE=plant-store-node:local -t plant-store .
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")

bash "$here/redis-image.sh" plant-store-redis:local

npm=$(dirname "$(readlink -f "$(command -v npm)")")
certificates=/etc/ssl/certs/ca-certificates.crt
settings=()
for file in ~/.npmrc "$(npm prefix --global)/etc/npmrc"; do [[ ! -e $file ]] || settings+=("$file"); done
bash "$here/image-of.sh" plant-store-node:local \
  --change "ENV NODE_EXTRA_CA_CERTS=$certificates" \
  -- node npm sh env cp mkdir rm ldd bash grep "$(dirname "$npm")" "$certificates" "${settings[@]}"

bash "$here/image-of.sh" plant-store-haproxy:local \
  --change 'ENTRYPOINT ["/usr/local/bin/haproxy", "-W", "-db"]' \
  --change 'CMD ["-f", "/usr/local/etc/haproxy/haproxy.cfg"]' \
  --change 'USER 65532' \
  -- haproxy
