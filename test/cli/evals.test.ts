/** `gateway eval` against a running gateway and a fake upstream. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, vi } from "vitest"
import * as Fake from "../support/FakeUpstream.ts"
import * as Gateway from "../support/TestGateway.ts"
import { typed } from "../unit/cli/inProcess.ts"

let folder = ""
beforeAll(() => {
  vi.stubEnv("DATA_DIR", "/nonexistent")
  folder = mkdtempSync(join(tmpdir(), "gateway-evals-"))
})
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

const suite = {
  name: "Mine",
  cases: ["one", "two"].map((name) => ({
    name,
    input: { messages: [{ role: "user", content: name }] },
    expected: { strategy: "contains", value: "one" }
  }))
}

const setUp = Effect.gen(function* () {
  const upstream = yield* Fake.start
  upstream.always((response, request) => {
    const said = JSON.parse(request.body).messages.at(-1).content
    return Fake.json(Fake.chatCompletion({ text: `You said: ${said}`, usage: { in: 10, out: 5 } }))(response, request)
  })
  const gateway = yield* Gateway.start()
  yield* Effect.promise(async () => {
    await gateway.connect("up", upstream, "chat")
    await gateway.manage("PATCH", "/api/pricing", { up: { m: { input: 1, output: 10 } } })
    await gateway.combo("fast", "up/m")
  })
  const file = join(folder, "suite.json")
  writeFileSync(file, JSON.stringify(suite))
  const evals = (...words: ReadonlyArray<string>) =>
    typed(["eval", ...words, "--url", gateway.url, "--gateway-key", Gateway.adminKey])
  return { gateway, upstream, file, evals }
})

describe("gateway eval", () => {
  it.scopedLive("adds a suite, runs it, shows what came of it, and exits 1 below what was asked for", () =>
    Effect.gen(function* () {
      const { evals, file } = yield* setUp
      const empty = yield* evals("list")
      assert.strictEqual(empty.code, 0, empty.stderr)
      for (const part of ["golden-set", "Golden set"]) assert.include(empty.stdout, part)
      assert.include(empty.stderr, "gateway eval run golden-set auto")

      const added = yield* evals("suite", "add", file)
      assert.strictEqual(added.code, 0, added.stderr)
      assert.include(added.stderr, "2 cases")

      const ran = yield* evals("run", "Mine", "up/m", "--compare", "fast")
      assert.strictEqual(ran.code, 0, ran.stderr)
      for (const part of [
        "Mine",
        "1 of 2 passed (50 %)",
        "$0.000120",
        "Compared with",
        "fast",
        "does not contain 'one'",
        "Passed only here"
      ]) {
        assert.include(ran.stdout, part)
      }
      assert.match(ran.stderr, /up\/m: \d of 2 asked/)

      const shown = yield* evals("show", "last", "--json")
      assert.strictEqual(shown.code, 0, shown.stderr)
      const { run } = JSON.parse(shown.stdout)
      assert.deepInclude(run.summary, { passed: 1, failed: 1, costUsd: 0.00012 })

      const lines = yield* evals("show", "-o", "csv")
      assert.lengthOf(lines.stdout.trim().split("\n"), 3)
      assert.include(lines.stdout.split("\n")[1], "one,passed")

      const least = yield* evals("run", "Mine", "up/m", "--min", "80", "--json")
      assert.strictEqual(least.code, 1)
      assert.include(least.stderr, "50 % of the cases passed")
      assert.strictEqual(JSON.parse(least.stdout).run.status, "completed")

      const listed = yield* evals("list")
      for (const part of ["completed", "1 of 2", "50 %", "fast"]) assert.include(listed.stdout, part)
    })
  )

  it.scopedLive("does not wait with --no-wait, and cancels what is under way", () =>
    Effect.gen(function* () {
      const { evals, upstream } = yield* setUp
      upstream.always(Fake.hang())
      const begun = yield* evals("run", "golden-set", "auto", "--no-wait")
      assert.strictEqual(begun.code, 0, begun.stderr)
      const id = begun.stdout.trim()
      assert.match(id, /^[\da-f-]{36}$/)
      const cancelled = yield* evals("cancel", id.slice(0, 8))
      assert.strictEqual(cancelled.code, 0, cancelled.stderr)
      assert.include(cancelled.stderr, "0 of 6 cases were asked")
      const again = yield* evals("cancel", "last")
      assert.strictEqual(again.code, 1)
      assert.include(again.stderr, "is over: cancelled")
    })
  )

  it.scopedLive("exits 1 when nothing is answered, and 2 for words that name nothing", () =>
    Effect.gen(function* () {
      const { evals, file, upstream } = yield* setUp
      upstream.always(Fake.json({ error: { message: "no" } }, { status: 400 }))
      const failed = yield* evals("run", "golden-set", "up/m")
      assert.strictEqual(failed.code, 1)
      assert.include(failed.stderr, "No question was answered")
      const near = yield* evals("run", "golden-set", "fasst")
      assert.include(near.stderr, "Did you mean 'fast'")
      for (const words of [
        ["run", "golden-sat", "up/m"],
        ["run", "golden-set", "no/such"],
        ["run", "golden-set", "up/m", "--key", "nobody"],
        ["run", "golden-set", "up/m", "--min", "101"],
        ["show", "nothing"],
        ["suite", "show", "nothing"],
        ["suite", "add", join(folder, "missing.json")]
      ]) {
        const refused = yield* evals(...words)
        assert.strictEqual(refused.code, 2, `${words.join(" ")}: ${refused.stderr}`)
      }
      const sure = yield* evals("suite", "show", "golden-set", "--json")
      writeFileSync(file, sure.stdout)
      const copied = yield* evals("suite", "add", file)
      assert.strictEqual(copied.code, 0, copied.stderr)
      writeFileSync(file, JSON.stringify({ ...suite, name: "Other" }))
      const edited = yield* evals("suite", "edit", "golden-set", file)
      assert.strictEqual(edited.code, 1)
      assert.include(edited.stderr, "built in")
    })
  )
})
