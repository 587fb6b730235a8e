# An image of the service alone: Node, its libraries, the compiled code and its packages. No shell, no npm,
# no root. docs/operations.md explains how to run it.
#
# Any image with Node 20.19 or newer, npm and glibc works.
ARG NODE_IMAGE=node:24-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
# A separate layer, so that a change of the source does not install the packages again.
COPY package.json package-lock.json .npmrc ./
COPY service service
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src src
COPY scripts/build.sh scripts/build.sh
# The packages of service/package.json are left, and a link to that folder.
RUN npm run build && npm prune --omit=dev --ignore-scripts && rm node_modules/plant-store-service

FROM ${NODE_IMAGE} AS node
RUN mkdir -p /runtime/usr/bin \
  && cp -L "$(command -v node)" /runtime/usr/bin/node \
  && cp -L --parents $(ldd /runtime/usr/bin/node | grep -o '/[^ ]*') /runtime

FROM scratch
COPY --from=node /runtime /
WORKDIR /app
COPY --from=build /app/service/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist

ENV PATH=/usr/bin NODE_ENV=production HOST=0.0.0.0 PORT=3000
EXPOSE 3000
USER 65532:65532
# Liveness, not readiness: a restart does not help while Redis is unavailable. On the admin port, if there is one,
# because clients cannot fill its connections.
HEALTHCHECK --interval=5s --timeout=3s --start-period=10s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.ADMIN_PORT || process.env.PORT}/health/live`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/dist/cli.js"]
CMD ["serve"]
