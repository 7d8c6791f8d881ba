import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib"
import {
  type BodyLimits,
  type CapturedBody,
  decodeBody,
  showBody,
  textOf
} from "../../../src/observe/inspector/Bodies.ts"
import { coreOf, shapedSecrets } from "../../support/KindsOfSecrets.ts"

const limits: BodyLimits = { maskSecrets: true, maxShownBytes: 2_000, maxDecodedBytes: 100_000 }

const captured = (bytes: Buffer, contentEncoding = "", over: Partial<CapturedBody> = {}): CapturedBody => ({
  bytes,
  size: bytes.length,
  contentEncoding,
  contentType: "application/json",
  ...over
})

const shown = (body: CapturedBody, over: Partial<BodyLimits> = {}) =>
  Effect.promise(async () => {
    const decoded = await decodeBody(body, limits.maxDecodedBytes)
    const { bytes, ...rest } = showBody(decoded, textOf(decoded), body, { ...limits, ...over })
    return { ...rest, decoded, text: bytes.toString(rest.encoding) }
  })

const json = Buffer.from('{"grüße":"ok"}')

describe("a captured body", () => {
  it.effect("is decoded from gzip, deflate (also raw), br, and several of them", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [string, Buffer]> = [
        ["", json],
        ["identity", json],
        ["gzip", gzipSync(json)],
        ["X-GZIP", gzipSync(json)],
        ["deflate", deflateSync(json)],
        ["deflate", deflateRawSync(json)],
        ["br", brotliCompressSync(json)],
        ["gzip, br", brotliCompressSync(gzipSync(json))]
      ]
      for (const [coding, bytes] of cases) {
        const { decoded, encoding, isTruncated, text } = yield* shown(captured(bytes, coding))
        assert.strictEqual(text, json.toString(), coding)
        assert.deepStrictEqual([encoding, isTruncated, decoded.isDecoded], ["utf8", false, true], coding)
      }
    })
  )

  it.effect("is shown as it came where it cannot be decoded", () =>
    Effect.gen(function* () {
      const zstd = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x00])
      for (const [coding, bytes] of [
        ["zstd", zstd],
        ["gzip", json],
        ["gzip, gzip, gzip, gzip", json]
      ] as const) {
        const { decoded, encoding, text } = yield* shown(captured(bytes, coding))
        assert.strictEqual(encoding, "base64", coding)
        assert.strictEqual(text, bytes.toString("base64"), coding)
        assert.isFalse(decoded.isDecoded, coding)
      }
    })
  )

  it.effect("is decoded up to a bound, and what came of a damaged one is shown", () =>
    Effect.gen(function* () {
      const bomb = gzipSync(Buffer.alloc(50_000_000, 97))
      const { decoded, isTruncated, text } = yield* shown(captured(bomb, "gzip"))
      assert.isAtMost(decoded.bytes.length, limits.maxDecodedBytes)
      assert.isTrue(isTruncated)
      assert.match(text, /\[truncated: 2000 of \d+ bytes\]$/)
      const noise = Buffer.from(
        Array.from({ length: 40_000 }, (_, at) => 97 + ((Math.imul(at, 2_654_435_761) >>> 24) % 26))
      )
      const half = gzipSync(noise).subarray(0, -2_000)
      const damaged = yield* shown(captured(half, "gzip"))
      assert.isTrue(damaged.isTruncated)
      assert.isTrue(noise.toString().startsWith(damaged.text.replace(/\[truncated.*$/, "")))
    })
  )

  it.effect("is cut with a notice that tells how much of it is shown, between characters", () =>
    Effect.gen(function* () {
      const text = `"${"€".repeat(2_000)}"`
      const cut = yield* shown(captured(Buffer.from(text)), { maxShownBytes: 1_000 })
      assert.strictEqual(cut.text, `"${"€".repeat(333)}[truncated: 1000 of 6002 bytes]`)
      const whole = yield* shown(captured(Buffer.from("x".repeat(2_000))))
      assert.strictEqual(whole.text, "x".repeat(2_000))
      assert.isFalse(whole.isTruncated)
    })
  )

  it.effect("of which only the beginning was captured has its true size in the notice", () =>
    Effect.gen(function* () {
      const begin = Buffer.from("lorem ipsum ".repeat(400))
      const { isTruncated, text } = yield* shown(captured(begin, "", { size: 1_000_000 }), { maxShownBytes: 100_000 })
      assert.isTrue(isTruncated)
      assert.match(text, /^lorem [\s\S]*\[truncated: \d+ of 1000000 bytes\]$/)
    })
  )

  it.effect("keeps bytes as bytes", () =>
    Effect.gen(function* () {
      const bytes = Buffer.from([0xff, 0xd8, 0xff, 0x00])
      assert.deepInclude(yield* shown(captured(bytes)), { encoding: "base64", text: bytes.toString("base64") })
      const secret = Buffer.concat([bytes, Buffer.from(shapedSecrets["anthropic"] ?? ""), bytes])
      const { text } = yield* shown(captured(secret))
      assert.notInclude(Buffer.from(text, "base64").toString("latin1"), coreOf(shapedSecrets["anthropic"] ?? ""))
    })
  )

  it.effect("shows no secret: masked before it is cut, decoded before it is masked", () =>
    Effect.gen(function* () {
      for (const [kind, secret] of Object.entries(shapedSecrets)) {
        for (const before of [1_990, 1_980, 1_950, 1_900]) {
          const text = JSON.stringify({ a: "x ".repeat(before / 2), b: ` ${secret}`, c: "y ".repeat(500) })
          const { text: seen } = yield* shown(captured(gzipSync(Buffer.from(text)), "gzip"))
          assert.notInclude(seen, coreOf(secret), kind)
          // The capture itself ended in the middle of the secret.
          const end =
            Buffer.byteLength(text.slice(0, text.indexOf(` ${secret.slice(0, 4)}`))) + Math.floor(secret.length * 0.7)
          const cut = yield* shown(captured(Buffer.from(text).subarray(0, end), "", { size: 9_999 }), {
            maxShownBytes: 50_000
          })
          assert.notInclude(cut.text, secret.slice(8, Math.floor(secret.length * 0.7)), kind)
        }
      }
    })
  )

  it.effect("is left as it is where nothing is to be masked", () =>
    Effect.gen(function* () {
      const text = JSON.stringify({ api_key: shapedSecrets["openai"] })
      const { text: seen } = yield* shown(captured(Buffer.from(text)), { maskSecrets: false })
      assert.strictEqual(seen, text)
    })
  )

  it.effect("of a form is masked parameter by parameter", () =>
    Effect.gen(function* () {
      const body = captured(Buffer.from("grant_type=refresh_token&code=f7Gh2kLm9Qw4Zx8V&client_secret=s"), "", {
        contentType: "application/x-www-form-urlencoded"
      })
      const { text } = yield* shown(body)
      assert.strictEqual(text, "grant_type=refresh_token&code=***Zx8V&client_secret=***")
    })
  )
})
