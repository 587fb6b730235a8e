#!/bin/sh
# Compiles src into a folder (by default dist), and copies the files of Swagger UI into it. The package of Swagger UI
# must not be a dependency of the service: its own dependency @scarf/scarf reports each installation to its maker.
set -e
out=${1:-dist}
tsc -p tsconfig.build.json --outDir "$out"
mkdir -p "$out/swagger-ui"
for file in LICENSE NOTICE swagger-ui-bundle.js swagger-ui-bundle.js.LICENSE.txt swagger-ui.css; do
  cp "node_modules/swagger-ui-dist/$file" "$out/swagger-ui"
done
