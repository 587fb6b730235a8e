# An image for the tasks of docs/runbooks on Redis: redis.sh, with Redis' programs and the command plant-store. Build the
# image of the service first.
ARG SERVICE_IMAGE=plant-store
# The version of your Redis, or a newer one.
ARG REDIS_IMAGE=redis:7.4

FROM ${SERVICE_IMAGE} AS service

FROM ${REDIS_IMAGE}
# With its own libraries, because those of this image may be older.
COPY --from=service / /plant-store
RUN printf '#!/bin/sh\nexec %s --library-path %s /plant-store/usr/bin/node /plant-store/app/dist/cli.js "$@"\n' \
    "$(echo /plant-store/lib*/ld-linux-*)" "$(echo /plant-store/lib/*/ | tr ' ' :)" >/usr/local/bin/plant-store \
  && chmod 755 /usr/local/bin/plant-store
COPY redis.sh /usr/local/bin/redis.sh
ENTRYPOINT ["redis.sh"]
