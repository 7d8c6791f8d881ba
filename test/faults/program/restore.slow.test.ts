/** Restart, stop, and restore of the built program: under load, and killed on the way. */
import { assert, describe, it } from "@effect/vitest"
import Database from "better-sqlite3"
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as Program from "../../support/Program.ts"
import { isOverPostgres, ofSqlite } from "../../support/postgres/Programs.ts"

const adminKey = "admin-key-of-the-program-tests"
const environment = { GATEWAY_ADMIN_KEY: adminKey }
const ask = { model: "up/m", messages: [{ role: "user", content: "Hi" }] }
const authorization = `Bearer ${adminKey}`

const manage = async (program: Program.Program, method: string, path: string, body?: unknown) => {
  const response = await fetch(program.url + path, {
    method,
    headers: { authorization, ...(body instanceof Uint8Array ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: body instanceof Uint8Array ? body : JSON.stringify(body) })
  })
  const text = await response.text()
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
  const json: any = text.startsWith("{") ? JSON.parse(text) : null
  return { status: response.status, json, text }
}

const connect = async (program: Program.Program, upstream: Fake.FakeUpstream): Promise<void> => {
  await manage(program, "POST", "/api/provider-nodes", {
    name: "up",
    prefix: "up",
    type: "openai-compatible",
    baseUrl: `${upstream.origin}/v1`
  })
  await manage(program, "POST", "/api/providers", { provider: "up", apiKey: "k-0123456789", models: ["m"] })
}

const addKey = (program: Program.Program, name: string) => manage(program, "POST", "/api/keys", { name })
const keyNames = async (program: Program.Program): Promise<ReadonlyArray<string>> =>
  (await manage(program, "GET", "/api/keys")).json.keys.map(({ name }: { readonly name: string }) => name).sort()

/** Asks without a pause until told to stop; gives the ids of answered requests and what went wrong. */
const load = (program: Program.Program, clients: number) => {
  const stop = new AbortController()
  const answered: Array<string> = []
  const failed: Array<string> = []
  const client = async () => {
    while (!stop.signal.aborted) {
      try {
        const response = await fetch(`${program.url}/v1/chat/completions`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(ask)
        })
        const text = await response.text()
        if (response.status === 200) answered.push(response.headers.get("x-gateway-request-id") ?? "")
        else failed.push(`${response.status} ${text}`)
      } catch (error) {
        failed.push(String((error as Error).cause ?? error))
      }
    }
  }
  const running = Array.from({ length: clients }, client)
  return {
    answered,
    failed,
    stop: async () => {
      stop.abort()
      await Promise.all(running)
    }
  }
}

const rowsOf = (dataDir: string): ReadonlyArray<string> => {
  const database = new Database(join(dataDir, "gateway.sqlite"), { readonly: true })
  try {
    assert.strictEqual(database.pragma("integrity_check", { simple: true }), "ok")
    return database.prepare("SELECT request_id FROM usage_log").pluck().all() as ReadonlyArray<string>
  } finally {
    database.close()
  }
}

describe.skipIf(isOverPostgres)(`a restore of the running program${ofSqlite}`, () => {
  it.scopedLive("under load refuses no request and loses none that was answered", () =>
    Effect.gen(function* () {
      const upstream = yield* Fake.start
      upstream.always(Fake.json(Fake.chatCompletion()))
      const program = yield* Program.start(environment)
      yield* Effect.promise(async () => {
        await connect(program, upstream)
        await addKey(program, "before")
        const traffic = load(program, 8)
        await eventually(
          "more of it",
          () => traffic.answered.length,
          (count) => count > 50
        )
        const { json, status } = await manage(program, "PUT", "/api/db-backups")
        assert.strictEqual(status, 201)
        await addKey(program, "after")
        await eventually(
          "more of it",
          () => traffic.answered.length,
          (count) => count > 150
        )

        const restored = await manage(program, "POST", "/api/db-backups", { backupId: json.backup.id })
        assert.strictEqual(restored.status, 200, restored.text)
        assert.strictEqual(restored.json.restored, true)
        assert.deepStrictEqual(await keyNames(program), ["before"])
        const sofar = traffic.answered.length
        await eventually(
          "more of it",
          () => traffic.answered.length,
          (count) => count > sofar + 50
        )
        await traffic.stop()
        assert.deepStrictEqual(traffic.failed, [])

        // What was there is in the other backup.
        const undone = await manage(program, "POST", "/api/db-backups", {
          backupId: restored.json.preRestoreBackupId
        })
        assert.strictEqual(undone.status, 200, undone.text)
        assert.deepStrictEqual(await keyNames(program), ["after", "before"])
        assert.strictEqual((await program.stop.pipe(Effect.runPromise)).code, 0)

        const rows = rowsOf(program.dataDir)
        assert.strictEqual(new Set(rows).size, rows.length, "no row is there twice")
        assert.deepStrictEqual(
          traffic.answered.filter((id) => !rows.includes(id)),
          [],
          "every answered request has its row"
        )
      })
    })
  )

  it.scopedLive(
    "killed at any moment, is in the old state or in the new one",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* Program.dataFolder
        const first = yield* Program.start(environment, dataDir)
        const backupId = yield* Effect.promise(async () => {
          await addKey(first, "old")
          const { json } = await manage(first, "PUT", "/api/db-backups")
          await addKey(first, "new")
          return String(json.backup.id)
        })
        yield* first.stop
        const seen = new Set<string>()
        const rounds = Number(process.env["RESTORE_KILLS"] ?? 3)
        for (let round = 0; round < rounds; round += 1) {
          yield* Effect.scoped(
            Effect.gen(function* () {
              const program = yield* Program.start(environment, dataDir)
              yield* Effect.promise(async () => {
                if (!(await keyNames(program)).includes("new")) await addKey(program, "new")
                const before = readdirSync(join(dataDir, "backups")).length
                const answer = manage(program, "POST", "/api/db-backups", { backupId }).catch(() => null)
                // From the moment the check begins over the one where the other backup is whole, to the answer.
                if (round % 3 === 1) {
                  await eventually(
                    "more of it",
                    () => readdirSync(join(dataDir, "backups")).length,
                    (count) => count > before
                  )
                } else if (round % 3 === 2) await answer
                program.signal("SIGKILL")
                await answer
                await program.ended
              })
            })
          )
          const again = yield* Program.start(environment, dataDir)
          const names = yield* Effect.promise(() => keyNames(again))
          assert.include(["new,old", "old"], names.join(), "a whole state")
          seen.add(names.join())
          assert.deepStrictEqual(
            readdirSync(join(dataDir, "backups")).filter((name) => name.endsWith(".partial")),
            [],
            "nothing unfinished is left"
          )
          yield* again.stop
          rowsOf(dataDir)
        }
        assert.include([...seen], "old", "a restore that was answered is there")
      }),
    120_000
  )

  it.scopedLive("an upload is a restore, and a wrong one changes nothing", () =>
    Effect.gen(function* () {
      const program = yield* Program.start(environment)
      yield* Effect.promise(async () => {
        await addKey(program, "first")
        const response = await fetch(`${program.url}/api/db-backups/export`, { headers: { authorization } })
        assert.strictEqual(response.headers.get("content-type"), "application/vnd.sqlite3")
        const file = new Uint8Array(await response.arrayBuffer())
        assert.strictEqual(String(file.length), response.headers.get("content-length"))
        await addKey(program, "second")

        const wrong = await manage(program, "POST", "/api/db-backups/import", file.subarray(0, file.length - 4_096))
        assert.strictEqual(wrong.status, 400)
        assert.strictEqual(wrong.json.error.code, "database_cut_short")
        assert.deepStrictEqual(await keyNames(program), ["first", "second"])

        const right = await manage(program, "POST", "/api/db-backups/import", file)
        assert.strictEqual(right.status, 200, right.text)
        assert.strictEqual(right.json.imported, true)
        assert.match(right.json.preImportBackupId, /_pre-import$/)
        assert.deepStrictEqual(await keyNames(program), ["first"])
      })
    })
  )

  it.scopedLive("the archive has the database with its checksum, and no credential in plain text", () =>
    Effect.gen(function* () {
      const upstream = yield* Fake.start
      const program = yield* Program.start(environment)
      const folder = mkdtempSync(join(tmpdir(), "gateway-archive-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true, force: true })))
      yield* Effect.promise(async () => {
        await connect(program, upstream)
        const response = await fetch(`${program.url}/api/db-backups/exportAll`, { headers: { authorization } })
        assert.strictEqual(response.headers.get("content-type"), "application/gzip")
        writeFileSync(join(folder, "all.tar.gz"), new Uint8Array(await response.arrayBuffer()))
      })
      execFileSync("tar", ["-xzf", "all.tar.gz"], { cwd: folder })
      const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"))
      assert.strictEqual(manifest.encryption.keyFile, "master.key")
      for (const { name, sha256, sizeBytes } of manifest.files) {
        const bytes = readFileSync(join(folder, name))
        assert.strictEqual(bytes.length, sizeBytes)
        assert.strictEqual(createHash("sha256").update(bytes).digest("hex"), sha256)
        assert.isFalse(bytes.includes("k-0123456789"), name)
      }
      assert.match(readFileSync(join(folder, "providers.json"), "utf8"), /"provider": "up"/)
      const copy = new Database(join(folder, "gateway.sqlite"), { readonly: true })
      assert.strictEqual(copy.pragma("integrity_check", { simple: true }), "ok")
      copy.close()
    })
  )

  it.scopedLive("nobody without a management key gets near a backup", () =>
    Effect.gen(function* () {
      const program = yield* Program.start(environment)
      yield* Effect.promise(async () => {
        for (const [method, path] of [
          ["GET", ""],
          ["PUT", ""],
          ["POST", ""],
          ["GET", "/export"],
          ["POST", "/import"],
          ["GET", "/exportAll"],
          ["GET", "/EXPORT"]
        ]) {
          const response = await fetch(`${program.url}/api/db-backups${path}`, { method: method ?? "" })
          assert.strictEqual(response.status, 401, `${method} ${path}`)
        }
        for (const path of ["/api/shutdown", "/api/restart", "/api/system/env/repair"]) {
          assert.strictEqual((await fetch(program.url + path, { method: "POST" })).status, 401)
        }
        assert.strictEqual((await manage(program, "GET", "/api/init")).status, 200)
      })
    })
  )
})

describe("a restart over HTTP", () => {
  it.scopedLive("keeps process and port, reads the settings file again, and refuses nobody meanwhile", () =>
    Effect.gen(function* () {
      const upstream = yield* Fake.start
      upstream.always(Fake.json(Fake.chatCompletion()))
      const program = yield* Program.start(environment)
      yield* Effect.promise(async () => {
        await connect(program, upstream)
        const traffic = load(program, 4)
        await eventually(
          "more of it",
          () => traffic.answered.length,
          (count) => count > 20
        )
        writeFileSync(join(program.dataDir, ".env"), "GATEWAY_DRAIN_SECONDS='3'\n")
        const { json, status } = await manage(program, "POST", "/api/restart")
        assert.strictEqual(status, 202)
        assert.deepStrictEqual(json, { restarting: true, mode: "in-process", pid: json.pid })
        await eventually("the restart", program.stderr, (log) => log.includes("The gateway has restarted."))
        const sofar = traffic.answered.length
        await eventually(
          "more of it",
          () => traffic.answered.length,
          (count) => count > sofar + 20
        )
        await traffic.stop()
        assert.deepStrictEqual(traffic.failed, [])
      })
      yield* program.stop
    })
  )

  it.scopedLive("is refused, and the gateway runs on, when the next start would fail", () =>
    Effect.gen(function* () {
      const program = yield* Program.start(environment)
      yield* Effect.promise(async () => {
        writeFileSync(join(program.dataDir, ".env"), "GATEWAY_MAX_BODY_MB='a lot'\n")
        const { json, status } = await manage(program, "POST", "/api/restart")
        assert.strictEqual(status, 409)
        assert.include(json.error.message, "GATEWAY_MAX_BODY_MB")
        assert.strictEqual((await manage(program, "GET", "/api/init")).status, 200)
      })
    })
  )
})

describe("a stop over HTTP", () => {
  it.scopedLive("lets what runs finish and ends with code 0", () =>
    Effect.gen(function* () {
      const upstream = yield* Fake.start
      const latch = Fake.makeLatch()
      upstream.always((response) => {
        void latch.opened.then(() => Fake.json(Fake.chatCompletion())(response, undefined as never))
      })
      const program = yield* Program.start(environment)
      yield* Effect.promise(async () => {
        await connect(program, upstream)
        const running = fetch(`${program.url}/v1/chat/completions`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(ask)
        })
        await eventually(
          "more of it",
          () => upstream.requests.filter(({ method }) => method === "POST").length,
          (count) => count > 0
        )
        assert.strictEqual((await manage(program, "POST", "/api/shutdown")).status, 202)
        latch.open()
        assert.strictEqual((await running).status, 200)
        assert.strictEqual((await program.ended).code, 0)
        assert.isFalse(
          statSync(join(program.dataDir, "gateway.sqlite-wal"), { throwIfNoEntry: false })?.isFile() ?? false
        )
      })
    })
  )
})
