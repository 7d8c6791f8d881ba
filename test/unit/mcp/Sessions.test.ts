/** Sessions that callers share the room for. */
import { assert, describe, it } from "@effect/vitest"
import { makeSessions, sessionLimits } from "../../../src/agents/mcp/Sessions.ts"

describe("sessions", () => {
  it("of one caller make room for its own, and end neither another's nor one with a call under way", () => {
    const sessions = makeSessions()
    const other = sessions.begin("other", "key:b", "client", 0)
    const calling = sessions.begin("calling", "key:a", "client", 0)
    let ended = 0
    for (const session of [other, calling]) session?.running.set(1, () => (ended += 1))
    sessions.begin("idle", "key:a", "client", 0)
    for (let at = 0; at < 2 * sessionLimits.most; at += 1) {
      assert.isNotNull(sessions.begin(`s${at}`, "key:a", "client", 1))
    }
    assert.isNotNull(sessions.find("other", "key:b", 2))
    assert.isNotNull(sessions.find("calling", "key:a", 2))
    assert.isNull(sessions.find("idle", "key:a", 2))
    assert.strictEqual(ended, 0)
    assert.strictEqual(sessions.count(), 1 + sessionLimits.most / 2)
    // Its caller may end it, with what runs in it.
    assert.isTrue(sessions.end("calling", "key:a", 2))
    assert.strictEqual(ended, 1)
  })

  it("of many callers go on from the one with the most", () => {
    const sessions = makeSessions()
    for (let at = 0; at < sessionLimits.most / 2; at += 1) sessions.begin(`a${at}`, "key:a", "client", at)
    for (let at = 0; at < sessionLimits.most / 2 - 1; at += 1) sessions.begin(`b${at}`, "key:b", "client", at)
    for (let at = 0; at < 10; at += 1) assert.isNotNull(sessions.begin(`c${at}`, "key:c", "client", 0))
    for (let at = 0; at < 10; at += 1) assert.isNotNull(sessions.find(`c${at}`, "key:c", 1))
    assert.isNull(sessions.find("a0", "key:a", 1))
    assert.isNotNull(sessions.find(`a${sessionLimits.most / 2 - 1}`, "key:a", 1))
    assert.strictEqual(sessions.count(), sessionLimits.most)
  })
})
