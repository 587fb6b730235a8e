#!/bin/sh
# `npm start` and `npm run plant-store`: runs `main` or `cli` from source where the compiler is installed, and otherwise
# from the build, because a platform removes the compiler after it has built (`npm ci --omit=dev`).
set -e
program=$1
shift
if [ -d src ] && [ -x node_modules/.bin/tsc ]; then
  # A service must start fast again; a command is typed often, and ts-node compiles only what has changed.
  [ "$program" = main ] || exec node_modules/.bin/ts-node "src/$program.ts" "$@"
  node_modules/.bin/tsc -p tsconfig.build.json --noCheck --declaration false
  cp -R src/adapters/redis/lua dist/adapters/redis/
elif [ ! -f "dist/$program.js" ]; then
  echo 'plant-store: there is neither a build nor a compiler:' \
    'run npm ci && npm run build, before npm prune --omit=dev' >&2
  exit 2
fi
exec node "dist/$program.js" "$@"
