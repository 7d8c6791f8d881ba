# syntax=docker/dockerfile:1
# The gateway in a container: built with a compiler, run without one, as a user without rights.
# docker build -t gateway . && docker run -p 127.0.0.1:20128:20128 -v gateway-data:/data -e REQUIRE_API_KEY=true gateway

FROM node:20.20-bookworm-slim AS build
RUN apt-get update \
  && apt-get install --yes --no-install-recommends python3 make g++ \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
# Without scripts of this package: there is nothing to build yet.
RUN npm ci --ignore-scripts && npm rebuild better-sqlite3
COPY . .
RUN npm run build && npm prune --omit=dev --ignore-scripts

FROM node:20.20-bookworm-slim
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
