/** Words of an upstream that are remembered are shown to others and kept: they must not hold what a caller wrote. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { eventuallyFound } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const prompt = "My diagnosis of last Thursday: a broken heart, nothing else."
const ask = { model: "up/m", messages: [{ role: "user", content: prompt }] }

const filesWith = (folder: string, words: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => {
    const path = join(folder, name)
    return statSync(path).isFile() && readFileSync(path).includes(words)
  })

describe("an upstream that repeats the prompt in its error", () => {
  for (const noLog of [false, true]) {
    it.scopedLive(
      `tells it to the caller, and to nobody else${noLog ? ", with noLog not even its other words" : ""}`,
      () =>
        Effect.gen(function* () {
          const upstream = yield* Fake.start
          const message = `Too many requests for "${prompt.slice(0, 40)}…" in organization org-1`
          upstream.always(Fake.json({ error: { message, type: "rate_limit_error" } }, { status: 429 }))
          const dataDir = yield* Effect.acquireRelease(
            Effect.sync(() => mkdtempSync(join(tmpdir(), "gateway-test-"))),
            (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
          )
          const gateway = yield* TestGateway.start({ dataDir })
          yield* Effect.promise(async () => {
            const { id } = await gateway.connect("up", upstream, "chat")
            const { secret } = await gateway.manage("POST", "/api/keys", { name: "k", noLog })
            const own = await gateway.post("/v1/chat/completions", ask, { authorization: `Bearer ${secret}` })
            assert.strictEqual(own.status, 429)
            assert.include(await own.text(), "diagnosis")
            const other = await gateway.post("/v1/chat/completions", {
              ...ask,
              messages: [{ role: "user", content: "Hi" }]
            })
            assert.strictEqual(other.status, 429)
            const words = await other.text()
            assert.include(words, "cooling down")
            assert.notInclude(words, "diagnosis")
            const connection = await eventuallyFound("the error", async () => {
              const shown = await gateway.manage("GET", `/api/providers/${id}`)
              return shown.connection.lastError === null ? undefined : shown.connection
            })
            assert.notInclude(connection.lastError, "diagnosis")
            if (noLog) assert.notInclude(connection.lastError, "org-1")
            else assert.include(connection.lastError, "Too many requests for")
            if (!noLog) assert.include(connection.lastError, "in organization org-1")
            await gateway.manage("PUT", "/api/db-backups")
            assert.deepStrictEqual(filesWith(dataDir, "diagnosis"), [])
          })
        })
    )
  }
})
