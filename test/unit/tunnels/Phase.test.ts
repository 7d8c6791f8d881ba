import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { after, initialStatus, maxReasonChars, readOrigin, type TunnelEvent } from "../../../src/net/tunnels/Phase.ts"

const initial = initialStatus("quick", null, 0)
const through = (events: ReadonlyArray<TunnelEvent>) =>
  events.reduce((status, event, index) => after(status, event, index + 1), initial)

const anEvent: FastCheck.Arbitrary<TunnelEvent> = FastCheck.oneof(
  FastCheck.record({ _tag: FastCheck.constant("Enabled" as const), allowKeyless: FastCheck.boolean() }),
  FastCheck.constant<TunnelEvent>({ _tag: "Entered", targetUrl: "http://127.0.0.1:9" }),
  FastCheck.constantFrom("https://a.example", "http://b.example:8080/", "nonsense", "ftp://c.example").map(
    (publicUrl): TunnelEvent => ({ _tag: "Opened", publicUrl })
  ),
  FastCheck.boolean().map((isFinal): TunnelEvent => ({ _tag: "Failed", reason: "r".repeat(2_000), isFinal })),
  FastCheck.constant<TunnelEvent>({ _tag: "TriedAgain" }),
  FastCheck.constant<TunnelEvent>({ _tag: "AuthNeeded", reason: "log in" }),
  FastCheck.constant<TunnelEvent>({ _tag: "Stopped" })
)

describe("the phases of a tunnel", () => {
  it("goes from stopped over starting to running and back", () => {
    const enabled = through([
      { _tag: "Enabled", allowKeyless: true },
      { _tag: "Entered", targetUrl: "http://127.0.0.1:9" }
    ])
    assert.deepInclude(enabled, { phase: "starting", running: false, targetUrl: "http://127.0.0.1:9", sinceMs: 1 })
    const open = after(enabled, { _tag: "Opened", publicUrl: "https://a.example/" }, 5)
    assert.deepInclude(open, {
      phase: "running",
      running: true,
      publicUrl: "https://a.example",
      apiUrl: "https://a.example/v1",
      sinceMs: 5,
      allowKeyless: true
    })
    assert.deepStrictEqual(after(open, { _tag: "Stopped" }, 6), { ...initial, sinceMs: 6 })
  })

  it("counts the tries that follow a failure, from zero again when it is enabled", () => {
    const again = through([
      { _tag: "Enabled", allowKeyless: false },
      { _tag: "Entered", targetUrl: "http://127.0.0.1:9" },
      { _tag: "Failed", reason: "gone", isFinal: false },
      { _tag: "TriedAgain" }
    ])
    assert.deepInclude(again, { phase: "starting", restarts: 1, lastError: "gone", targetUrl: "http://127.0.0.1:9" })
    assert.deepInclude(after(again, { _tag: "Enabled", allowKeyless: false }, 9), { restarts: 0, lastError: null })
  })

  it("has an address exactly while it is running, whatever happens", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(anEvent, { maxLength: 30 }), (events) => {
        const status = through(events)
        assert.strictEqual(status.running, status.phase === "running")
        assert.strictEqual(status.publicUrl !== null, status.running)
        assert.strictEqual(status.apiUrl, status.publicUrl === null ? null : `${status.publicUrl}/v1`)
        if (status.phase === "stopped") assert.isNull(status.targetUrl)
        if (status.phase === "stopped") assert.isFalse(status.allowKeyless)
        if (status.phase === "needs_auth" || status.phase === "error") assert.isNotNull(status.lastError)
        assert.isAtMost(status.lastError?.length ?? 0, maxReasonChars)
      })
    )
  })

  it("is left from stopped by nothing but being enabled", () => {
    FastCheck.assert(
      FastCheck.property(anEvent, (event) => {
        const next = after(initial, event, 7)
        assert.strictEqual(next.phase, event._tag === "Enabled" ? "starting" : "stopped")
      })
    )
  })

  it("takes origins of http and https only", () => {
    assert.strictEqual(readOrigin("http://[::1]:8080/"), "http://[::1]:8080")
    for (const text of ["", "https://a.example/path", "https://u:p@a.example", "https://a.example?q", "javascript:1"]) {
      assert.isNull(readOrigin(text))
    }
  })
})
