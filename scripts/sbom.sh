#!/usr/bin/env bash
# Prints the bill of materials of the service (CycloneDX): the packages of the lock file without those for development,
# and Swagger UI, whose files are part of the build.
# `npm sbom --omit dev` would also leave out packages that both need, such as koa.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
# npm takes the name of the component from its folder.
mkdir -p "$place/plant-store/service"
cp package.json package-lock.json .npmrc "$place/plant-store"
cp service/package.json "$place/plant-store/service"
cd "$place/plant-store"
swagger_ui=$(npm pkg get devDependencies.swagger-ui-dist | tr -d '"')
npm pkg delete devDependencies peerDependencies peerDependenciesMeta
npm pkg set "dependencies.swagger-ui-dist=$swagger_ui"
npm install --package-lock-only --ignore-scripts --offline >&2
# The build has nothing of its dependency.
node -e "
  const lock = require('./package-lock.json');
  delete lock.packages['node_modules/swagger-ui-dist'].dependencies;
  delete lock.packages['node_modules/@scarf/scarf'];
  fs.writeFileSync('package-lock.json', JSON.stringify(lock));"
npm sbom --package-lock-only --sbom-format cyclonedx
