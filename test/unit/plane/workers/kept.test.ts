/** What processes of one gateway, or gateways on one database, tell each other of conversations. */
import { assert, describe, it } from "@effect/vitest"
import { operatorsOwn } from "../../../../src/contract/domain/ContentPermission.ts"
import { defaultLimits, makeWith } from "../../../../src/plane/state/kept/OpaqueState.ts"
import {
  type Happened,
  mostGatheredBytes,
  mostKeptBytes,
  SharedFunctions
} from "../../../../src/plane/state/Replica.ts"
import * as Affinity from "../../../../src/plane/routing/decide/Affinity.ts"
import type { Target } from "../../../../src/plane/routing/resolve/ModelResolver.ts"
import type { Conversation } from "../../../../src/wire/canonical/Conversation.ts"

describe("what is kept of a conversation", () => {
  /** Two processes that tell each other as soon as `pass` is called. */
  const makeTwo = () => {
    const due: Array<() => void> = []
    const told: Array<string> = []
    const tellTo = (other: () => SharedFunctions) => (happened: ReadonlyArray<Happened>) => {
      told.push(...happened.map(([name]) => name))
      other().apply(JSON.parse(JSON.stringify(happened)))
    }
    const after = (_delayMs: number, run: () => void) => void due.push(run)
    const pass = (): void => {
      for (const run of due.splice(0)) run()
    }
    const one: SharedFunctions = new SharedFunctions(
      after,
      tellTo(() => two)
    )
    const two: SharedFunctions = new SharedFunctions(
      after,
      tellTo(() => one)
    )
    return { one, two, pass, told }
  }
  const origin = { wire: "messages", provider: "anthropic", connectionId: "c1", model: "claude" } as const

  it("is known to the process that gets the next turn: thinking, whose proofs are whose, the account of a session", () => {
    const { one, pass, told, two } = makeTwo()
    const states = [one, two].map((replica) => makeWith(defaultLimits, replica))
    const affinities = [one, two].map((replica) => Affinity.make(replica))
    const [here, there] = states
    const call = { type: "tool_call", id: "a", name: "read", kind: "function", args: "{}" } as const
    const thinking = { type: "reasoning", text: "Hm.", state: { wire: "messages", signature: "sig" } } as const
    here?.remember(operatorsOwn, "key", origin, [thinking, call])
    here?.noteProofs("key", origin, ["sig"])
    here?.noteProofs("key", origin, [])
    const target = { account: { connection: { id: "c1" } }, model: "claude" } as Target
    affinities[0]?.served("key\nsession", target, 1_000)
    affinities[0]?.served("key\nsession", target, 2_000)
    assert.isNull(affinities[1]?.of("key\nsession", 2_000) ?? null)
    pass()
    assert.deepStrictEqual(told, ["kept.answer", "kept.proofs", "kept.session"])
    const asked = { messages: [{ role: "assistant", parts: [call] }] } as unknown as Conversation
    assert.deepStrictEqual(
      there?.attach("key", origin, asked).messages[0]?.parts.map(({ type }) => type),
      ["reasoning", "tool_call"]
    )
    assert.isTrue(there?.isForeign("key", { ...origin, provider: "another" }, "sig"))
    assert.isFalse(there?.isForeign("another", { ...origin, provider: "another" }, "sig"))
    assert.deepInclude(affinities[1]?.of("key\nsession", 2_000), { connectionId: "c1", model: "claude" })
    // What was told is not told back; a session that moves, or goes on for long, is told again.
    pass()
    assert.lengthOf(told, 3)
    affinities[1]?.served("key\nsession", { ...target, model: "other" } as Target, 3_000)
    affinities[0]?.served("key\nsession", target, 3_600_000)
    pass()
    assert.lengthOf(told, 5)
  })

  it("is not told where it is large, or so much that others would be held up", () => {
    const { one, pass, told } = makeTwo()
    const keep = one.kept(
      "words",
      (words: string) => words.length,
      (words) => words.length
    )
    assert.strictEqual(keep("x".repeat(mostKeptBytes + 1)), mostKeptBytes + 1)
    const large = "x".repeat(mostKeptBytes)
    for (let count = 0; count < 2 * (mostGatheredBytes / mostKeptBytes); count++) keep(large)
    pass()
    assert.lengthOf(told, mostGatheredBytes / mostKeptBytes)
    keep("x")
    pass()
    assert.lengthOf(told, mostGatheredBytes / mostKeptBytes + 1)
  })
})
