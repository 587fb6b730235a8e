#!/usr/bin/env bash
# Builds images from the programs of this machine, for machines where no image can be pulled:
#
#   scripts/local-images.sh
#   REDIS_IMAGE=plant-store-redis:local TESTCONTAINERS_RYUK_DISABLED=true npm test
#   docker build --network host --build-arg NODE_IMAGE=plant-store-node:local --tag plant-store .
set -euo pipefail

# import <tag> <option of docker import>... -- <program, file or folder>...
# makes an image of these files and of the libraries that they need.
import() {
  local tag=$1 options=() root path libraries
  shift
  for (( ; $# > 0; )); do
    [[ $1 != -- ]] || break
    options+=("$1")
    shift
  done
  shift
  root=$(mktemp -d)
  mkdir -p "$root"/{tmp,etc,usr/local/bin}
  # The paths at which scripts expect their interpreters.
  ln -s usr/local/bin "$root/bin"
  ln -s local/bin "$root/usr/bin"
  chmod 755 "$root"
  chmod 1777 "$root/tmp"
  for name in "$@"; do
    path=$name
    if [[ $name == /* ]]; then
      cp -rL --parents -t "$root" "$path"
      continue
    fi
    # Programs go into the standard path.
    path=$(command -v "$name")
    if [[ $(head -c 2 "$path") == '#!' && -L $path ]]; then
      # A script with further files, which must be arguments as well.
      ln -s "$(readlink -f "$path")" "$root/usr/local/bin/$name"
      continue
    fi
    # -L: programs and libraries are links, and the image contains only their targets.
    cp -L "$path" "$root/usr/local/bin/$name"
    libraries=$(ldd "$path" 2>/dev/null | grep -o '/[^ ]*' | sort -u) || continue
    xargs cp -L --parents -t "$root" <<<"$libraries"
  done
  tar -C "$root" -c . | docker import "${options[@]}" - "$tag" >/dev/null
  rm -rf "$root"
}

# Published ports reach a container through its own network interface, so Redis must listen there.
import plant-store-redis:local \
  --change 'ENTRYPOINT ["/usr/local/bin/redis-server", "--bind", "0.0.0.0", "--protected-mode", "no"]' \
  --change 'WORKDIR /data' --change 'EXPOSE 6379' -- redis-server redis-cli sh mkdir rm sleep

npm=$(dirname "$(readlink -f "$(command -v npm)")")
certificates=/etc/ssl/certs/ca-certificates.crt
settings=()
for file in ~/.npmrc "$(npm prefix --global)/etc/npmrc"; do [[ ! -e $file ]] || settings+=("$file"); done
import plant-store-node:local --change "ENV NODE_EXTRA_CA_CERTS=$certificates" \
  -- node npm sh env cp mkdir rm ldd bash grep cat "$(dirname "$npm")" "$certificates" "${settings[@]}"
