/** `gateway apply` and `export` against a running gateway. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Ajv } from "ajv"
import { parse } from "yaml"
import { afterAll, beforeAll, vi } from "vitest"
import * as TestGateway from "../support/TestGateway.ts"
import { typed } from "../unit/cli/inProcess.ts"

let root = ""
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "gateway-apply-"))
})
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(root, { recursive: true, force: true })
})

interface Setting {
  readonly gateway: TestGateway.TestGateway
  readonly other: TestGateway.TestGateway
  readonly ask: (
    ...words: ReadonlyArray<string>
  ) => Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>
  readonly at: (
    gateway: TestGateway.TestGateway,
    ...words: ReadonlyArray<string>
  ) => Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>
  readonly file: (text: string) => string
}

const scenario = (name: string, run: (setting: Setting) => Promise<void>): void => {
  it.scopedLive(name, () =>
    Effect.gen(function* () {
      const home = mkdtempSync(join(root, "home-"))
      vi.stubEnv("HOME", home)
      vi.stubEnv("XDG_CONFIG_HOME", "")
      vi.stubEnv("DATA_DIR", join(home, ".gateway"))
      mkdirSync(join(home, ".gateway"))
      vi.stubEnv("OPENAI_WORK_API_KEY", "sk-of-the-work-account-1234")
      vi.stubEnv("CELLAR_ONE_API_KEY", "key-of-the-cellar-5678")
      vi.stubEnv("CELLAR_X_CELLAR_TOKEN", "token-of-the-cellar")
      vi.stubEnv("MCP_PAGES_AUTHORIZATION", "secret-of-the-pages")
      const gateway = yield* TestGateway.start()
      const other = yield* TestGateway.start()
      const at: Setting["at"] = (to, ...words) =>
        Effect.runPromise(typed([...words, "--url", to.url, "--gateway-key", TestGateway.adminKey], null))
      let files = 0
      yield* Effect.promise(() =>
        run({
          gateway,
          other,
          at,
          ask: (...words) => at(gateway, ...words),
          file: (text) => {
            const path = join(home, `gateway-${++files}.yaml`)
            writeFileSync(path, text)
            return path
          }
        })
      )
    })
  )
}

const whole = `# mine
version: 1
nodes:
  - prefix: cellar
    name: Server in the cellar
    type: openai-compatible
    baseUrl: http://127.0.0.1:8080/v1
    headers:
      x-team: red
      x-cellar-token: \${CELLAR_X_CELLAR_TOKEN}
connections:
  - provider: openai
    name: work
    apiKey: \${OPENAI_WORK_API_KEY}
    models: [gpt-4o, gpt-4o-mini]
    priority: 2
  - provider: cellar
    name: one
    apiKey: \${CELLAR_ONE_API_KEY}
    models: [m]
combos:
  - name: best
    strategy: priority
    targets:
      - model: fast
      - model: openai/gpt-4o
  - name: fast
    strategy: weighted
    targets:
      - model: openai/gpt-4o-mini
        weight: 3
        connection: openai/work
      - model: cellar/m
        weight: 1
aliases:
  gpt: openai/gpt-4o
prices:
  cellar:
    m: { input: 0.1, output: 0.4, cached: 0.05 }
    org/paint: { perImage: { 1024x1024: 0.04 } }
keys:
  - name: laptop
    allowedModels: ["openai/*"]
    allowedConnections: [openai/work]
    maxRequestsPerDay: 100
mcpServers:
  - name: pages
    url: https://mcp.example.com/mcp
    headers:
      Authorization: Bearer \${MCP_PAGES_AUTHORIZATION}
    timeoutMs: 20000
    allowedTools: ["search*"]
    allowedKeys: [laptop]
  - name: shut
    url: https://shut.example.com/mcp
    allowedKeys: []
settings:
  metricsPublic: true
  cache:
    enabled: true
`

describe("gateway apply", () => {
  scenario("makes the gateway be as the file says, once", async ({ ask, file, gateway: { manage } }) => {
    const path = file(whole)
    const dry = await ask("apply", "-f", path, "--dry-run", "--json")
    assert.strictEqual(dry.code, 0, dry.stderr)
    assert.lengthOf(JSON.parse(dry.stdout).changes, 12)
    assert.lengthOf((await manage("GET", "/api/combos")).combos, 0)
    assert.strictEqual((await ask("apply", "-f", path)).code, 2, "without a terminal it must be agreed to")

    const done = await ask("apply", "-f", path, "--yes", "--json")
    assert.strictEqual(done.code, 0, done.stderr)
    const { changes, secrets } = JSON.parse(done.stdout)
    assert.deepStrictEqual(
      changes.map(({ kind, name }: { readonly kind: string; readonly name: string }) => `${kind} ${name}`),
      [
        "node cellar",
        "connection openai/work",
        "connection cellar/one",
        "combo fast",
        "combo best",
        "alias gpt",
        "price cellar/m",
        "price cellar/org/paint",
        "key laptop",
        "mcpServer pages",
        "mcpServer shut",
        "settings settings"
      ]
    )
    assert.match(secrets.laptop, /^gw_/)
    const { combos } = await manage("GET", "/api/combos")
    const { connections } = await manage("GET", "/api/providers")
    const work = connections.find(({ name }: { readonly name: string }) => name === "work")
    const fast = combos.find(({ name }: { readonly name: string }) => name === "fast")
    assert.strictEqual(fast.targets[0].connectionId, work.id)
    assert.isTrue((await manage("GET", "/api/settings")).cache.enabled)
    assert.deepStrictEqual(await manage("GET", "/api/pricing"), {
      cellar: {
        m: { input: 0.1, output: 0.4, cached: 0.05 },
        "org/paint": { input: 0, output: 0, perImage: { "1024x1024": 0.04 } }
      }
    })
    const { keys } = await manage("GET", "/api/keys")
    assert.deepStrictEqual(keys.find(({ name }: { readonly name: string }) => name === "laptop").allowedConnections, [
      work.id
    ])
    const { servers } = await manage("GET", "/api/mcp/servers")
    assert.deepStrictEqual(
      servers.map((each: { readonly allowedKeys: unknown; readonly headerNames: unknown }) => [
        each.allowedKeys,
        each.headerNames
      ]),
      [
        [[keys.find(({ name }: { readonly name: string }) => name === "laptop").id], ["Authorization"]],
        [[], []]
      ]
    )

    const again = await ask("apply", "-f", path, "--yes", "--json")
    assert.deepStrictEqual(JSON.parse(again.stdout), { dryRun: false, changes: [], secrets: {} })
  })

  scenario(
    "changes what differs, and removes with --prune only what it has made",
    async ({ ask, file, gateway: { manage } }) => {
      await manage("POST", "/api/combos", { name: "by hand", strategy: "priority", targets: [{ model: "openai/x" }] })
      assert.strictEqual((await ask("apply", "-f", file(whole), "--yes")).code, 0)
      const less = whole
        .replace("priority: 2", "priority: 5")
        .replace("aliases:\n  gpt: openai/gpt-4o\n", "")
        .replace(
          "  - name: best\n    strategy: priority\n    targets:\n      - model: fast\n      - model: openai/gpt-4o\n",
          ""
        )
      const changed = await ask("apply", "-f", file(less), "--yes", "--json")
      assert.deepStrictEqual(JSON.parse(changed.stdout).changes, [
        { action: "update", kind: "connection", name: "openai/work", changes: [{ field: "priority", from: 2, to: 5 }] }
      ])
      const pruned = await ask("apply", "-f", file(less), "--yes", "--prune", "--json")
      assert.deepStrictEqual(
        JSON.parse(pruned.stdout).changes.map(
          ({ action, name }: { readonly action: string; readonly name: string }) => `${action} ${name}`
        ),
        ["remove gpt", "remove best"]
      )
      const { combos } = await manage("GET", "/api/combos")
      assert.sameMembers(
        combos.map(({ name }: { readonly name: string }) => name),
        ["by hand", "fast"]
      )
    }
  )

  scenario("exports what makes another gateway the same", async ({ ask, at, file, gateway, other }) => {
    assert.strictEqual((await ask("apply", "-f", file(whole), "--yes")).code, 0)
    const first = await at(gateway, "export")
    assert.strictEqual(first.code, 0, first.stderr)
    for (const secret of ["sk-of-the-work", "key-of-the-cellar", "token-of", "secret-of-the-pages"])
      assert.notInclude(first.stdout, secret)
    assert.include(first.stdout, "${OPENAI_WORK_API_KEY}")
    const applied = await at(other, "apply", "-f", file(first.stdout), "--yes")
    assert.strictEqual(applied.code, 0, applied.stderr)
    const [one, two] = [await at(gateway, "export", "--json"), await at(other, "export", "--json")]
    assert.deepStrictEqual(JSON.parse(two.stdout), JSON.parse(one.stdout))
    const again = await at(other, "apply", "-f", file(first.stdout), "--yes", "--json")
    assert.deepStrictEqual(JSON.parse(again.stdout).changes, [])
  })

  scenario(
    "applies the gateway's own export without a secret, and keeps each one",
    async ({ ask, at, file, gateway, other }) => {
      assert.strictEqual((await ask("apply", "-f", file(whole), "--yes")).code, 0)
      const { stdout } = await ask("export")
      for (const name of [
        "OPENAI_WORK_API_KEY",
        "CELLAR_ONE_API_KEY",
        "CELLAR_X_CELLAR_TOKEN",
        "MCP_PAGES_AUTHORIZATION"
      ]) {
        vi.stubEnv(name, name.startsWith("MCP") ? "" : undefined)
      }
      const before = (await gateway.manage("GET", "/api/providers")).connections
      const same = await ask("apply", "-f", file(stdout), "--yes", "--json")
      assert.strictEqual(same.code, 0, same.stderr)
      assert.deepStrictEqual(JSON.parse(same.stdout).changes, [])
      assert.match(
        same.stderr,
        /connection 'openai\/work' keeps its secrets\. Not set in the environment: OPENAI_WORK_API_KEY/
      )
      const more = await ask("apply", "-f", file(stdout.replace("priority: 2", "priority: 9")), "--yes", "--json")
      assert.strictEqual(more.code, 0, more.stderr)
      assert.lengthOf(JSON.parse(more.stdout).changes, 1)
      const after = (await gateway.manage("GET", "/api/providers")).connections
      const keys = (all: ReadonlyArray<{ readonly apiKey: string | null }>) => all.map(({ apiKey }) => apiKey)
      assert.deepStrictEqual(keys(after), keys(before))
      // Where the connections are new there is nothing to keep, and nothing is begun.
      const fresh = await at(other, "apply", "-f", file(stdout), "--yes")
      assert.strictEqual(fresh.code, 2)
      assert.match(fresh.stderr, /connection 'openai\/work' is new\. Not set in the environment: OPENAI_WORK_API_KEY/)
      assert.match(fresh.stderr, /node 'cellar' is new\. [^\n]*CELLAR_X_CELLAR_TOKEN/)
      assert.lengthOf((await other.manage("GET", "/api/provider-nodes")).nodes, 0)
      assert.strictEqual((await at(other, "apply", "-f", file(stdout), "--dry-run")).code, 2)
    }
  )

  scenario("changes and removes prices and MCP servers", async ({ ask, file, gateway: { manage } }) => {
    assert.strictEqual((await ask("apply", "-f", file(whole), "--yes")).code, 0)
    await manage("PATCH", "/api/pricing", { openai: { "gpt-4o": { input: 2, output: 8 } } })
    const other = whole
      .replace("cached: 0.05", "cached: 0.02")
      .replace("https://mcp.example.com/mcp", "https://mcp.example.org/mcp")
      .replace("    org/paint: { perImage: { 1024x1024: 0.04 } }\n", "")
      .replace("  - name: shut\n    url: https://shut.example.com/mcp\n    allowedKeys: []\n", "")
    const done = await ask("apply", "-f", file(other), "--yes", "--prune", "--json")
    assert.strictEqual(done.code, 0, done.stderr)
    assert.deepStrictEqual(
      JSON.parse(done.stdout).changes.map(
        ({ action, name }: { readonly action: string; readonly name: string }) => `${action} ${name}`
      ),
      ["update cellar/m", "update pages", "remove shut", "remove cellar/org/paint"]
    )
    // A price is one value: what a change leaves out is gone.
    assert.deepStrictEqual(await manage("GET", "/api/pricing"), {
      cellar: { m: { input: 0.1, output: 0.4, cached: 0.02 } },
      openai: { "gpt-4o": { input: 2, output: 8 } }
    })
    // Its headers went along to the new address.
    const { servers } = await manage("GET", "/api/mcp/servers")
    assert.deepStrictEqual(
      [servers.length, servers[0].url, servers[0].headerNames],
      [1, "https://mcp.example.org/mcp", ["Authorization"]]
    )
    const again = await ask("apply", "-f", file(other), "--yes", "--prune", "--json")
    assert.deepStrictEqual(JSON.parse(again.stdout).changes, [])
    const keyless = await ask(
      "apply",
      "-f",
      file("mcpServers:\n  - name: x\n    url: https://x.example.com\n    allowedKeys: [none]\n"),
      "--yes"
    )
    assert.match(keyless.stderr, /API key 'none', which is not there/)
    const lost = await ask("apply", "-f", file("keys:\n  - name: y\n    allowedConnections: [openai/none]\n"), "--yes")
    assert.match(lost.stderr, /key 'y': It names the connection 'openai\/none', which is not there/)
    const program = file("mcpServers:\n  - name: x\n    command: /bin/true\n")
    assert.match((await ask("apply", "-f", program, "--yes")).stderr, /mcpServers\.0/)
    const priced = file("prices:\n  a/b:\n    c: { input: 1, output: 1 }\n  d:\n    e: { input: 1 }\n")
    const refused = await ask("apply", "-f", priced, "--yes")
    assert.strictEqual(refused.code, 2)
    assert.match(refused.stderr, /prices\.d\.e/)
  })

  scenario("refuses broken files before it changes anything", async ({ ask, file, gateway: { manage } }) => {
    const cases: ReadonlyArray<readonly [text: string, what: RegExp]> = [
      ["a: [", /is no YAML/],
      ["- a\n", /no mapping/],
      ["connections:\n  - provider: openai\n    apiKey: ${NOT_SET}\n", /Not set in the environment: NOT_SET/],
      ["combos:\n  - name: a\n    strategy: by-magic\n", /combos\.0\.strategy/],
      ["nonsense: 1\n", /nonsense/],
      ["combos:\n  - name: a\n  - name: a\n", /stands twice/],
      ["aliases: [1]\n", /aliases/],
      [`aliases:\n  a: ${"x".repeat(5 * 1_048_576)}\n`, /is larger than/],
      [
        `a: &a [x,x,x,x,x,x,x,x,x]\n${[..."bcdefghij"].map((name, at) => `${name}: &${name} [${Array(9).fill(`*${"abcdefghi"[at]}`).join(",")}]`).join("\n")}\n`,
        /aliases/
      ]
    ]
    for (const [text, what] of cases) {
      const { code, stderr } = await ask("apply", "-f", file(text), "--yes")
      assert.strictEqual(code, 2, String(what))
      assert.match(stderr, what)
      assert.isBelow(stderr.length, 3_000)
    }
    assert.strictEqual((await ask("apply", "-f", join(root, "none.yaml"), "--yes")).code, 2)
    assert.lengthOf((await manage("GET", "/api/combos")).combos, 0)
    for (const apiKey of ["sk-one-of-two-accounts", "sk-the-other-account"]) {
      await manage("POST", "/api/providers", { provider: "openai", name: "twice", apiKey })
    }
    const unclear = await ask("apply", "-f", file("connections:\n  - provider: openai\n    name: twice\n"), "--yes")
    assert.strictEqual(unclear.code, 2)
    assert.match(unclear.stderr, /connection 'openai\/twice' more than once/)
    // What only the gateway can know is said before anything is done.
    const half = await ask(
      "apply",
      "-f",
      file(
        "aliases:\n  one: openai/x\ncombos:\n  - name: a\n    targets:\n      - model: openai/x\n        connection: openai/none\n"
      ),
      "--yes"
    )
    assert.strictEqual(half.code, 2)
    assert.match(half.stderr, /combo 'a': .*openai\/none.*not there/s)
    assert.deepStrictEqual((await manage("GET", "/api/models/alias")).aliases, [])
  })

  scenario("prints the file's schema for editors, which any editor may load", async ({ ask, gateway: { url } }) => {
    const { code, stdout } = await ask("apply", "--schema")
    assert.strictEqual(code, 0)
    const answer = await fetch(`${url}/gateway.schema.json`)
    assert.strictEqual(answer.status, 200)
    assert.strictEqual(answer.headers.get("content-type"), "application/json")
    assert.strictEqual((await answer.text()).trimEnd(), stdout.trimEnd())
    const fits = new Ajv({ strict: false }).compile(JSON.parse(stdout))
    assert.isTrue(fits(parse(whole)), JSON.stringify(fits.errors))
    assert.isFalse(fits(parse("combos: [{ name: a, strategy: by-magic }]")))
    const { properties } = JSON.parse(stdout)
    assert.includeMembers(Object.keys(properties ?? JSON.parse(stdout).$defs.GatewayConfiguration.properties), [
      "combos",
      "connections",
      "settings"
    ])
  })
})
