/** `gateway batches` against a real gateway. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Fake from "../support/FakeUpstream.ts"
import * as Gateway from "../support/TestGateway.ts"
import { program } from "./support.ts"

const { dataDir, run } = program()
const patienceMs = 60_000

const line = (customId: string): string =>
  JSON.stringify({
    custom_id: customId,
    method: "POST",
    url: "/v1/chat/completions",
    body: { model: "up/m", messages: [{ role: "user", content: "hi" }] }
  })

describe("gateway batches", () => {
  it.scopedLive(
    "makes a batch of a file, watches it to its end, lists, shows and cancels",
    () =>
      Effect.gen(function* () {
        const upstream = yield* Fake.start
        upstream.always(Fake.json(Fake.chatCompletion()))
        const gateway = yield* Gateway.start()
        yield* Effect.promise(async () => {
          await gateway.connect("up", upstream, "chat")
          const folder = dataDir()
          const env = {
            PATH: process.env["PATH"] ?? "",
            DATA_DIR: folder,
            HOME: folder,
            GATEWAY_URL: gateway.url,
            GATEWAY_ADMIN_KEY: Gateway.adminKey
          }
          const batches = (...words: ReadonlyArray<string>) => run(["batches", ...words], env)
          const path = join(folder, "lines.jsonl")
          writeFileSync(path, `${line("one")}\n${line("two")}\n{broken\n`)

          const made = await batches("create", path, "--metadata", "job=x", "--json")
          assert.strictEqual(made.code, 0, made.stderr)
          const { id, metadata } = JSON.parse(made.stdout)
          assert.deepStrictEqual(metadata, { job: "x" })
          const watched = await batches("watch", id)
          assert.strictEqual(watched.code, 0, watched.stderr)
          assert.match(watched.stdout, /completed 3\/3, 1 failed/)
          const last = (await batches("watch", id, "--json")).stdout.trim().split("\n").at(-1) ?? ""
          assert.deepInclude(JSON.parse(last), { id, status: "completed" })

          assert.include((await batches("list")).stdout, "3/3")
          const shown = JSON.parse((await batches("show", id.slice(0, 30), "--json")).stdout)
          assert.deepStrictEqual(shown.request_counts, { total: 3, completed: 2, failed: 1 })
          const late = await batches("cancel", id)
          assert.notStrictEqual(late.code, 0)
          assert.include(late.stderr, "completed")
          assert.include(late.stderr, "gateway batches list")

          writeFileSync(path, "\n")
          const empty = await batches("create", path, "--watch")
          assert.notStrictEqual(empty.code, 0)
          assert.include(empty.stderr, "The input file has no lines.")
          assert.notStrictEqual((await batches("create", join(folder, "none.jsonl"))).code, 0)
        })
      }),
    patienceMs
  )
})
