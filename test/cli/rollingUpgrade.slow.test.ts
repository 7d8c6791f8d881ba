/**
 * A rolling upgrade of two gateways on one database: this source beside itself with a higher version and one more migration. Requests go on all the while, each
 * has its row, and what either changes the other has.
 */
import { execFile } from "node:child_process"
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { isPostgresThere, noPostgres } from "../support/postgres/Server.ts"
import { builtFolder } from "./built.ts"
import { emptyDatabase, nodeVariables } from "./postgres.ts"
import { answered, ask, authorization, costUsd, manage, provider, until } from "./processes.ts"
import { program, type Serving } from "./support.ts"

const project = fileURLToPath(new URL("../..", import.meta.url))
const folder = join(dirname(dirname(builtFolder)), `next-${process.pid}`)
const nextVersion = "99.0.0"

/** Builds a copy of this source whose list of migrations has one more. */
const buildNext = async (): Promise<void> => {
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync(project)) {
    if (name.startsWith(".") || ["dist", "src", "bin", "package.json"].includes(name)) continue
    symlinkSync(join(project, name), join(folder, name))
  }
  for (const name of ["src", "bin"]) cpSync(join(project, name), join(folder, name), { recursive: true })
  const manifest = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as Record<string, unknown>
  writeFileSync(join(folder, "package.json"), JSON.stringify({ ...manifest, version: nextVersion }, null, 2))
  const migrations = join(folder, "src/store/migrations")
  const last = readdirSync(migrations)
    .filter((name) => /^\d{4}_/.test(name))
    .toSorted()
    .at(-1)
  const number = String(Number(last?.slice(0, 4)) + 1).padStart(4, "0")
  writeFileSync(
    join(migrations, `${number}_tomorrow.ts`),
    `import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
export default Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe("ALTER TABLE usage_log ADD COLUMN tomorrow TEXT"))
`
  )
  await promisify(execFile)(process.execPath, [join(folder, "bin/build.mjs"), "--quick", "--out", join(folder, "dist")])
}

const there = isPostgresThere()
const { dataDir, run, serve } = program()
const next = program(join(folder, "dist"))
const upstream = provider()

interface Node {
  readonly version: string
  readonly state: string
}
const nodesOf = async (server: Serving) =>
  ((await manage(server, "GET", "/api/cluster")) as { readonly nodes: ReadonlyArray<Node> }).nodes
const versionsOf = async (server: Serving) => (await nodesOf(server)).map(({ version }) => version).toSorted()

/** Asks the gateways in turn until it is told to stop; a gateway that stops is taken out first, as what stands before them does. */
const traffic = (secret: string) => {
  const behind = new Set<Serving>()
  const statuses: Array<number> = []
  const state = { isOver: false }
  const running = (async () => {
    for (let n = 0; !state.isOver; n += 1) {
      const server = [...behind][n % behind.size]
      if (server === undefined) {
        await pause(5)
        continue
      }
      const response = await fetch(`${server.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "openai/gpt-4o", max_tokens: 20, messages: [{ role: "user", content: "hi" }] })
      })
      await response.text()
      statuses.push(response.status)
    }
  })()
  return {
    behind,
    statuses,
    /** Until so many more were answered. */
    more: (count: number) => {
      const wanted = statuses.length + count
      return until(async () => statuses.length >= wanted, "requests go on")
    },
    end: async () => {
      state.isOver = true
      await running
    }
  }
}

describe.skipIf(!there)(`a rolling upgrade of two gateways${there ? "" : noPostgres}`, () => {
  beforeAll(buildNext, 300_000)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it("keeps every request and its row, with one configuration and one budget over both versions", async () => {
    const database = await emptyDatabase()
    const environment = nodeVariables(database)
    const [first, second] = [dataDir(), dataDir()]
    const one = await serve({ ...environment, DATA_DIR: first })
    const two = await serve({ ...environment, DATA_DIR: second })
    await manage(one, "POST", "/api/providers", upstream.connection())
    const { key, secret } = (await manage(one, "POST", "/api/keys", { name: "ci" })) as {
      readonly key: { readonly id: string }
      readonly secret: string
    }
    const known = async (server: Serving, key: string): Promise<boolean> =>
      (await fetch(`${server.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status === 200
    await until(() => known(two, secret), "the other has the key")
    const stream = traffic(secret)
    stream.behind.add(one).add(two)
    await stream.more(10)

    // The first becomes one of the next version, which brings the schema further under the other.
    stream.behind.delete(one)
    assert.strictEqual(await one.stop("SIGTERM"), 0)
    const newer = await next.serve({ ...environment, DATA_DIR: first })
    stream.behind.add(newer)
    await stream.more(20)
    const [oldVersion = ""] = await versionsOf(two)
    assert.deepStrictEqual(await versionsOf(newer), [oldVersion, nextVersion])

    // Whichever changes something, the other has it.
    for (const [here, other, name] of [
      [newer, two, "of the new one"],
      [two, newer, "of the old one"]
    ] as const) {
      const made = (await manage(here, "POST", "/api/keys", { name })) as { readonly secret: string }
      await until(() => known(other, made.secret), `a key ${name}`)
    }

    // A budget for ten calls lets ten through at most, whichever is asked, and nearly as many.
    const team = (await manage(newer, "POST", "/api/keys", { name: "team" })) as {
      readonly key: { readonly id: string }
      readonly secret: string
    }
    await manage(newer, "POST", "/api/usage/budget", { apiKeyId: team.key.id, dailyLimitUsd: 10 * costUsd })
    await until(async () => {
      const found = await manage(two, "GET", `/api/usage/budget?apiKeyId=${team.key.id}`)
      return (found as { readonly dailyLimitUsd: number | null }).dailyLimitUsd !== null
    }, "the old one has the budget")
    let passed = 0
    for (let refused = 0; refused < 6;) {
      const answers = await Promise.all([newer, two].map((server) => ask(server, team.secret)))
      passed += answers.filter((status) => status === 200).length
      refused = answers.includes(200) ? 0 : refused + 1
    }
    assert.isAtMost(passed, 10)
    assert.isAtLeast(passed, 6)

    // An older one does not start on the newer schema, and says so. It changes nothing for those that run.
    const late = await run(["serve", "--port", "0"], { ...environment, DATA_DIR: dataDir() })
    assert.notStrictEqual(late.code, 0)
    assert.match(late.stderr, /but this gateway knows versions up to \d+: upgrade the gateway/)
    await stream.more(10)

    stream.behind.delete(two)
    assert.strictEqual(await two.stop("SIGTERM"), 0)
    const last = await next.serve({ ...environment, DATA_DIR: second })
    stream.behind.add(last)
    await stream.more(20)
    await stream.end()
    assert.deepStrictEqual(await versionsOf(last), [nextVersion, nextVersion])

    assert.deepStrictEqual([...new Set(stream.statuses)], [200])
    await until(async () => {
      const rows = await database.rows(`SELECT id FROM usage_log WHERE api_key_id = '${key.id}'`)
      return rows.length === stream.statuses.length
    }, "each request has its row")
    const { keys } = (await (await fetch(`${last.url}/api/keys`, { headers: { authorization } })).json()) as {
      readonly keys: ReadonlyArray<{ readonly name: string }>
    }
    assert.includeMembers(
      keys.map(({ name }) => name),
      ["ci", "of the new one", "of the old one"]
    )
    await newer.stop("SIGTERM")
    await last.stop("SIGTERM")
  }, 300_000)

  it("is one step of a team's way: a file of SQLite, three gateways on Postgres, the next version, and back", async () => {
    const database = await emptyDatabase()
    const folders = [dataDir(), dataDir(), dataDir()]
    const [home = ""] = folders
    const { GATEWAY_DATABASE_URL: _, ...overFile } = { ...nodeVariables(database), DATA_DIR: home }
    const environment = nodeVariables(database)
    const alone = await serve(overFile)
    await manage(alone, "POST", "/api/providers", upstream.connection())
    const { key, secret } = (await manage(alone, "POST", "/api/keys", { name: "team" })) as {
      readonly key: { readonly id: string }
      readonly secret: string
    }
    await manage(alone, "POST", "/api/usage/budget", { apiKeyId: key.id, dailyLimitUsd: 1_000 * costUsd })
    let calls = 0
    const callEach = async (...servers: ReadonlyArray<Serving>): Promise<void> => {
      for (const server of servers) {
        assert.strictEqual(await ask(server, secret), 200)
        calls += 1
      }
    }
    await callEach(...Array.from({ length: 5 }, () => alone))
    assert.strictEqual(await alone.stop("SIGTERM"), 0)

    const there = await run(["store", "migrate", "--from", "sqlite", "--to", "postgres"], {
      ...environment,
      DATA_DIR: home
    })
    assert.strictEqual(there.code, 0, there.stderr)
    const nodes: Array<Serving> = []
    for (const folder of folders) nodes.push(await serve({ ...environment, DATA_DIR: folder }))
    await callEach(...nodes, ...nodes)

    // One after the other becomes the next version; the others serve meanwhile.
    for (const [at, folder] of folders.entries()) {
      assert.strictEqual(await nodes[at]?.stop("SIGTERM"), 0)
      await callEach(...nodes.filter((_node, other) => other !== at))
      nodes[at] = await next.serve({ ...environment, DATA_DIR: folder })
      await callEach(...nodes)
    }
    const [one] = nodes
    if (one === undefined) return
    assert.deepStrictEqual(await versionsOf(one), [nextVersion, nextVersion, nextVersion])
    for (const server of nodes) assert.strictEqual(await server.stop("SIGTERM"), 0)

    for (const ending of ["", "-wal", "-shm"]) rmSync(join(home, `gateway.sqlite${ending}`), { force: true })
    const back = await next.run(["store", "migrate", "--from", "postgres", "--to", "sqlite"], {
      ...environment,
      DATA_DIR: home
    })
    assert.strictEqual(back.code, 0, back.stderr)
    const last = await next.serve(overFile)
    await callEach(last)
    await until(async () => (await answered(last)) === calls, "every request of the whole way has its row, once")
    const { spentUsd } = (await manage(last, "GET", `/api/usage/budget?apiKeyId=${key.id}`)) as {
      readonly spentUsd: number
    }
    assert.closeTo(spentUsd, calls * costUsd, 1e-9)
    await last.stop("SIGTERM")
  }, 300_000)
})
