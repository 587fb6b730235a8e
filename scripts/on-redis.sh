#!/usr/bin/env bash
# Runs the Redis suites on another server than the installed one: `bash scripts/on-redis.sh valkey`, or `redis`.
# On Debian only. It installs the server and its libraries from the next Debian into a temporary directory.
set -euo pipefail
server=${1:?'which server? redis or valkey'}
readonly release=trixie
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' | head -n 1)
echo "deb $mirror $release main" >"$place/sources.list"
mkdir -p "$place"/{root,bin,lists/partial,archives/partial}
: >"$place/status"
apt=(
  apt-get -qq
  -o "Dir::Etc::sourcelist=$place/sources.list" -o Dir::Etc::sourceparts=- -o Dir::Etc::preferencesparts=/dev/null
  -o "Dir::State::lists=$place/lists" -o "Dir::State::status=$place/status"
  -o "Dir::Cache::archives=$place/archives" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
  -o Debug::NoLocking=true -o APT::Sandbox::User= -o APT::Install-Recommends=false -o Acquire::Retries=3
)
"${apt[@]}" update
# Nothing counts as installed, so all dependencies are downloaded.
"${apt[@]}" install --download-only --yes "$server-server" >/dev/null
for package in "$place"/archives/*.deb; do dpkg-deb --extract "$package" "$place/root"; done

# Started by the downloaded loader, which finds the downloaded libraries.
libraries=$(dirname "$place"/root/usr/lib/*/libc.so.6)
loader=$(echo "$libraries"/ld-linux-*)
printf '#!/bin/sh\nexec %s --library-path %s %s "$@"\n' \
  "$loader" "$libraries" "$place/root/usr/bin/$server-server" >"$place/bin/redis-server"
chmod +x "$place/bin/redis-server"

# Otherwise the tests would use the Redis at REDIS_URL, or one in Docker.
unset REDIS_URL
export PATH="$place/bin:$PATH" DOCKER_HOST="unix://$place/no-docker.sock"
redis-server --version
npx mocha 'test/**/*.redis.test.ts' 'test/**/*.fault.test.ts'
