#!/usr/bin/env bash
# Runs the unit and HTTP tests, without the simulations, on another Node: `bash scripts/on-node.sh 24`. The npm package `node` contains it.
set -euo pipefail
version=${1:?'which version of Node? 20.19, 22 or 24, say'}
node=$(npx --yes --package "node@$version" node --print process.execPath)
# First on the PATH, so that the processes of tests use it.
export PATH="$(dirname "$node"):$PATH"
echo "on node $(node --version)"
exec node node_modules/mocha/bin/mocha.js 'test/**/*.unit.test.ts' 'test/**/*.http.test.ts' \
  --ignore 'test/**/*.load.http.test.ts' --ignore 'test/package/**' --ignore 'test/world/**'
