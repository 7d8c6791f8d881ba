/** When a registered server is asked, left alone and closed, on a clock of the test. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import { linkError, type LinkError, type LinkEvents, type OpenLink } from "../../../../src/agents/mcp/upstream/Link.ts"
import { makeUpstreamServer, retryDelayMs, serverLimits } from "../../../../src/agents/mcp/upstream/UpstreamServer.ts"
import type { RpcResponse } from "../../../../src/agents/mcp/protocol/JsonRpc.ts"
import type { ToolCall } from "../../../../src/agents/mcp/Tool.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import * as TestTimers from "../../../support/TestTimers.ts"

const call: ToolCall = {
  caller: { principal: { _tag: "AdminKey" }, scopes: null, ip: "" },
  startedMs: 0,
  listed: { toolsets: null, schemas: null },
  isProgressWanted: false,
  progress: () => {}
}

const results: Readonly<Record<string, JsonObject>> = {
  initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } },
  "tools/list": { tools: [{ name: "t", inputSchema: { type: "object" } }] },
  "tools/call": { content: [{ type: "text", text: "done" }] }
}

/** A server at the other end of a link; the counts are those of its methods, and of how often it was opened and closed. */
const setting = Effect.gen(function* () {
  const timers = yield* TestTimers.make
  const scope = yield* Effect.scope
  const seen = { opened: 0, closed: 0, initialize: 0, "tools/list": 0, "tools/call": 0, changes: 0 }
  const other: { failure: LinkError | null; hangs: boolean; events: LinkEvents | null } = {
    failure: null,
    hangs: false,
    events: null
  }
  const open: OpenLink = (events) =>
    Effect.sync(() => {
      seen.opened += 1
      other.events = events
      return {
        ask: ({ method }, id): Effect.Effect<RpcResponse, LinkError> => {
          const name = String(method) as "initialize" | "tools/list" | "tools/call"
          seen[name] += 1
          if (other.failure !== null) {
            // The connection tells its end first.
            if (other.failure.reason === "ended") events.onEnd(other.failure)
            return other.failure
          }
          if (other.hangs && name === "tools/call") return Effect.never
          return Effect.succeed({ _tag: "Response", id, result: results[name] ?? null, error: null })
        },
        tell: () => Effect.void,
        begun: () => Effect.void,
        close: Effect.sync(() => void (seen.closed += 1))
      }
    })
  const server = makeUpstreamServer({
    name: "s",
    timeoutMs: 30_000,
    connectMs: 10_000,
    idleMs: 300_000,
    open,
    allows: () => true,
    scope,
    timers,
    scrub: (text) => text,
    onChange: () => void (seen.changes += 1)
  })
  return { server, seen, other }
})

describe("a registered server", () => {
  it.scoped("is asked for its tools once a minute, and when they changed", () =>
    Effect.gen(function* () {
      const { other, seen, server } = yield* setting
      assert.strictEqual(server.state().status, "idle")
      const both = yield* Effect.all([server.tools(3_000), server.tools(3_000)], { concurrency: 2 })
      assert.deepStrictEqual(
        both.map((tools) => tools.map(({ name }) => name)),
        [["t"], ["t"]]
      )
      assert.deepInclude(seen, { opened: 1, initialize: 1, "tools/list": 1, changes: 1 })
      yield* TestClock.adjust(serverLimits.toolsTtlMs - 1)
      yield* server.tools(3_000)
      assert.strictEqual(seen["tools/list"], 1)
      yield* TestClock.adjust(1)
      yield* server.tools(3_000)
      assert.strictEqual(seen["tools/list"], 2)
      other.events?.onMessage({ _tag: "Notification", method: "notifications/tools/list_changed", params: {} })
      yield* server.tools(3_000)
      assert.deepInclude(seen, { opened: 1, "tools/list": 3, changes: 2 })
    })
  )

  it.scoped("is closed when it was not used for its idle time, not during a call, and begun again", () =>
    Effect.gen(function* () {
      const { other, seen, server } = yield* setting
      yield* server.tools(3_000)
      yield* TestClock.adjust(200_000)
      assert.isNull((yield* server.call("t", {}, call)).error)
      yield* TestClock.adjust(299_999)
      assert.strictEqual(seen.closed, 0)
      yield* TestClock.adjust(1)
      assert.strictEqual(seen.closed, 1)
      // Its tools are still known.
      assert.strictEqual(server.state().status, "online")
      assert.isNull((yield* server.call("t", {}, call)).error)
      assert.strictEqual(seen.opened, 2)
      other.hangs = true
      const running = yield* Effect.fork(server.call("t", {}, call))
      yield* TestClock.adjust(29_999)
      assert.strictEqual(seen.closed, 1)
      yield* TestClock.adjust(1)
      assert.strictEqual((yield* running).error, "'s' did not answer within 30 seconds.")
    })
  )

  it.scoped("that fails is left alone for a while that grows, and its end is counted once", () =>
    Effect.gen(function* () {
      const { other, seen, server } = yield* setting
      yield* server.tools(3_000)
      const ended = linkError("ended", "ended with 1")
      other.failure = ended
      assert.strictEqual((yield* server.call("t", {}, call)).error, "'s' ended with 1.")
      assert.deepInclude(server.state(), { status: "down", lastError: "ended with 1", tools: null })
      // The first failure may be a restart: it is asked again at once.
      other.failure = linkError("unreachable", "cannot be asked")
      yield* server.tools(3_000)
      const { initialize } = seen
      assert.strictEqual(initialize, 2)
      assert.match((yield* server.call("t", {}, call)).error ?? "", /^'s' cannot be asked; it is asked again in 1 s\.$/)
      assert.strictEqual(seen.initialize, initialize)
      yield* TestClock.adjust(1_000)
      // Lists do not wait for it: it is asked beside them.
      assert.lengthOf(yield* server.listed(3_000), 0)
      yield* TestClock.adjust(0)
      assert.strictEqual(seen.initialize, initialize + 1)
      yield* TestClock.adjust(2_000)
      other.failure = null
      assert.isNull((yield* server.call("t", {}, call)).error)
      assert.lengthOf(yield* server.tools(3_000), 1)
      assert.deepInclude(server.state(), { status: "online", lastError: null })
    })
  )

  it.scoped(
    "has so many calls of one caller under way and no more, which leave room for others, and one that is given up makes room",
    () =>
      Effect.gen(function* () {
        const { other, server } = yield* setting
        yield* server.tools(3_000)
        other.hangs = true
        const running = yield* Effect.forEach(Array.from({ length: serverLimits.calls / 2 }), () =>
          Effect.fork(server.call("t", {}, call))
        )
        yield* TestClock.adjust(0)
        assert.strictEqual(
          (yield* server.call("t", {}, call)).error,
          "'s' has 32 calls under way, 32 of this caller, and takes no more of it now."
        )
        const another: ToolCall = { ...call, caller: { ...call.caller, principal: { _tag: "Anonymous" } } }
        other.hangs = false
        assert.isNull((yield* server.call("t", {}, another)).error)
        other.hangs = true
        const [first] = running
        if (first !== undefined) yield* Fiber.interrupt(first)
        other.hangs = false
        assert.isNull((yield* server.call("t", {}, call)).error)
      })
  )

  it("waits at most a minute before it is asked again", () => {
    assert.deepStrictEqual([0, 1, 2, 3, 8, 9, 1_000].map(retryDelayMs), [0, 0, 1_000, 2_000, 60_000, 60_000, 60_000])
  })
})
