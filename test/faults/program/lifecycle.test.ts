/** Starting and stopping the whole program: what can be wrong at the start, a gentle stop, and a stop that is not. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import Database from "better-sqlite3"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as Program from "../../support/Program.ts"
import { isOverPostgres, ofSqlite } from "../../support/postgres/Programs.ts"

const adminKey = "admin-key-of-the-program-tests"
const ask = { model: "up/m", messages: [{ role: "user", content: "Hi" }] }

const manage = async (program: Program.Program, method: string, path: string, body?: unknown): Promise<Response> =>
  fetch(program.url + path, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })

const connect = async (program: Program.Program, upstream: Fake.FakeUpstream): Promise<void> => {
  await manage(program, "POST", "/api/provider-nodes", {
    name: "up",
    prefix: "up",
    type: "openai-compatible",
    baseUrl: `${upstream.origin}/v1`
  })
  await manage(program, "POST", "/api/providers", { provider: "up", apiKey: "k-0123456789", models: ["m"] })
}

const post = (program: Program.Program, body: unknown): Promise<Response> =>
  fetch(`${program.url}/v1/chat/completions`, { method: "POST", body: JSON.stringify(body) })

/** The program must end with one sentence on stderr, nothing on stdout, and a code of its own. */
const refuses = (end: Program.Ended, says: RegExp): void => {
  assert.notStrictEqual(end.code, 0)
  assert.strictEqual(end.stdout, "")
  assert.match(end.stderr, says)
  assert.notMatch(end.stderr, /\n\s+at /, "a stack trace is not for people")
}

const serve = ["serve", "--port", "0", "--no-open"]

describe("starting", () => {
  it.scopedLive("a second gateway on the same data folder is refused", () =>
    Effect.gen(function* () {
      const program = yield* Program.start()
      refuses(yield* Program.run(serve, program.dataDir), /gateway/i)
    })
  )

  it.scopedLive("a port in use is named, with the way out", () =>
    Effect.gen(function* () {
      const program = yield* Program.start()
      const { port } = new URL(program.url)
      const end = yield* Program.run(["serve", "--port", port], yield* Program.dataFolder)
      refuses(end, new RegExp(`${port}.*--port`))
    })
  )

  it.scopedLive.skipIf(isOverPostgres)(`a corrupt database is left as it is${ofSqlite}`, () =>
    Effect.gen(function* () {
      const folder = yield* Program.dataFolder
      const file = join(folder, "gateway.sqlite")
      writeFileSync(file, "this is no database, and it is long enough to be looked at ".repeat(100))
      const before = readFileSync(file)
      refuses(yield* Program.run(serve, folder), /gateway\.sqlite/)
      assert.isTrue(readFileSync(file).equals(before))
    })
  )

  it.scopedLive.skipIf(isOverPostgres)(`a newer database is left as it is${ofSqlite}`, () =>
    Effect.gen(function* () {
      const first = yield* Program.start()
      yield* first.stop
      const folder = first.dataDir
      const file = join(folder, "gateway.sqlite")
      const database = new Database(file)
      database.pragma("user_version = 9999")
      database.close()
      const before = readFileSync(file)
      refuses(yield* Program.run(serve, folder), /9999/)
      assert.isTrue(readFileSync(file).equals(before))
    })
  )

  it.scopedLive("a data folder that cannot be written is named", () =>
    Effect.gen(function* () {
      const folder = yield* Program.dataFolder
      const file = join(folder, "a-file")
      writeFileSync(file, "")
      refuses(yield* Program.run(serve, join(file, "data")), /a-file/)
    })
  )

  it.scopedLive("a wrong master key is told at the start", () =>
    Effect.gen(function* () {
      const first = yield* Program.start({ GATEWAY_ENCRYPTION_KEY: "the first key of two" })
      yield* first.stop
      refuses(
        yield* Program.run(serve, first.dataDir, { GATEWAY_ENCRYPTION_KEY: "the second key of two" }),
        /GATEWAY_ENCRYPTION_KEY.*reset-encrypted-columns/
      )
    })
  )

  it.scopedLive("an open door is refused beyond this machine", () =>
    Effect.gen(function* () {
      const folder = yield* Program.dataFolder
      refuses(yield* Program.run([...serve, "--host", "0.0.0.0"], folder), /REQUIRE_API_KEY.*--allow-keyless/)
    })
  )

  it.scopedLive("a wrong variable is named", () =>
    Effect.gen(function* () {
      const folder = join(yield* Program.dataFolder, "data")
      mkdirSync(folder)
      refuses(yield* Program.run(["serve"], folder, { PORT: "ninety" }), /PORT/)
    })
  )
})

describe("stopping", () => {
  it.scopedLive("lets a running stream come to its end, and ends with 0", () =>
    Effect.gen(function* () {
      const upstream = yield* Fake.start
      const gate = Fake.makeLatch()
      const [role = "", word = "", ...rest] = Fake.chatStream(["before", " and after"])
      upstream.always(Fake.sse([role, word, gate, ...rest]))
      const program = yield* Program.start({ GATEWAY_ADMIN_KEY: adminKey })
      const end = yield* Effect.promise(async () => {
        await connect(program, upstream)
        const response = await post(program, { ...ask, stream: true })
        program.signal("SIGTERM")
        // The stop has begun when new connections are refused.
        await eventually(
          "new connections to be refused",
          () =>
            fetch(`${program.url}/api/health/ping`, { headers: { connection: "close" } }).then(
              () => false,
              () => true
            ),
          (refused) => refused
        )
        gate.open()
        const text = await response.text()
        assert.include(text, " and after")
        assert.isTrue(text.endsWith("data: [DONE]\n\n"))
        return program.ended
      })
      assert.strictEqual(end.code, 0)
    })
  )

  it.scopedLive("kill -9 under load: every answered request and every stored key is there after a restart", () =>
    Effect.gen(function* () {
      const upstream = yield* Fake.start
      upstream.always(Fake.json(Fake.chatCompletion({ usage: { in: 3, out: 2 } })))
      const env = { GATEWAY_ADMIN_KEY: adminKey }
      const program = yield* Program.start(env)
      const answered = new Set<string>()
      const stored = new Set<string>()
      yield* Effect.promise(async () => {
        await connect(program, upstream)
        const enough = Fake.makeLatch()
        const client = async (): Promise<void> => {
          for (;;) {
            const response = await post(program, ask)
            await response.text()
            answered.add(response.headers.get("x-gateway-request-id") ?? "")
            if (answered.size === 300) enough.open()
          }
        }
        const admin = async (): Promise<void> => {
          for (;;) {
            const response = await manage(program, "POST", "/api/keys", { name: "k" })
            if (response.status === 201) stored.add(((await response.json()) as { key: { id: string } }).key.id)
          }
        }
        const working = [client(), client(), client(), client(), admin()].map((work) => work.catch(() => null))
        await enough.opened
        program.signal("SIGKILL")
        await program.ended
        await Promise.all(working)
      })
      const again = yield* Program.start(env, program.dataDir)
      yield* Effect.promise(async () => {
        const rows = new Set<string>()
        let cursor: string | null = null
        do {
          const response = await manage(
            again,
            "GET",
            `/api/usage/logs?limit=500${cursor === null ? "" : `&cursor=${cursor}`}`
          )
          const page = (await response.json()) as {
            logs: ReadonlyArray<{ requestId: string }>
            nextCursor: string | null
          }
          for (const { requestId } of page.logs) rows.add(requestId)
          cursor = page.nextCursor
        } while (cursor !== null)
        const { keys } = (await (await manage(again, "GET", "/api/keys")).json()) as {
          keys: ReadonlyArray<{ id: string }>
        }
        const kept = new Set(keys.map((key) => key.id))
        assert.isAtLeast(answered.size, 300)
        assert.isAbove(stored.size, 0)
        assert.deepStrictEqual(
          [...answered].filter((id) => !rows.has(id)),
          []
        )
        assert.deepStrictEqual(
          [...stored].filter((id) => !kept.has(id)),
          []
        )
      })
      yield* again.stop
      if (!isOverPostgres) {
        const database = new Database(join(program.dataDir, "gateway.sqlite"))
        assert.strictEqual(database.pragma("integrity_check", { simple: true }), "ok")
        database.close()
      }
      const doctor = yield* Program.run(["doctor", "--json", "--no-liveness"], program.dataDir)
      assert.strictEqual(doctor.code, 0, doctor.stdout)
      JSON.parse(doctor.stdout)
    })
  )
})
