/** Lines of files and of the spool, at every place where they can be cut. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { open } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { answeredLine, failedLine, readLine } from "../../../src/subjects/batches/BatchLines.ts"
import { LineReader } from "../../../src/subjects/batches/LineReader.ts"
import * as LineSpool from "../../../src/subjects/batches/LineSpool.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "gateway-lines-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const linesOf = async (path: string, maxBytes: number) => {
  const file = await open(path)
  try {
    const reader = new LineReader(file, maxBytes)
    const lines: Array<{ text: string | null; endsAt: number; isWhole: boolean }> = []
    for (let line = await reader.next(); line !== null; line = await reader.next()) {
      assert.strictEqual(line.number, lines.length + 1)
      lines.push({ text: line.bytes?.toString() ?? null, endsAt: line.endsAt, isWhole: line.isWhole })
    }
    return lines
  } finally {
    await file.close()
  }
}

describe("a reader of lines", () => {
  it.scopedLive("gives every line once, whatever falls on the end of a chunk, and none that is too long", () =>
    Effect.flatMap(folder, (path) =>
      Effect.promise(async () => {
        const chunk = 262_144
        for (const first of [0, 1, chunk - 2, chunk - 1, chunk, chunk + 1, 2 * chunk, 3 * chunk + 5]) {
          for (const end of ["\n", ""]) {
            const texts = ["a".repeat(first), "", "é".repeat(10), "b".repeat(chunk + 3), "last"]
            writeFileSync(join(path, "x"), texts.join("\n") + end)
            const lines = await linesOf(join(path, "x"), chunk + 2)
            assert.deepStrictEqual(
              lines.map(({ text }) => text),
              texts.map((text) => (text.length > chunk + 2 ? null : text))
            )
            let at = 0
            for (const [n, text] of texts.entries()) {
              const isWhole = n < texts.length - 1 || end !== ""
              at += Buffer.byteLength(text) + (isWhole ? 1 : 0)
              assert.deepInclude(lines[n], { endsAt: at, isWhole })
            }
          }
        }
      })
    )
  )
})

describe("a line of a batch", () => {
  const seen = (): Set<string> => new Set()
  const endpoint = "/v1/chat/completions"

  it("beyond the limit, too deep or no object is broken, and never read further", () => {
    for (const bytes of [null, Buffer.from("[".repeat(100_000)), Buffer.from('"x"'), Buffer.from("null")]) {
      assert.strictEqual(readLine(bytes, endpoint, seen())._tag, "Broken")
    }
  })

  it.each([
    ['"method":"POST","method":"POST"', "method"],
    ['"body":{"model":"m","\\u006dodel":"n"}', "body.model"],
    ['"body":{},"Body":{"model":"m"}', "Body"],
    ['"URL":"/v1/embeddings"', "URL"]
  ])("of two readings is broken, with the name of the member: %s", (members, param) => {
    const text = `{"custom_id":"a","url":"${endpoint}",${members}}`
    const line = readLine(Buffer.from(text), endpoint, seen())
    if (line._tag !== "Broken") return assert.fail("It is read.")
    assert.deepInclude(line.problem, { code: "invalid_json_line", param })
    assert.include(line.problem.message, param)
  })

  it("keeps the numbers of an answer as the provider wrote them, on one line", () => {
    const answer = (body: string) => answeredLine("batch_1", 3, 'a"\n', { requestId: "r", status: 200, body }).json
    assert.include(answer('{"n":1.0,"big":12345678901234567890}'), '"body":{"n":1.0,"big":12345678901234567890}')
    for (const body of ['{\n  "a": 1\n}', "no json\n", ""]) {
      const json = answer(body)
      assert.notInclude(json, "\n")
      assert.strictEqual(JSON.parse(json).custom_id, 'a"\n')
    }
  })
})

describe("a spool", () => {
  const problem = { code: "x", message: "y", param: null }

  it.scopedLive("has whole records only, wherever a write was cut off, and takes each line once", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const spools = yield* LineSpool.make(path)
      const answer = { requestId: "r", status: 200, body: '{"a":"é"}' }
      yield* Effect.scoped(
        Effect.gen(function* () {
          const spool = yield* spools.open("b")
          yield* spool.append(answeredLine("b", 1, "one", answer))
          yield* spool.append(failedLine("b", 2, null, problem))
          yield* spool.append(answeredLine("b", 2, "again", answer))
          assert.deepStrictEqual(spool.counts(), { completed: 1, failed: 1 })
        })
      )
      const file = join(path, "b.lines")
      const whole = readFileSync(file)
      const firstEnds = whole.indexOf(10) + 1
      for (let bytes = 0; bytes <= whole.length; bytes += 1) {
        writeFileSync(file, whole)
        truncateSync(file, bytes)
        const counts = yield* Effect.scoped(
          Effect.gen(function* () {
            const spool = yield* spools.open("b")
            const found = spool.counts()
            // What follows a record that was cut off is read again.
            yield* spool.append(failedLine("b", 9, "nine", problem))
            return found
          })
        )
        const records = bytes < firstEnds ? 0 : bytes < whole.length ? 1 : 2
        assert.strictEqual(counts.completed + counts.failed, records, `${bytes} bytes`)
        const again = yield* Effect.scoped(
          Effect.gen(function* () {
            const spool = yield* spools.open("b")
            const ids: Array<string> = []
            yield* spool.read(false, (json) => Effect.sync(() => void ids.push(JSON.parse(json.toString()).custom_id)))
            return ids.at(-1)
          })
        )
        assert.strictEqual(again, "nine")
      }
      const damaged = Buffer.from(whole)
      damaged[firstEnds - 5] = 0
      writeFileSync(file, damaged)
      const counts = yield* Effect.scoped(Effect.map(spools.open("b"), (spool) => spool.counts()))
      assert.deepStrictEqual(counts, { completed: 0, failed: 0 })
      yield* spools.remove("b")
      assert.deepStrictEqual(yield* spools.ids, [])
    })
  )
})
