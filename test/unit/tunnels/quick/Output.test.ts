import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { nothingYet, readLine, reasonOfEnd, reasonOfSilence } from "../../../../src/net/tunnels/quick/Output.ts"

const read = (...lines: ReadonlyArray<string>) => lines.reduce(readLine, nothingYet)
const at = "2026-09-30T07:31:16Z"

describe("the output of cloudflared", () => {
  it("gives the address of the box", () => {
    const output = read(`${at} INF |  https://able-baker.trycloudflare.com                            |`)
    assert.strictEqual(output.address, "https://able-baker.trycloudflare.com")
    assert.strictEqual(output.connections, 0)
  })

  it("does not take the address that tunnels are asked for at, other names, or half of one", () => {
    for (const text of [
      "INF https://api.trycloudflare.com/tunnel",
      "INF https://evil.example/?https://a.trycloudflare.com.evil.example",
      "INF https://a.trycloudflare.community",
      "INF https://able-baker.trycloud",
      "INF https://-a.trycloudflare.com",
      "ERR cannot reach https://able-baker.trycloudflare.com"
    ]) {
      assert.isNull(read(`${at} ${text}`).address, text)
    }
  })

  it("counts registered connections", () => {
    assert.strictEqual(read(`${at} INF Registered tunnel connection connIndex=0 protocol=http2`).connections, 1)
    assert.strictEqual(read(`${at} ERR not Registered tunnel connection`).connections, 0)
  })

  it("explains ends and silence without paths and control characters", () => {
    const output = read(`${at} ERR cannot read "/root/.cloudflared/cert.pem"\u0007 at C:\\Users\\x\\y now.`)
    assert.strictEqual(reasonOfEnd(output, "ended with 1", ""), 'cloudflared ended with 1: cannot read "…"? at … now.')
    assert.strictEqual(reasonOfEnd(nothingYet, "is gone", `${at} INF  bye `), "cloudflared is gone: bye.")
    assert.include(reasonOfSilence(nothingYet, 5_000), "printed no address within 5 seconds")
    const limited = read(`${at} ERR Error unmarshaling QuickTunnel response: error code: 1015`)
    assert.include(reasonOfEnd(limited, "ended with 1", ""), "rate limited")
  })

  it("is bounded for any lines", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(FastCheck.string({ maxLength: 4_096, unit: "binary" })), (lines) => {
        const output = read(...lines)
        assert.isAtMost(reasonOfEnd(output, "ended with 1", lines[0] ?? "").length, 300)
      }),
      { numRuns: 50 }
    )
  })
})
