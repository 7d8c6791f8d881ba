/** A generated configuration of everything goes over `export` and `apply` to an empty gateway and is the same there. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, vi } from "vitest"
import { stringify } from "yaml"
import * as TestGateway from "../support/TestGateway.ts"
import { typed } from "../unit/cli/inProcess.ts"

let root = ""
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "gateway-round-"))
})
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(root, { recursive: true, force: true })
})

const { array, boolean, constantFrom, integer, option, record, subarray, tuple } = FastCheck
const usd = integer({ min: 1, max: 100_000 }).map((cents) => cents / 100)
const maybe = <A>(value: FastCheck.Arbitrary<A>) => option(value, { nil: undefined })
/** Names with what YAML and references could trip over. */
const suffix = constantFrom("", " two", "#2", " ${x}", ": -", "é", "'\"")
const zone = constantFrom("UTC", "Europe/Zurich", "Asia/Kolkata")
const clock = constantFrom("00:00", "08:30", "23:59")
const interval = constantFrom("daily", "weekly", "monthly")
const prefixes = ["cellar", "attic", "shed"]
const providers = ["openai", "groq", "mistral"]
const plain = (value: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined))

const nodes = FastCheck.constant(
  prefixes.map((prefix, at) => ({
    prefix,
    name: `The ${prefix}`,
    type: "openai-compatible",
    baseUrl: `http://127.0.0.1:${8_080 + at}/v1`,
    headers: { "x-team": "red" }
  }))
)

const connections = tuple(suffix, subarray(providers, { minLength: 2 })).chain(([tail, some]) =>
  tuple(
    ...[...prefixes, ...some].map((provider) =>
      record({
        provider: FastCheck.constant(provider),
        name: FastCheck.constant(`account${tail}`),
        apiKey: FastCheck.constant(`sk-of-${provider}-0123456789`),
        models: subarray(["m", "n", "o"]),
        priority: integer({ min: 0, max: 9 }),
        isActive: boolean(),
        tier: maybe(constantFrom("ultra", "pro", "free"))
      }).map(plain)
    )
  )
)

const mailed = {
  url: "smtps://93.184.216.35:465",
  events: ["*"],
  kind: "email",
  mail: { from: "gateway@example.com", to: ["oncall@example.com"] }
}

/** What belongs to keys and connections, by their names. */
const everything = tuple(nodes, connections, array(suffix, { minLength: 2, maxLength: 4 })).chain(
  ([ownNodes, accounts, tails]) => {
    const named = accounts.map(({ name, provider }) => `${String(provider)}/${String(name)}`)
    const keyNames = ["twin", "twin", ...new Set(tails.map((tail) => `key${tail}`))]
    const labels = ["twin", "twin#2", ...keyNames.slice(2)]
    const someKeys = subarray(labels, { minLength: 1 })
    const of = <A>(keys: FastCheck.Arbitrary<ReadonlyArray<string>>, each: (key: string) => FastCheck.Arbitrary<A>) =>
      keys.chain((all) => tuple(...all.map(each)))
    return record({
      nodes: FastCheck.constant(ownNodes),
      connections: FastCheck.constant(accounts),
      combos: FastCheck.constant([
        { name: "fast", strategy: "weighted", targets: [{ model: "cellar/m", weight: 2, connection: named[0] }] },
        { name: "best", strategy: "priority", targets: [{ model: "combo:fast" }, { model: "attic/n" }] }
      ]),
      aliases: FastCheck.constant({ gpt: "cellar/m" }),
      prices: record({ input: usd, output: usd }).map((m) => ({ cellar: { m, "org/x": { ...m, cached: 0.5 } } })),
      keys: tuple(
        ...keyNames.map((name) =>
          record({
            allowedModels: maybe(subarray(["cellar/*", "attic/n"], { minLength: 1 })),
            allowedConnections: maybe(subarray(named, { minLength: 1 })),
            maxRequestsPerDay: maybe(integer({ min: 1, max: 500 })),
            expiresAt: maybe(FastCheck.constant("2035-02-28T12:00:00.000Z"))
          }).map((fields) => Object.assign({ name }, plain(fields)))
        )
      ),
      mcpServers: someKeys.map((allowedKeys) => [{ name: "pages", url: "https://mcp.example.com/mcp", allowedKeys }]),
      models: of(subarray(["m", "n", "org/x"], { minLength: 1 }), (modelId) =>
        record({
          name: maybe(constantFrom("The model", "${not}")),
          contextLength: maybe(integer({ min: 1_000, max: 2_000_000 })),
          maxOutputTokens: maybe(integer({ min: 1, max: 64_000 })),
          capabilities: maybe(record({ vision: boolean(), toolCalling: boolean() }, { requiredKeys: [] })),
          hidden: boolean()
        }).map((fields) => Object.assign({ provider: "cellar", modelId }, plain(fields)))
      ),
      quotaGroups: tuple(subarray(named, { minLength: 1 }), someKeys, integer({ min: 1, max: 9 })).map(
        ([members, keys, weight]) => [
          {
            name: "team",
            members: members.map((connection) => ({ connection, weight })),
            allocations: keys.map((key) => ({ key, weight: 1 }))
          },
          { name: "open", members: members.map((connection) => ({ connection, weight: 1 })) }
        ]
      ),
      budgets: of(someKeys, (key) =>
        record({
          dailyLimitUsd: maybe(usd),
          monthlyLimitUsd: usd,
          warningThreshold: maybe(constantFrom(0, 0.5, 1)),
          resetInterval: maybe(interval),
          resetTime: maybe(clock),
          tz: maybe(zone)
        }).map((fields) => Object.assign({ key }, plain(fields)))
      ),
      tokenLimits: of(someKeys, (key) =>
        record({
          scope: constantFrom(
            { scopeType: "global" },
            { scopeType: "provider", scopeValue: "cellar" },
            {
              scopeType: "model",
              scopeValue: "cellar/org/x"
            }
          ),
          tokenLimit: integer({ min: 1, max: 1_000_000 }),
          resetInterval: interval,
          tz: maybe(zone),
          enabled: boolean()
        }).map(({ scope, ...fields }) => Object.assign({ key }, scope, plain(fields)))
      ),
      proxies: of(subarray(["berlin", "oslo", "rome"], { minLength: 1 }), (name) =>
        record({
          type: constantFrom("http", "https", "socks5"),
          host: constantFrom("proxy.example.com", "93.184.216.36"),
          port: integer({ min: 1, max: 65_535 }),
          family: constantFrom("auto", "ipv4"),
          isActive: boolean()
        }).map((fields) => Object.assign({ name }, fields))
      ),
      webhooks: of(FastCheck.constant(["a", "b", "a"]), (path) =>
        record({
          events: constantFrom(["*"], ["quota.exceeded", "provider.error"]),
          kind: constantFrom("custom", "slack", "discord"),
          enabled: boolean(),
          description: maybe(constantFrom("Alerts", "$ {x} ${y}"))
        }).map((fields) => Object.assign({ url: `https://93.184.216.34/${path}` }, plain(fields)))
      ).map((hooks): ReadonlyArray<object> => hooks.concat(mailed)),
      plugins: integer({ min: 1, max: 1_000 }).map((perMinute) => [{ name: "rate-limiter", values: { perMinute } }]),
      resilience: record({
        retry: record({ maxRetries: integer({ min: 1, max: 3 }) }),
        timeouts: record({ totalMs: integer({ min: 300_000, max: 900_000 }) }),
        modelLockout: record({ errorCodes: FastCheck.constant([429, 503]) })
      }),
      settings: FastCheck.constant({ metricsPublic: true, cache: { enabled: true } })
    }).chain((all) =>
      record({
        proxyAssignments: tuple(
          subarray(labels.map((of) => ({ scope: "key", of }))),
          subarray(named.map((of) => ({ scope: "connection", of }))),
          subarray([{ scope: "provider", of: "cellar" }, { scope: "global" }])
        ).map((scopes) => scopes.flat().map((scope) => Object.assign({ proxy: all.proxies[0]?.name ?? "" }, scope)))
      }).map((assignments) => Object.assign({ version: 1 }, all, assignments))
    )
  }
)

const secretsOf = (text: string): ReadonlyArray<readonly [string, string]> =>
  (/# Set these before[^:]*: (.*)/.exec(text)?.[1] ?? "").split(", ").map((name) => [name, `sk-${name}-0123456789`])

const started = Effect.gen(function* () {
  const environment = new Map([["OUTBOUND_SSRF_GUARD_ENABLED", "false"]])
  const gateway = yield* TestGateway.start({ environment })
  yield* Effect.promise(() => gateway.manage("POST", "/api/plugins/marketplace/rate-limiter/install", {}))
  return gateway
})

describe("a configuration of everything", () => {
  for (const [at, document] of FastCheck.sample(everything, { seed: 41, numRuns: 4 }).entries()) {
    it.scopedLive(`is the same on an empty gateway after an export and an apply (${at + 1})`, () =>
      Effect.gen(function* () {
        const home = mkdtempSync(join(root, "home-"))
        vi.stubEnv("HOME", home)
        vi.stubEnv("XDG_CONFIG_HOME", "")
        vi.stubEnv("DATA_DIR", join(home, ".gateway"))
        mkdirSync(join(home, ".gateway"))
        const [one, two] = [yield* started, yield* started]
        const run = (to: TestGateway.TestGateway, ...words: ReadonlyArray<string>) =>
          Effect.runPromise(typed([...words, "--url", to.url, "--gateway-key", TestGateway.adminKey], null))
        const file = (name: string, text: string): string => {
          const path = join(home, name)
          writeFileSync(path, text)
          return path
        }
        yield* Effect.promise(async () => {
          // What stands in a file for itself has its `${` doubled.
          const escaped = JSON.parse(JSON.stringify(document).replaceAll("${", () => "$${"))
          const first = await run(one, "apply", "-f", file("first.yaml", stringify(escaped)), "--yes")
          assert.strictEqual(first.code, 0, first.stderr)
          const exported = await run(one, "export")
          assert.strictEqual(exported.code, 0, exported.stderr)
          for (const [name, value] of secretsOf(exported.stdout)) vi.stubEnv(name, value)
          const path = file("export.yaml", exported.stdout)
          const own = await run(one, "apply", "-f", path, "--dry-run", "--json")
          assert.strictEqual(own.code, 0, `${own.stderr}\n${exported.stdout}`)
          assert.deepStrictEqual(
            JSON.parse(own.stdout).changes.filter(({ kind }: { readonly kind: string }) => kind !== "connection"),
            [],
            own.stderr
          )
          const second = await run(two, "apply", "-f", path, "--yes")
          assert.strictEqual(second.code, 0, second.stderr)
          const [before, after] = [await run(one, "export", "--json"), await run(two, "export", "--json")]
          assert.deepStrictEqual(JSON.parse(after.stdout), JSON.parse(before.stdout))
          const parts = Object.keys(JSON.parse(after.stdout))
          for (const part of Object.keys(document)) {
            const wanted = (document as Record<string, unknown>)[part]
            if (Array.isArray(wanted) && wanted.length === 0) continue
            assert.include(parts, part)
          }
          const again = await run(two, "apply", "-f", path, "--yes", "--json")
          assert.deepStrictEqual(JSON.parse(again.stdout).changes, [])
          // What it leaves out is said beside it and in it.
          for (const sentence of before.stderr.split("\n").filter((line) => line !== "")) {
            assert.match(sentence, /^Left out: /)
            assert.include(exported.stdout, `# ${sentence}`)
          }
          for (const what of ["API keys", "webhooks", "feature flags", "Plugins"]) assert.include(before.stderr, what)
        })
      })
    )
  }
})
