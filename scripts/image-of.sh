#!/usr/bin/env bash
# Makes an image out of programs of this machine and the libraries that they
# need, for machines where no image can be pulled.
#
# Usage: scripts/image-of.sh <tag> <option of docker import>... -- <program, file or folder>...
set -euo pipefail

tag=$1
shift
options=()
while [[ $1 != -- ]]; do
  options+=("$1")
  shift
done
shift

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root"/{tmp,etc,usr/local/bin}
# Where scripts look for their interpreters.
ln -s usr/local/bin "$root/bin"
ln -s local/bin "$root/usr/bin"
chmod 755 "$root"
chmod 1777 "$root/tmp"

for name in "$@"; do
  path=$name
  if [[ $name != /* ]]; then
    # Programs go where every image looks for them.
    path=$(command -v "$name") || { echo "image-of: there is no $name on the PATH" >&2; exit 1; }
    if libraries=$(ldd "$path" 2>/dev/null | grep -o '/[^ ]*' | sort -u); then
      # -L: programs and libraries are links, and the image has room for the files behind them only.
      cp -L "$path" "$root/usr/local/bin/$name"
      xargs cp -L --parents -t "$root" <<<"$libraries"
    elif [[ $(dirname "$(readlink -f "$path")") -ef $(dirname "$path") ]]; then
      cp "$path" "$root/usr/local/bin/$name"
    else
      # A script among files of its own, which have to be named as well.
      ln -s "$(readlink -f "$path")" "$root/usr/local/bin/$name"
    fi
  else
    cp -rL --parents -t "$root" "$path"
  fi
done

tar -C "$root" -c . | docker import "${options[@]}" - "$tag" >/dev/null
