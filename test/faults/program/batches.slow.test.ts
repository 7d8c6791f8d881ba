/**
 * A batch and the end of the process: killed at random moments it goes on where it was. `BATCH_LINES=10000` runs a large one and prints what it
 * took.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeSeededRandom } from "../../../src/kernel/SeededRandom.ts"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as Program from "../../support/Program.ts"
import { rowsBeside } from "../../support/postgres/Programs.ts"

const adminKey = "admin-key-of-the-program-tests"
const environment = { GATEWAY_ADMIN_KEY: adminKey, GATEWAY_DRAIN_SECONDS: "1" }
const lineCount = Number(process.env["BATCH_LINES"] ?? 1_000)
const kills = 3
const withinMs = 10 * lineCount + 60_000

// eslint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
type Answer = any

const call = async (
  { url }: { readonly url: string },
  method: string,
  path: string,
  body?: unknown,
  key = adminKey
): Promise<Answer> => {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await response.text()
  assert.isTrue(response.ok, `${path}: ${response.status} ${text}`)
  return text === "" ? null : JSON.parse(text)
}

const upload = async ({ url }: Program.Program, key: string, lines: ReadonlyArray<string>): Promise<string> => {
  const form = new FormData()
  form.set("purpose", "batch")
  form.set("file", new Blob([lines.join("\n")]), "lines.jsonl")
  const response = await fetch(`${url}/v1/files`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: form
  })
  return ((await response.json()) as { id: string }).id
}

const linesOf = async ({ url }: Program.Program, key: string, id: string | null): Promise<ReadonlyArray<Answer>> => {
  if (id === null) return []
  const response = await fetch(`${url}/v1/files/${id}/content`, { headers: { authorization: `Bearer ${key}` } })
  const text = await response.text()
  assert.isTrue(text.endsWith("\n"))
  return text
    .slice(0, -1)
    .split("\n")
    .map((each) => JSON.parse(each))
}

/** All usage rows of a batch. */
const rowsOf = async (program: Program.Program, batchId: string): Promise<ReadonlyArray<Answer>> => {
  const rows: Array<Answer> = []
  let cursor: string | null = null
  do {
    const page: Answer = await call(
      program,
      "GET",
      `/api/usage/logs?limit=1000${cursor === null ? "" : `&cursor=${cursor}`}`
    )
    rows.push(...page.logs.filter((row: Answer) => row.batchId === batchId))
    cursor = page.nextCursor
  } while (cursor !== null)
  return rows
}

/** One of twenty calls fails in one of several ways, and every fiftieth line is refused by whoever is asked. */
const failing = (random: () => number): Fake.Answer => {
  const broken = (status: number) =>
    Fake.json({ error: { message: "broken", type: "server_error", code: null } }, { status })
  const failures = [broken(500), broken(503), Fake.closeBeforeHeaders(), Fake.truncated('{"id":', 100)]
  return (response, request) => {
    const said: string = JSON.parse(request.body).messages.at(-1).content
    const wrong = { error: { message: "never", type: "invalid_request_error", code: "bad" } }
    if (said.startsWith("never")) return Fake.json(wrong, { status: 400 })(response, request)
    const failure = random() < 0.05 ? failures[Math.floor(random() * failures.length)] : undefined
    const answer = failure ?? Fake.json(Fake.chatCompletion({ text: said, usage: { in: 10, out: 5 } }))
    return answer(response, request)
  }
}

const setUp = Effect.gen(function* () {
  const upstreams = yield* Effect.all([Fake.start, Fake.start, Fake.start])
  const program = yield* Program.start(environment)
  const key = yield* Effect.promise(async () => {
    for (const [n, upstream] of upstreams.entries()) {
      upstream.always(failing(makeSeededRandom(n + 1).next))
      const node = { name: `p${n}`, prefix: `p${n}`, type: "openai-compatible", baseUrl: `${upstream.origin}/v1` }
      await call(program, "POST", "/api/provider-nodes", node)
      await call(program, "POST", "/api/providers", { provider: `p${n}`, apiKey: "k-0123456789", models: ["m"] })
      await call(program, "PATCH", "/api/pricing", { [`p${n}`]: { m: { input: 1, output: 10 } } })
    }
    const targets = upstreams.map((_, n) => ({ model: `p${n}/m` }))
    await call(program, "POST", "/api/combos", { name: "all", strategy: "round-robin", targets })
    await call(program, "PATCH", "/api/resilience", { connectionCooldown: { apikey: { baseCooldownMs: 100 } } })
    const made = await call(program, "POST", "/api/keys", { name: "batch" })
    await call(program, "POST", "/api/usage/budget", { apiKeyId: made.key.id, dailyLimitUsd: 1_000 })
    return { id: String(made.key.id), secret: String(made.secret) }
  })
  return { program, key }
})

const line = (customId: string, said: string): string =>
  JSON.stringify({
    custom_id: customId,
    method: "POST",
    url: "/v1/chat/completions",
    body: { model: "all", max_tokens: 20, messages: [{ role: "user", content: said }] }
  })

const begin = async (program: Program.Program, key: string, lines: ReadonlyArray<string>): Promise<Answer> =>
  call(
    program,
    "POST",
    "/v1/batches",
    {
      input_file_id: await upload(program, key, lines),
      endpoint: "/v1/chat/completions",
      completion_window: "24h"
    },
    key
  )

const until = (
  program: Program.Program,
  key: string,
  id: string,
  what: string,
  isDone: (batch: Answer) => boolean
): Promise<Answer> =>
  eventually(what, () => call(program, "GET", `/v1/batches/${id}`, undefined, key), isDone, { withinMs })

/** Resident memory of a process, in MiB; null where the system does not tell. */
const residentOf = (pid: number): number | null => {
  const status = `/proc/${pid}/status`
  if (!existsSync(status)) return null
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(status, "utf8"))?.[1]) / 1024)
}

/** Some lines are answered, the others never; then the process is killed. */
const killed = Effect.gen(function* () {
  const upstream = yield* Fake.start
  const program = yield* Program.start(environment)
  upstream.always((response, request) => {
    const said: string = JSON.parse(request.body).messages.at(-1).content
    return said === "never" ? Fake.hang()(response, request) : Fake.json(Fake.chatCompletion())(response, request)
  })
  const id: string = yield* Effect.promise(async () => {
    const baseUrl = `${upstream.origin}/v1`
    const node = { name: "up", prefix: "all", type: "openai-compatible", baseUrl }
    await call(program, "POST", "/api/provider-nodes", node)
    await call(program, "POST", "/api/providers", { provider: "all", apiKey: "k-0123456789", models: ["all"] })
    const lines = ["a", "b", "never", "never", "{broken"].map((said, n) =>
      said === "{broken" ? said : line(`id-${n}`, said).replace('"model":"all"', '"model":"all/all"')
    )
    const made = await begin(program, adminKey, lines)
    await until(program, adminKey, made.id, "the answers", ({ request_counts: counts }) => counts.completed === 2)
    program.signal("SIGKILL")
    await program.ended
    return made.id
  })
  const change = (sql: string, ...values: ReadonlyArray<string | number | null>) =>
    Effect.promise(() => rowsBeside(program.dataDir, sql, ...values))
  return { program, id, change }
})

/** A disk of 64 KiB at a folder, as long as the scope; false where this user may mount none. */
const smallDisk = (folder: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      mkdirSync(folder, { recursive: true })
      try {
        execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], { stdio: "pipe" })
        return true
      } catch {
        return false
      }
    }),
    (isMounted) => Effect.sync(() => (isMounted ? execFileSync("umount", [folder]) : undefined))
  )

describe("a batch", () => {
  it.scopedLive(
    "goes on after every kill: no line twice, none missing, the counts right",
    () =>
      Effect.gen(function* () {
        const { key, program } = yield* setUp
        const random = makeSeededRandom(20_261_123).next
        const begunMs = performance.now()
        const { id } = yield* Effect.promise(() =>
          begin(
            program,
            key.secret,
            Array.from({ length: lineCount }, (_, n) => line(`id-${n}`, n % 50 === 7 ? `never ${n}` : `text ${n}`))
          )
        )
        let running = program
        let residentMiB = 0
        for (let kill = 0; kill < kills; kill += 1) {
          const least = Math.floor(((kill + random()) / kills) * lineCount)
          yield* Effect.promise(async () => {
            await until(running, key.secret, id, `${least} lines`, ({ request_counts: counts, status }) =>
              status === "completed" ? true : counts.completed + counts.failed >= least
            )
            residentMiB = Math.max(residentMiB, residentOf(running.pid) ?? 0)
            running.signal("SIGKILL")
            await running.ended
          })
          running = yield* Program.start(environment, program.dataDir)
        }
        const done: Answer = yield* Effect.promise(() =>
          until(running, key.secret, id, "the end", ({ status }) => !["in_progress", "finalizing"].includes(status))
        )
        const tookMs = performance.now() - begunMs
        residentMiB = Math.max(residentMiB, residentOf(running.pid) ?? 0)
        yield* Effect.promise(async () => {
          assert.strictEqual(done.status, "completed")
          const output = await linesOf(running, key.secret, done.output_file_id)
          const errors = await linesOf(running, key.secret, done.error_file_id)
          const counts = { total: lineCount, completed: output.length, failed: errors.length }
          assert.deepStrictEqual(done.request_counts, counts)
          const ids = [...output, ...errors].map(({ custom_id: customId }) => customId)
          assert.strictEqual(new Set(ids).size, lineCount, "every line once")
          assert.strictEqual(ids.length, lineCount)
          for (const { custom_id: customId, response } of output) {
            assert.strictEqual(response.body.choices[0].message.content, `text ${customId.slice(3)}`)
          }
          const refused = errors.filter(({ response }) => response?.status_code === 400)
          assert.strictEqual(refused.length, Math.ceil((lineCount - 7) / 50))
          assert.isAtLeast(output.length, lineCount * 0.95)

          const rows = await rowsOf(running, id)
          const known = new Set(rows.map(({ requestId }) => requestId))
          for (const { response } of output) assert.isTrue(known.has(response.request_id))
          const costUsd = rows.reduce((sum, row) => sum + row.costUsd, 0)
          const { spentUsd } = await call(running, "GET", `/api/usage/budget?apiKeyId=${key.id}`)
          assert.closeTo(spentUsd, costUsd, 1e-9)
          // Lines that were under way at a kill were paid for again.
          assert.isAtLeast(costUsd, output.length * 0.00006 - 1e-9)
          await eventually(
            "an empty folder",
            () => readdirSync(join(program.dataDir, "batches")),
            (names) => names.length === 0
          )
          assert.lengthOf(readdirSync(join(program.dataDir, "files")), 3)
          if (process.env["BATCH_LINES"] !== undefined) {
            const facts = { ...counts, rows: rows.length, costUsd, spentUsd, tookMs: Math.round(tookMs), residentMiB }
            process.stdout.write(`${JSON.stringify(facts)}\n`)
          }
        })
      }),
    withinMs * 2
  )

  it.scopedLive("goes on after a gentle stop, and its lines under way are no failures", () =>
    Effect.gen(function* () {
      const { key, program } = yield* setUp
      const made: Answer = yield* Effect.promise(() =>
        begin(
          program,
          key.secret,
          Array.from({ length: 200 }, (_, n) => line(`id-${n}`, `text ${n}`))
        )
      )
      yield* Effect.promise(() =>
        until(program, key.secret, made.id, "some lines", ({ request_counts: counts }) => counts.completed >= 20)
      )
      const { code, stderr } = yield* program.stop
      assert.strictEqual(code, 0, stderr)
      const again = yield* Program.start(environment, program.dataDir)
      const done: Answer = yield* Effect.promise(() =>
        until(again, key.secret, made.id, "the end", ({ status }) => !["in_progress", "finalizing"].includes(status))
      )
      assert.strictEqual(done.status, "completed")
      assert.strictEqual(done.request_counts.completed + done.request_counts.failed, 200)
      assert.isAtLeast(done.request_counts.completed, 190)
    })
  )

  it.scopedLive("that was killed while its files were written writes them again, and one only", () =>
    Effect.gen(function* () {
      const { change, id, program } = yield* killed
      const output = `file-${"1".repeat(32)}`
      yield* change(
        "UPDATE batches SET status = 'finalizing', ending = 'completed', output_file_id = ?, error_file_id = ? WHERE id = ?",
        output,
        `file-${"2".repeat(32)}`,
        id
      )
      writeFileSync(join(program.dataDir, "files", `${output}.part`), '{"id":"half')
      const again = yield* Program.start(environment, program.dataDir)
      yield* Effect.promise(async () => {
        const done = await until(again, adminKey, id, "the end", ({ status }) => status === "completed")
        assert.strictEqual(done.output_file_id, output)
        const lines = await linesOf(again, adminKey, output)
        assert.deepStrictEqual(lines.map(({ custom_id: customId }) => customId).sort(), ["id-0", "id-1"])
        assert.strictEqual(done.request_counts.completed, 2)
        const { data } = await call(again, "GET", "/v1/files?purpose=batch_output", undefined, adminKey)
        assert.lengthOf(data, [done.output_file_id, done.error_file_id].filter((file) => file !== null).length)
      })
    })
  )

  it.scopedLive("whose time is over keeps what was answered, and fails the rest", () =>
    Effect.gen(function* () {
      const { change, id, program } = yield* killed
      yield* change("UPDATE batches SET expires_at_ms = 1 WHERE id = ?", id)
      const again = yield* Program.start(environment, program.dataDir)
      yield* Effect.promise(async () => {
        const done = await until(again, adminKey, id, "the end", ({ status }) => status === "expired")
        assert.deepStrictEqual(done.request_counts, { total: 5, completed: 2, failed: 3 })
        const errors = await linesOf(again, adminKey, done.error_file_id)
        assert.deepStrictEqual(errors.map(({ error }) => error.code).sort(), [
          "batch_expired",
          "batch_expired",
          "invalid_json_line"
        ])
      })
    })
  )

  it.scopedLive("whose results do not fit on the disk fails with the reason, and leaves nothing behind", (context) =>
    Effect.gen(function* () {
      const dataDir = yield* Program.dataFolder
      if (!(yield* smallDisk(join(dataDir, "files")))) return context.skip("needs a user who may mount a disk (root)")
      const upstream = yield* Fake.start
      upstream.always(Fake.json(Fake.chatCompletion({ text: "x".repeat(20_000) })))
      const program = yield* Program.start(environment, dataDir)
      yield* Effect.promise(async () => {
        const baseUrl = `${upstream.origin}/v1`
        const node = { name: "up", prefix: "up", type: "openai-compatible", baseUrl }
        await call(program, "POST", "/api/provider-nodes", node)
        await call(program, "POST", "/api/providers", { provider: "up", apiKey: "k-0123456789", models: ["m"] })
        const lines = Array.from({ length: 8 }, (_, n) => line(`id-${n}`, "x").replace('"all"', '"up/m"'))
        const { id, input_file_id: input } = await begin(program, adminKey, lines)
        const done = await until(
          program,
          adminKey,
          id,
          "the end",
          ({ status }) => status !== "in_progress" && status !== "validating" && status !== "finalizing"
        )
        assert.deepInclude(done, { status: "failed", output_file_id: null, error_file_id: null })
        assert.strictEqual(done.errors.data[0].code, "output_not_written")
        assert.match(done.errors.data[0].message, /no space|ENOSPC|disk is full/i)
        assert.deepStrictEqual(readdirSync(join(dataDir, "files")), [input])
        await eventually(
          "an empty folder",
          () => readdirSync(join(dataDir, "batches")),
          (names) => names.length === 0
        )
      })
      yield* program.stop
    })
  )
})
