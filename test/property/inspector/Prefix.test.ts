/** Chains of hashes know the prefix that two prompts really share, and what is remembered of them agrees with a plain comparison. */
import { assert, describe, it } from "@effect/vitest"
import * as FC from "effect/FastCheck"
import { overlapOf } from "../../../src/observe/inspector/cache/Overlap.ts"
import type { Prompt } from "../../../src/observe/inspector/prompt/Prompt.ts"
import { PromptChains, rootNode } from "../../../src/observe/inspector/cache/PromptChains.ts"
import { promptOf } from "../../../src/observe/inspector/prompt/PromptOrder.ts"
import { commonPrefix } from "../../../src/observe/inspector/diff/CommonPrefix.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"

const run = { seed: 20_261_124, numRuns: 400 }

/** Few texts, so that prompts share some. */
const text = FC.constantFrom("a", "b", "ab", "", "long text of some words", "ü", "🌍")
const block = FC.record({ type: FC.constant("text"), text })
const content = FC.oneof(text, FC.array(block, { maxLength: 3 }))
const message = FC.record({ role: FC.constantFrom("user", "assistant"), content })
const tool = FC.record({ name: FC.constantFrom("x", "y"), description: text })
const body = FC.record({
  tools: FC.array(tool, { maxLength: 2 }),
  system: content,
  messages: FC.array(message, { maxLength: 6 })
})

/** Two bodies of which the second often begins as the first. */
const pair = FC.tuple(body, body, FC.nat(6)).map(([one, other, kept]) => {
  const grown = { ...one, messages: [...one.messages.slice(0, kept), ...other.messages] }
  return [one, kept === 0 ? other : grown] as const
})

/** What differs is found by looking at all that is read of each part. */
const naive = (one: Prompt, other: Prompt): number => {
  const plain = ({ segments }: Prompt) =>
    segments.map(({ kind, message: at, role, text: json }, index) =>
      JSON.stringify([kind, role, at === segments[index - 1]?.message, json])
    )
  const [left, right] = [plain(one), plain(other)]
  const differs = left.findIndex((part, at) => part !== right[at])
  return differs < 0 ? left.length : differs
}

const limits = { maxNodes: 10_000, maxChars: 1_000_000, maxPartChars: 1_000 }
const promptsOf = (bodies: readonly [unknown, unknown]) =>
  bodies.map((one) => promptOf("messages", one as JsonObject)) as [Prompt, Prompt]

describe("the prefix of two prompts", () => {
  it("is the same by chains and by comparison", () => {
    FC.assert(
      FC.property(pair, (bodies) => {
        const [one, other] = promptsOf(bodies)
        const chains = new PromptChains(limits, () => {})
        const path = chains.pathOf(one, "m", new Map())
        chains.keep(path)
        const { again, shared, tail } = overlapOf(
          { end: path.at(-1) ?? rootNode, cachedDepth: path.length },
          chains.pathOf(other, "m", new Map())
        )
        assert.strictEqual(shared, naive(one, other))
        assert.strictEqual(tail.length, one.segments.length - shared)
        assert.isAtMost(again, tail.reduce((sum, { tokens }) => sum + tokens, 0) + 1e-9)
      }),
      run
    )
  })

  it("ends where a message begins in one of them only", () => {
    const blocks = ["a", "b"].map((one) => ({ type: "text", text: one }))
    const [one, other] = promptsOf([
      { messages: [{ role: "user", content: blocks }] },
      { messages: blocks.map((part) => ({ role: "user", content: [part] })) }
    ])
    const chains = new PromptChains(limits, () => {})
    const [path, others] = [one, other].map((prompt) => chains.pathOf(prompt, "m", new Map()))
    const end = path?.at(-1) ?? rootNode
    assert.strictEqual(overlapOf({ end, cachedDepth: 2 }, others ?? []).shared, 0)
    chains.keep(path ?? [])
    assert.strictEqual(overlapOf({ end, cachedDepth: 2 }, chains.pathOf(other, "m", new Map())).shared, 1)
  })

  it("has as many bytes as its parts, and the rest is the rest of the prompt", () => {
    FC.assert(
      FC.property(pair, (bodies) => {
        const [one, other] = promptsOf(bodies)
        const { bytes, firstDifference } = commonPrefix(one, other, "m")
        const shared = naive(one, other)
        const whole = other.segments.slice(0, shared).reduce((sum, part) => sum + part.bytes, 0)
        assert.isAtLeast(bytes, whole)
        assert.isAtMost(bytes, Math.min(one.bytes, other.bytes))
        assert.isAtMost(bytes - whole, other.segments[shared]?.bytes ?? 0)
        const isSame = shared === one.segments.length && shared === other.segments.length
        assert.strictEqual(firstDifference === null, isSame)
        if (isSame) assert.strictEqual(bytes, other.bytes)
      }),
      run
    )
  })
})
