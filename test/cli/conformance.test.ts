/** `gateway conformance` against this gateway, a provider, and servers that keep less than they promise. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { afterAll, beforeAll, vi } from "vitest"
import { cases } from "../../src/cli/conformance/cases.ts"
import * as Fake from "../support/FakeUpstream.ts"
import * as Models from "../support/ModelServer.ts"
import * as Gateway from "../support/TestGateway.ts"
import { typed } from "../unit/cli/inProcess.ts"

beforeAll(() => void vi.stubEnv("DATA_DIR", "/nonexistent"))
afterAll(() => vi.unstubAllEnvs())

const key = "upstream-key-of-up"

interface Row {
  readonly id: string
  readonly wire: string
  readonly verdict: string
  readonly reasons: ReadonlyArray<string>
  readonly reproduce: string
}

const rowsOf = (stdout: string): ReadonlyArray<Row> => (JSON.parse(stdout) as { rows: ReadonlyArray<Row> }).rows

describe("gateway conformance", () => {
  it.scopedLive(
    "passes on this gateway in all wires, over an upstream of one",
    () =>
      Effect.gen(function* () {
        const upstream = yield* Models.start("m", key)
        const gateway = yield* Gateway.start({ environment: new Map([["REQUIRE_API_KEY", "true"]]) })
        yield* Effect.promise(() => gateway.connect("up", upstream, "chat"))
        const { code, stderr, stdout } = yield* typed([
          "conformance",
          "--model",
          "up/m",
          "--url",
          gateway.url,
          "--gateway-key",
          Gateway.adminKey,
          "--json"
        ])
        const others = rowsOf(stdout).filter(({ verdict }) => verdict !== "pass")
        // Whole responses are kept where they were asked for in the background.
        assert.deepStrictEqual(
          others.map(({ id, reasons, verdict }) => [id, verdict, id === "responses.get" ? [] : reasons]),
          [["responses.get", "not offered", []]],
          stderr
        )
        assert.strictEqual(code, 0)
        assert.lengthOf(rowsOf(stdout), cases.length)
      }),
    60_000
  )

  it.scopedLive("says of a provider which wires it has, and takes the base URL of an SDK", () =>
    Effect.gen(function* () {
      const upstream = yield* Models.start("m", key)
      const { code, stdout } = yield* typed([
        "conformance",
        "--against",
        `${upstream.origin}/v1`,
        "--key",
        key,
        "--model",
        "m",
        "--json"
      ])
      assert.deepStrictEqual(
        rowsOf(stdout).filter((row) => row.verdict === "fail"),
        []
      )
      assert.strictEqual(code, 0)
      for (const { id, verdict, wire } of rowsOf(stdout)) {
        const isOther = wire !== "chat"
        if (isOther && !id.includes(".error.")) assert.strictEqual(verdict, "not offered", id)
        if (!isOther) assert.strictEqual(verdict, "pass", id)
      }
    })
  )

  it.scopedLive("names what a server gets wrong, and the command that shows it does", () =>
    Effect.gen(function* () {
      const upstream = yield* Fake.start
      upstream.always(Fake.sse(Fake.chatStream(["Hello"]).filter((event) => !event.includes("[DONE]"))))
      const asked = ["--against", upstream.origin, "--key", key, "--case", "chat.stream", "--model", "m"]
      const { code, stdout } = yield* typed(["conformance", ...asked, "--json"])
      assert.strictEqual(code, 1)
      const row = rowsOf(stdout).find(({ id }) => id === "chat.stream")
      assert.strictEqual(row?.verdict, "fail")
      assert.include(row?.reasons.join("; "), "there are 0 end marks")
      assert.notInclude(stdout, key)

      const before = upstream.requests.length
      const options = { env: { ...process.env, KEY: key } }
      yield* Effect.promise(() => promisify(execFile)("sh", ["-c", row?.reproduce ?? "false"], options))
      assert.strictEqual(upstream.requests.length, before + 1)
      const [first, last] = [upstream.requests[before - 1], upstream.requests.at(-1)]
      assert.strictEqual(last?.body, upstream.requests[0]?.body)
      assert.strictEqual(last?.headers.authorization, first?.headers.authorization)

      const shown = yield* typed(["conformance", ...asked])
      for (const part of ["chat.stream", "fail", "curl -sS", "0 passed, 2 failed"]) assert.include(shown.stdout, part)
    })
  )

  it.scopedLive("says what is wrong with what was typed", () =>
    Effect.gen(function* () {
      const noCase = yield* typed(["conformance", "--against", "http://127.0.0.1:9", "--case", "chat.nothing"])
      assert.strictEqual(noCase.code, 2)
      assert.include(noCase.stderr, "chat.answer")
      const noAddress = yield* typed(["conformance", "--against", "ftp://127.0.0.1"])
      assert.strictEqual(noAddress.code, 2)
      const noHeader = yield* typed(["conformance", "--against", "http://127.0.0.1:9", "--header", "no header"])
      assert.strictEqual(noHeader.code, 2)
      const gone = yield* typed(["conformance", "--against", "http://127.0.0.1:9", "--case", "chat.answer"])
      assert.strictEqual(gone.code, 1)
    })
  )
})
