/** What gateways on one database know of accounts, as processes: one learns it, all heed it, whatever becomes of the database or of the one that has learned it. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { once } from "node:events"
import { createServer } from "node:http"
import { isPostgresThere, noPostgres } from "../support/postgres/Server.ts"
import { adminKey, ask, manage, until } from "./processes.ts"
import { isValkeyThere, noValkey, valkeyServer } from "../support/valkey/Server.ts"
import { emptyDatabase, nodeVariables, wayTo } from "./postgres.ts"
import { program, type Serving } from "./support.ts"

const { dataDir, run, serve } = program()

const names = ["first", "second", "spare"] as const
type Name = (typeof names)[number]
const secretOf = (name: Name): string => `sk-${name}-abcdefghijklmnopqrst`

/** A provider whose accounts can be limited: those answer 429 and say that it is for ten minutes. */
const limitedProvider = () => {
  const limited = new Set<string>()
  const calls = new Map<string, number>()
  const server = createServer((request, response) => {
    request.resume()
    request.on("end", () => {
      const key = request.headers.authorization?.replace("Bearer ", "") ?? ""
      response.setHeader("content-type", "application/json")
      if (request.method !== "POST") {
        response.end(JSON.stringify({ object: "list", data: [{ id: "gpt-4o", object: "model" }] }))
        return
      }
      calls.set(key, (calls.get(key) ?? 0) + 1)
      if (limited.has(key)) {
        response.writeHead(429, { "retry-after": "600" })
        response.end(
          JSON.stringify({ error: { message: "Rate limit reached", type: "requests", code: "rate_limit_exceeded" } })
        )
        return
      }
      const message = { role: "assistant", content: "hi" }
      const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 }
      const choices = [{ index: 0, message, finish_reason: "stop" }]
      response.end(JSON.stringify({ id: "c", object: "chat.completion", model: "gpt-4o", choices, usage }))
    })
  })
  let port = 0
  beforeAll(async () => {
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const address = server.address()
    port = typeof address === "object" && address !== null ? address.port : 0
  })
  afterAll(() => void server.close())
  return {
    limit: (name: Name) => limited.add(secretOf(name)),
    limitNone: () => limited.clear(),
    calls: (name: Name) => calls.get(secretOf(name)) ?? 0,
    connection: (name: Name, priority: number) => ({
      provider: "openai",
      name,
      priority,
      apiKey: secretOf(name),
      baseUrl: `http://127.0.0.1:${port}/v1`,
      models: ["gpt-4o"]
    })
  }
}

const upstream = limitedProvider()

interface Known {
  readonly name: string
  readonly rateLimitedUntil: string | null
}

const isLimitedAt = async (server: Serving, name: Name): Promise<boolean> => {
  const { connections } = (await manage(server, "GET", "/api/providers")) as {
    readonly connections: ReadonlyArray<Known>
  }
  return connections.some((each) => each.name === name && each.rateLimitedUntil !== null)
}

/** Asks until this account has been asked: accounts take turns. */
const untilAsked = async (server: Serving, name: Name): Promise<void> => {
  const before = upstream.calls(name)
  await until(async () => {
    assert.strictEqual(await ask(server), 200)
    return upstream.calls(name) > before
  }, `${name} is asked`)
}

const askOften = async (server: Serving): Promise<void> => {
  for (let n = 0; n < 12; n += 1) assert.strictEqual(await ask(server), 200)
}

const there = isPostgresThere()

describe.skipIf(!there)(`the health of accounts over two gateways${there ? "" : noPostgres}`, () => {
  it("is known to all, also over a database that was away, and over the end of one", async () => {
    const database = await emptyDatabase()
    const way = await wayTo(database.url)
    const shared = {
      GATEWAY_DATABASE_URL: way.url,
      GATEWAY_ADMIN_KEY: adminKey,
      GATEWAY_ENCRYPTION_KEY: "one-key-of-all-nodes-of-more-than-32-characters",
      GATEWAY_DISABLE_BACKGROUND_SERVICES: "true"
    }
    const folder = dataDir()
    const one = await serve({ ...shared, DATA_DIR: folder })
    const two = await serve({ ...shared, DATA_DIR: dataDir() })
    for (const [at, name] of names.entries()) {
      await manage(one, "POST", "/api/providers", upstream.connection(name, at + 1))
    }
    await until(async () => (await ask(two)) === 200, "the other has the connections")

    // One meets the limit of an account, and the other does not ask it.
    upstream.limit("first")
    await untilAsked(one, "first")
    await until(() => isLimitedAt(two, "first"), "the other knows of it")
    const first = upstream.calls("first")
    await askOften(two)
    await askOften(one)
    assert.strictEqual(upstream.calls("first"), first)

    // Without the database each has its own view; what was learned meanwhile is told when it is back.
    await way.cut()
    upstream.limit("second")
    await untilAsked(one, "second")
    assert.isFalse(await isLimitedAt(two, "second"))
    await way.mend()
    await until(() => isLimitedAt(two, "second"), "it is told when the database is back")
    const second = upstream.calls("second")
    await askOften(two)
    assert.strictEqual(upstream.calls("second"), second)

    // One is killed: the other keeps what it has heard, and it has it again when it is back.
    await one.stop("SIGKILL")
    await askOften(two)
    const again = await serve({ ...shared, DATA_DIR: folder })
    await askOften(again)
    assert.strictEqual(upstream.calls("first"), first)
    assert.strictEqual(upstream.calls("second"), second)
  }, 300_000)
})

interface Health {
  readonly status: string
  readonly valkey: { readonly address: string; readonly problem: string | null } | null
}

const healthOf = async (server: Serving): Promise<Health> =>
  (await manage(server, "GET", "/api/monitoring/health")) as Health

const mayValkey = there && isValkeyThere

describe.skipIf(!mayValkey)(
  `the health of accounts over Valkey${there ? (mayValkey ? "" : noValkey) : noPostgres}`,
  () => {
    it("is known to all, also while it is lost, which is told, and in its turn when it is back", async () => {
      upstream.limitNone()
      const password = "a-password-of-valkey"
      const valkey = await valkeyServer(password)
      const database = await emptyDatabase()
      const environment = { ...nodeVariables(database), GATEWAY_VALKEY_URL: valkey.url }
      const folder = dataDir()
      const one = await serve({ ...environment, DATA_DIR: folder })
      const two = await serve({ ...environment, DATA_DIR: dataDir() })
      const logged: Array<string> = []
      for (const { process: child } of [one, two])
        child.stderr?.on("data", (text: Buffer) => logged.push(text.toString()))
      for (const [at, name] of names.entries()) {
        await manage(one, "POST", "/api/providers", upstream.connection(name, at + 1))
      }
      await until(async () => (await ask(two)) === 200, "the other has the connections")
      const address = `127.0.0.1:${valkey.port}`
      for (const server of [one, two]) {
        await until(async () => (await healthOf(server)).status === "ok", "it is well")
        assert.deepStrictEqual((await healthOf(server)).valkey, { address, problem: null })
      }
      // Whatever was told before both were there.
      await database.rows("DELETE FROM cluster_told")
      upstream.limit("first")
      await untilAsked(one, "first")
      await until(() => isLimitedAt(two, "first"), "the other knows of it")
      assert.lengthOf(await database.rows("SELECT node FROM cluster_told"), 0)

      // Lost: both say so, requests go on, and what is learned goes over the database.
      await valkey.kill()
      for (const server of [one, two]) {
        await until(async () => (await healthOf(server)).valkey?.problem !== null, "it says that Valkey is lost")
        assert.strictEqual((await healthOf(server)).status, "degraded")
        await askOften(server)
      }
      upstream.limit("second")
      await untilAsked(two, "second")
      await until(() => isLimitedAt(one, "second"), "the other knows of it over the database")
      assert.isAbove((await database.rows("SELECT node FROM cluster_told")).length, 0)
      const status = await run(["status"], { DATA_DIR: folder })
      assert.match(status.stdout, /Valkey +cannot be used at 127\.0\.0\.1/)
      const lost = await run(["doctor", "--json"], { ...environment, DATA_DIR: folder })
      assert.match(lost.stdout, /ECONNREFUSED/)

      // Back, with nothing of what it had.
      await valkey.start()
      for (const server of [one, two]) {
        await until(async () => (await healthOf(server)).status === "ok", "it is well again")
      }
      const found = await run(["doctor", "--json"], { ...environment, DATA_DIR: folder })
      assert.match(found.stdout, /(?:Redis|Valkey) [\d.]+ at 127\.0\.0\.1:\d+, a round trip takes/)
      const wrong = await run(["doctor", "--json"], {
        ...environment,
        DATA_DIR: folder,
        GATEWAY_VALKEY_URL: valkey.url.replace(password, "another-password")
      })
      assert.include(wrong.stdout, "it refuses the user and password of GATEWAY_VALKEY_URL")
      const shown = await run(["env", "show"], { ...environment, DATA_DIR: folder })
      assert.include(shown.stdout, "GATEWAY_VALKEY_URL")
      assert.strictEqual(await one.stop("SIGTERM"), 0)
      assert.strictEqual(await two.stop("SIGTERM"), 0)
      assert.include(logged.join(""), "cannot be used")
      for (const text of [...logged, status.stdout, lost.stdout, found.stdout, wrong.stdout, shown.stdout]) {
        assert.notInclude(text, password)
        assert.notInclude(text, "another-password")
      }
    }, 300_000)

    it("is over the database where the address has no database, which is told, and an address that is none is refused", async () => {
      const alone = await serve({
        DATA_DIR: dataDir(),
        GATEWAY_ADMIN_KEY: adminKey,
        GATEWAY_VALKEY_URL: "redis://127.0.0.1:1"
      })
      assert.isNull((await healthOf(alone)).valkey)
      const doctor = await run(["doctor", "--json"], { DATA_DIR: dataDir(), GATEWAY_VALKEY_URL: "redis://127.0.0.1:1" })
      assert.include(doctor.stdout, "is not used without GATEWAY_DATABASE_URL")
      for (const url of ["http://127.0.0.1:6379", "redis://127.0.0.1:6379/other", "its-password@host"]) {
        const refused = await run(["serve", "--port", "0"], { DATA_DIR: dataDir(), GATEWAY_VALKEY_URL: url })
        assert.notStrictEqual(refused.code, 0)
        assert.include(refused.stderr, "GATEWAY_VALKEY_URL must be the address of a server of Valkey or Redis")
        assert.notInclude(refused.stderr, url)
      }
    }, 120_000)
  }
)
