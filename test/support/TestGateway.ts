/** The whole service in a test: real sockets, a real database in a throw-away folder, listening on a free loopback port. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { Scope } from "effect/Scope"
import { writeFileSync } from "node:fs"
import { gateway, gatewayWith } from "../../src/app/layers.ts"
import { buildInOrder } from "../../src/app/LayerBuilder.ts"
import type { WireName } from "../../src/contract/domain/Wire.ts"
import { HttpServer } from "../../src/entry/server/Server.ts"
import * as AppConfig from "../../src/platform/AppConfig.ts"
import { databaseFile } from "../../src/store/DataFolder.ts"
import { migrations } from "../../src/store/migrations/index.ts"
import * as Sql from "../../src/store/Sql.ts"
import { type FakeTunnels, make as makeTunnels } from "./FakeTunnels.ts"
import type { FakeUpstream } from "./FakeUpstream.ts"
import { eventuallyFound } from "./eventually.ts"
import { temporaryFolder } from "./TemporaryFolder.ts"

export const adminKey = "admin-key-of-the-tests-0123456789"

export interface TestGateway {
  readonly url: string
  /** A management call as administrator; fails the test when it is not answered with 2xx. */
  // eslint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
  readonly manage: (method: string, path: string, body?: unknown) => Promise<any>
  /** A node and a connection for a fake upstream. The prefix is then a provider id; the connection is returned. */
  readonly connect: (
    prefix: string,
    upstream: FakeUpstream,
    wire: WireName,
    more?: Readonly<Record<string, unknown>>
  ) => Promise<{ readonly id: string }>
  readonly combo: (name: string, ...models: ReadonlyArray<string>) => Promise<void>
  /** A POST with a JSON body and whatever headers. */
  readonly post: (
    path: string,
    body: unknown,
    headers?: Readonly<Record<string, string>>,
    signal?: AbortSignal
  ) => Promise<Response>
  /** The usage row of a request, as soon as it is in the table. */
  // eslint-disable-next-line typescript/no-explicit-any -- as above
  readonly usageRow: (requestId: string) => Promise<any>
}

const types: Readonly<Record<WireName, string>> = {
  chat: "openai-compatible",
  responses: "openai-compatible",
  messages: "anthropic-compatible",
  gemini: "gemini-compatible",
  ollama: "ollama-compatible"
}

/** Makes the client of a gateway that runs already, with `adminKey`. */
export const client = (url: string): TestGateway => {
  const manage: TestGateway["manage"] = async (method, path, body) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === "" ? null : JSON.parse(text)
  }
  return {
    url,
    manage,
    connect: async (prefix, upstream, wire, more) => {
      const baseUrl = wire === "ollama" ? upstream.origin : `${upstream.origin}/v1`
      await manage("POST", "/api/provider-nodes", { name: prefix, prefix, type: types[wire], baseUrl, wires: [wire] })
      const { connection } = await manage("POST", "/api/providers", {
        provider: prefix,
        name: prefix,
        apiKey: `upstream-key-of-${prefix}`,
        models: ["m"],
        ...more
      })
      return connection
    },
    combo: async (name, ...models) => {
      await manage("POST", "/api/combos", { name, strategy: "priority", targets: models.map((model) => ({ model })) })
    },
    post: (path, body, headers = {}, signal) =>
      fetch(url + path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
        ...(signal === undefined ? {} : { signal })
      }),
    usageRow: (requestId) =>
      eventuallyFound(`the usage row of ${requestId}`, async () => {
        const { logs } = await manage("GET", "/api/usage/logs?limit=100")
        return logs.find((entry: { requestId: string }) => entry.requestId === requestId)
      })
  }
}

/** Starts a gateway for the scope. Its tunnels are made up, so that no test downloads or installs a program by an example; `real` are the service's. */
export const start = (
  config: Partial<AppConfig.AppConfigShape> = {},
  tunnels: FakeTunnels | "real" = makeTunnels()
): Effect.Effect<TestGateway, never, Scope> => Effect.map(startBuilt(config, tunnels), ({ gateway: made }) => made)

/** A folder with an empty database of the newest schema, which takes no migrations at the start. */
export const dataFolder = Effect.gen(function* () {
  const folder = yield* temporaryFolder
  writeFileSync(databaseFile(folder), yield* Sql.emptyDatabase(migrations), { mode: 0o600 })
  return folder
})

/** The same, with the services it is made of. */
export const startBuilt = (
  config: Partial<AppConfig.AppConfigShape> = {},
  tunnels: FakeTunnels | "real" = makeTunnels()
) =>
  Effect.gen(function* () {
    const dataDir = config.dataDir ?? (yield* dataFolder)
    const service = tunnels === "real" ? gateway : gatewayWith(tunnels.layer)
    // As the program does it, which takes half of the time of `Layer.build`.
    const built = yield* buildInOrder(
      service.pipe(Layer.provide(AppConfig.layerOf({ adminKey: Redacted.make(adminKey), ...config, dataDir }))),
      yield* Effect.scope
    ).pipe(Effect.orDie)
    return { gateway: client(Context.get(built, HttpServer).url), built }
  })
