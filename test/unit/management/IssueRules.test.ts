/** Limits on registered keys, and the settings of the tracker. */
import { assert, describe, it } from "@effect/vitest"
import * as Redacted from "effect/Redacted"
import { exceededOf, noIssueLimits } from "../../../src/subjects/registeredKeys/entity.ts"
import { maskSecret } from "../../../src/kernel/text/Masking.ts"
import { changed, tokenProblem } from "../../../src/subjects/issueReports/service.ts"

describe("exceededOf", () => {
  const counts = { activeKeys: 2, dailyIssued: 5, hourlyIssued: 3 }

  it("lets keys be issued up to each limit, and one limit does not hide another", () => {
    assert.isNull(exceededOf(noIssueLimits, counts))
    assert.isNull(exceededOf({ maxActiveKeys: 3, dailyIssueLimit: 6, hourlyIssueLimit: 4 }, counts))
    for (const [limit, most] of [
      ["maxActiveKeys", 2],
      ["dailyIssueLimit", 5],
      ["hourlyIssueLimit", 3]
    ] as const) {
      assert.deepStrictEqual(exceededOf({ ...noIssueLimits, [limit]: most }, counts), { limit, most })
    }
  })

  it("takes 0 for none at all", () => {
    const none = { activeKeys: 0, dailyIssued: 0, hourlyIssued: 0 }
    assert.deepStrictEqual(exceededOf({ ...noIssueLimits, hourlyIssueLimit: 0 }, none), {
      limit: "hourlyIssueLimit",
      most: 0
    })
  })
})

describe("settings of the tracker", () => {
  const token = Redacted.make("ghp_0123456789abcdef")
  const kept = { repository: "octo/issues", apiUrl: "https://api.github.com", token }

  it("keep what is absent and what was read and sent back", () => {
    const masked = Redacted.make(maskSecret(Redacted.value(token)))
    assert.deepStrictEqual(changed(kept, {}), kept)
    assert.deepStrictEqual(changed(kept, { token: masked, repository: null }), { ...kept, repository: null })
    assert.deepStrictEqual(changed(kept, { apiUrl: null, token: null }), { ...kept, token: null })
  })

  it("let a token go to no other host", () => {
    const other = changed(kept, { apiUrl: "https://github.example.com/api/v3/" })
    assert.strictEqual(other.apiUrl, "https://github.example.com/api/v3")
    assert.strictEqual(tokenProblem(kept, other)?.field, "issues.token")
    assert.isNull(tokenProblem(kept, { ...other, token: Redacted.make("another") }))
    assert.strictEqual(tokenProblem(kept, { ...kept, token: Redacted.make("ghp_…cdef") })?.field, "issues.token")
    assert.isNull(tokenProblem(kept, { ...other, token: null }))
    assert.isNull(tokenProblem(kept, changed(kept, { apiUrl: "https://api.github.com/v3" })))
  })
})
