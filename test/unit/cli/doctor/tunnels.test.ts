import { assert, describe, it } from "@effect/vitest"
import type { TunnelView } from "../../../../src/subjects/tunnels/routes.ts"
import { judge } from "../../../../src/cli/doctor/tunnels.ts"

const stopped: TunnelView = {
  backend: "quick",
  phase: "stopped",
  running: false,
  publicUrl: null,
  apiUrl: null,
  targetUrl: null,
  lastError: null,
  warning: null,
  since: "2026-03-01T12:00:00.000Z",
  restarts: 0,
  allowKeyless: false
}
const open: TunnelView = { ...stopped, phase: "running", running: true, apiUrl: "https://a.example/v1" }

describe("the doctor's look at tunnels", () => {
  it("finds nothing wrong with none, or with those that are open", () => {
    assert.deepInclude(judge([stopped]), { status: "ok", message: "No tunnel is open" })
    const found = judge([
      open,
      { ...open, backend: "ssh", apiUrl: "http://b.example/v1" },
      { ...stopped, backend: "mesh" }
    ])
    assert.deepStrictEqual(found, {
      status: "ok",
      message: "quick is open at https://a.example/v1; ssh is open at http://b.example/v1",
      hint: null
    })
  })

  it("says why one is not open, and what to do", () => {
    const broken: TunnelView = { ...stopped, backend: "token", phase: "needs_auth", lastError: "Give an authtoken." }
    const found = judge([open, broken])
    assert.deepInclude(found, {
      status: "warn",
      message: "quick is open at https://a.example/v1; token: Give an authtoken."
    })
    assert.include(found.hint ?? "", "gateway tunnel create token")
    assert.strictEqual(judge([{ ...stopped, phase: "error" }]).status, "warn")
    assert.strictEqual(judge([{ ...stopped, phase: "starting" }]).status, "ok")
  })

  it("warns of one that answers without a key", () => {
    const found = judge([{ ...open, allowKeyless: true }])
    assert.deepStrictEqual([found.status, found.hint?.includes("REQUIRE_API_KEY")], ["warn", true])
  })
})
