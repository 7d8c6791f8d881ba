/** `POST /api/configuration/apply`: all changes or none, and what a dry run answers is what happens. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import * as TestGateway from "../../support/TestGateway.ts"

interface Change {
  readonly kind: string
  readonly action: string
  readonly name: string
  readonly body: Readonly<Record<string, unknown>>
}

const create = (kind: string, name: string, body: Change["body"]): Change => ({ kind, action: "create", name, body })

const node = (prefix: string) =>
  create("node", prefix, { prefix, name: prefix, type: "openai-compatible", baseUrl: "http://127.0.0.1:9/v1" })
const connection = (provider: string, name: string) =>
  create("connection", `${provider}/${name}`, { provider, name, apiKey: `key-of-${name}-0123456789`, models: ["m"] })
const combo = (name: string, model: string) =>
  create("combo", name, { name, strategy: "priority", targets: [{ model }] })
const alias = (name: string, model: string) => create("alias", name, { model })
const key = (name: string) => create("key", name, { name })
const price = (name: string, input: number) => create("price", name, { price: { input, output: 1 } })

const further = [
  "/api/provider-models",
  "/api/usage/budget",
  "/api/usage/token-limits",
  "/api/quota/groups",
  "/api/v1/management/proxies",
  "/api/v1/management/proxies/assignments",
  "/api/webhooks",
  "/api/resilience"
]

const lists = ["/api/provider-nodes", "/api/providers", "/api/combos", "/api/models/alias", "/api/keys", "/api/pricing"]

const stateOf = async ({ manage }: TestGateway.TestGateway): Promise<string> =>
  JSON.stringify(
    await Promise.all([...lists, ...further, "/api/settings", "/api/mcp/servers"].map((path) => manage("GET", path)))
  )

const apply = async ({ url }: TestGateway.TestGateway, changes: ReadonlyArray<unknown>, dryRun: boolean) => {
  const response = await fetch(`${url}/api/configuration/apply`, {
    method: "POST",
    headers: { authorization: `Bearer ${TestGateway.adminKey}`, "content-type": "application/json" },
    body: JSON.stringify({ changes, dryRun })
  })
  return { status: response.status, body: JSON.parse(await response.text()) }
}

describe("a plan", () => {
  it.scopedLive("is carried out whole, in its order and with names made to ids", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      yield* Effect.promise(async () => {
        const changes = [
          node("cellar"),
          connection("cellar", "one"),
          create("combo", "best", { name: "best", targets: [{ model: "cellar/m", connection: "cellar/one" }] }),
          alias("short", "combo:best"),
          price("cellar/m", 1),
          create("key", "laptop", { name: "laptop", allowedConnections: ["cellar/one"] }),
          create("settings", "settings", { metricsPublic: true })
        ]
        const before = await stateOf(gateway)
        const dry = await apply(gateway, changes, true)
        assert.deepStrictEqual(dry, { status: 200, body: { dryRun: true, changes: 7, secrets: {} } })
        assert.strictEqual(await stateOf(gateway), before)
        const done = await apply(gateway, changes, false)
        assert.strictEqual(done.status, 200)
        assert.match(done.body.secrets.laptop, /^gw/)
        const { connections } = await gateway.manage("GET", "/api/providers")
        const { combos } = await gateway.manage("GET", "/api/combos")
        assert.strictEqual(combos[0].targets[0].connectionId, connections[0].id)
      })
    })
  )

  for (const [what, bad, words] of [
    ["a second connection of a node", connection("cellar", "two"), /^connection 'cellar\/two': The node 'cellar'/],
    ["a combo of a model that is not there", combo("wrong", "nobody/m"), /^combo 'wrong': /],
    ["an alias that is a combo's name", alias("best", "cellar/m"), /^alias 'best': /],
    ["a field that is not known", create("node", "x", { prefix: "x", colour: "red" }), /^node 'x': .*colour/],
    [
      "a connection that is named and not there",
      create("key", "k", { name: "k", allowedConnections: ["a/b"] }),
      /^key 'k': .*'a\/b'/
    ],
    ["settings of the wrong kind", create("settings", "settings", { metricsPublic: "yes" }), /^settings 'settings': /],
    ["a price below zero", price("cellar/m", -1), /^price 'cellar\/m'/],
    ["a budget of nobody", create("budget", "none", { key: "none", dailyLimitUsd: 1 }), /^budget 'none': .*'none'/],
    ["a budget of nothing", create("budget", "laptop", { key: "laptop", dailyLimitUsd: -1 }), /^budget 'laptop': /],
    [
      "a quota group of nobody",
      create("quotaGroup", "g", { name: "g", members: [{ connection: "a/b", weight: 1 }] }),
      /^quotaGroup 'g': .*'a\/b'/
    ],
    [
      "resilience of the wrong kind",
      create("resilience", "resilience", { retry: { maxRetries: "many" } }),
      /^resilience /
    ],
    ["a receiver at a forbidden address", create("webhook", "w", { url: "http://169.254.169.254/" }), /^webhook 'w': /],
    [
      "a proxy at a forbidden address",
      create("proxy", "p", { name: "p", type: "http", host: "169.254.169.254", port: 80 }),
      /^proxy 'p': /
    ],
    [
      "a proxy that is named and not there",
      create("proxyAssignment", "global", { scope: "global", proxy: "none" }),
      /^proxyAssignment 'global': .*'none'/
    ],
    ["a program", create("mcpServer", "p", { name: "p", command: "/bin/sh" }), /^mcpServer 'p': /]
  ] as const) {
    it.scopedLive(`with ${what} is refused with its entry, and changes nothing`, () =>
      Effect.gen(function* () {
        const gateway = yield* TestGateway.start()
        yield* Effect.promise(async () => {
          const good = [
            node("cellar"),
            connection("cellar", "one"),
            combo("best", "cellar/m"),
            create("combo", "outer", { name: "outer", targets: [{ model: "combo:best" }] }),
            key("laptop"),
            create("budget", "laptop", { key: "laptop", dailyLimitUsd: 1 }),
            create("tokenLimit", "laptop global  daily", {
              key: "laptop",
              scopeType: "global",
              tokenLimit: 5,
              resetInterval: "daily"
            }),
            create("model", "cellar/m", { provider: "cellar", modelId: "m", contextLength: 1_000 }),
            create("proxy", "berlin", { name: "berlin", type: "http", host: "93.184.216.36", port: 8_080 }),
            create("proxyAssignment", "key laptop", { scope: "key", of: "laptop", proxy: "berlin" }),
            create("resilience", "resilience", { retry: { maxRetries: 2 } })
          ]
          const before = await stateOf(gateway)
          // What only the services in force can judge is refused when it is carried out, and everything before it is taken back.
          const isJudgedLate = /forbidden address|a proxy that is named/.test(what)
          for (const dryRun of isJudgedLate ? [false] : [true, false]) {
            const refused = await apply(gateway, [...good, bad, alias("later", "cellar/m")], dryRun)
            assert.isAtLeast(refused.status, 400)
            assert.isBelow(refused.status, 500)
            assert.match(refused.body.error.message, words)
            assert.match(refused.body.error.message, /Nothing was changed\.$/)
            assert.strictEqual(await stateOf(gateway), before)
          }
        })
      })
    )
  }

  it.scopedLive("answers a dry run as it is carried out, whatever is in it", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const names = fc.constantFrom("a", "b", "c")
      const change = fc.oneof(
        names.map(node),
        fc.tuple(names, names).map(([at, name]) => connection(at, name)),
        fc.tuple(names, names).map(([name, at]) => combo(`combo ${name}`, `${at}/m`)),
        fc.tuple(names, names).map(([name, at]) => alias(`alias-${name}`, `${at}/m`)),
        fc.tuple(names, fc.integer({ min: -1, max: 3 })).map(([at, input]) => price(`${at}/m`, input))
      )
      yield* Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async (changes) => {
            const before = await stateOf(gateway)
            const dry = await apply(gateway, changes, true)
            assert.strictEqual(await stateOf(gateway), before)
            const done = await apply(gateway, changes, false)
            assert.strictEqual(done.status, dry.status)
            if (done.status === 200) assert.strictEqual(done.body.changes, dry.body.changes)
            else {
              assert.strictEqual(done.body.error.message, dry.body.error.message)
              assert.strictEqual(await stateOf(gateway), before)
            }
          }),
          { numRuns: 20, seed: 7 }
        )
      )
    })
  )

  it.scopedLive("is refused with an unknown member, and with too little", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      yield* Effect.promise(async () => {
        assert.strictEqual((await apply(gateway, [{ kind: "moon", action: "create", name: "x" }], false)).status, 400)
        assert.strictEqual(
          (await apply(gateway, [{ ...node("x"), extra: 1 }], false)).body.error.param,
          "changes.0.extra"
        )
      })
    })
  )
})
