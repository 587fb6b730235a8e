#!/usr/bin/env bash
# Prints the bill of materials of the service (CycloneDX): the packages of the lock file without those for development.
# `npm sbom --omit dev` would also leave out packages that both need, such as koa.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
# npm takes the name of the component from its folder.
mkdir -p "$place/plant-store/service"
cp package.json package-lock.json .npmrc "$place/plant-store"
cp service/package.json "$place/plant-store/service"
cd "$place/plant-store"
npm pkg delete devDependencies peerDependencies peerDependenciesMeta
npm install --package-lock-only --ignore-scripts --offline >&2
npm sbom --package-lock-only --sbom-format cyclonedx
