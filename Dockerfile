# syntax=docker/dockerfile:1
# The gateway in a container: nothing in it is compiled, and it runs as a user without rights.
# docker build -t gateway . && docker run -p 127.0.0.1:20128:20128 -v gateway-data:/data -e REQUIRE_API_KEY=true gateway

# Node 22 has SQLite of its own. By digest, where one was checked: --build-arg NODE_IMAGE=node@sha256:...
ARG NODE_IMAGE=node:22-bookworm-slim
FROM ${NODE_IMAGE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
# Without scripts: there is nothing to compile, and nothing of this package to build yet.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build && npm prune --omit=dev --omit=peer --ignore-scripts

FROM ${NODE_IMAGE}
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="gateway" \
  org.opencontainers.image.description="Self-hosted gateway between AI clients and AI providers" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"
ENV NODE_ENV=production \
  DATA_DIR=/data \
  HOST=0.0.0.0 \
  PORT=20128
WORKDIR /app
COPY --from=build /src/package.json /src/LICENSE ./
COPY --from=build /src/node_modules ./node_modules
COPY --from=build /src/bin ./bin
COPY --from=build /src/dist ./dist
RUN mkdir /data && chown node:node /data && ln -s /app/bin/gateway /usr/local/bin/gateway
USER node
VOLUME /data
EXPOSE 20128
# Whether it answers, not whether its providers do: nothing is gained by starting it again for those.
HEALTHCHECK --interval=30s --timeout=5s CMD node -e "fetch('http://127.0.0.1:'+process.env.PORT+'/api/health/ping').then(({ok})=>process.exit(ok?0:1),()=>process.exit(1))"
STOPSIGNAL SIGTERM
CMD ["gateway", "serve", "--no-open"]
