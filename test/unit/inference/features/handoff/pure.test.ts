/** The pure rooms of the hand-off: when, from what, what is taken of an answer, what is kept. */
import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { operatorsOwn } from "../../../../../src/contract/domain/ContentPermission.ts"
import { decodeStored, noPolicy } from "../../../../../src/subjects/combos/entity/ComboPolicy.ts"
import { hasMovedOn, isDue, usedShare } from "../../../../../src/plane/features/handoff/Rules.ts"
import { makeSummaries } from "../../../../../src/plane/features/handoff/Summaries.ts"
import { handoffText, markOf, maxSummaryChars, summaryIn } from "../../../../../src/plane/features/handoff/Summary.ts"
import {
  maxTranscriptBytes,
  countMessages,
  transcriptOf
} from "../../../../../src/plane/features/handoff/Transcript.ts"
import { bodyWith, conversationWith } from "../../../../../src/plane/request/AddedSystem.ts"
import type { QuotaWindow } from "../../../../../src/plane/routing/candidate/Candidate.ts"
import type { Message, Part } from "../../../../../src/wire/canonical/Conversation.ts"
import { chat } from "../../../../../src/wire/chat/Codec.ts"
import * as Either from "effect/Either"

const message = (role: Message["role"], ...parts: ReadonlyArray<Part>): Message => ({ role, parts })
const text = (value: string): Part => ({ type: "text", text: value })

describe("when", () => {
  const share = (...windows: ReadonlyArray<QuotaWindow>) => usedShare(windows, 1_000)

  it("goes by the scarcest window, and by no limit that is soon over", () => {
    assert.strictEqual(share(), 0)
    const daily = { window: "daily", remaining: 0.5, resetAtMs: null } as const
    const weekly = { window: "weekly", remaining: 0.1, resetAtMs: null } as const
    assert.closeTo(share(daily, weekly), 0.9, 1e-9)
    assert.strictEqual(share({ window: "rate", remaining: 0.1, resetAtMs: 60_000 }), 0)
    assert.strictEqual(share({ window: "rate", remaining: 0.1, resetAtMs: null }), 0)
    assert.closeTo(share({ window: "rate", remaining: 0.1, resetAtMs: 3_600_000 }), 0.9, 1e-9)
  })

  it("from the threshold on, and not when nothing is left to spare", () => {
    const rules = noPolicy
    assert.deepStrictEqual(
      [0.84, 1 - 0.15, 1 - (1 - 0.85), 0.949, 0.95, 1].map((used) => isDue(rules, used)),
      [false, true, true, true, false, false]
    )
    assert.isTrue(isDue(decodeStored({ handoffThreshold: 0.5 }), 0.5))
  })

  it("reads the config, where empty means the default", () => {
    const empty = { handoffThreshold: 0.85, handoffModel: null, handoffProviders: null, maxMessagesForSummary: 30 }
    assert.deepInclude(noPolicy, empty)
    assert.deepInclude(
      decodeStored({ handoffThreshold: null, handoffModel: " ", handoffProviders: [], maxMessagesForSummary: null }),
      empty
    )
    const given = { handoffModel: "a/m", handoffProviders: ["a"], maxMessagesForSummary: 4 }
    assert.deepInclude(decodeStored(given), { handoffThreshold: 0.85, ...given, handoffProviders: new Set(["a"]) })
  })

  it("again after ten messages more, or fewer", () => {
    assert.deepStrictEqual(
      [1, 2, 11, 12, 20, 22].map((messages) => hasMovedOn(12, messages)),
      [true, true, false, false, false, true]
    )
  })
})

describe("the transcript", () => {
  const messages = [
    message("system", text("secret rules")),
    message("user", text("look it up"), { type: "image", source: { kind: "url", url: "https://x.test/y" } }),
    message(
      "assistant",
      { type: "reasoning", text: "hidden" },
      { type: "tool_call", id: "1", name: "look", kind: "function", args: "{}" }
    ),
    message("tool", { type: "tool_result", callId: "1", content: [{ type: "text", text: "found" }], isError: false }),
    message("assistant", text("done"))
  ]

  it("tells what was said and done, without system prompts, media and reasoning", () => {
    assert.strictEqual(
      transcriptOf(messages, 30),
      [
        "user: look it up\n[image]\n",
        "assistant: [calls look: {}]\n",
        "tool: [tool result: found]\n",
        "assistant: done\n"
      ].join("\n")
    )
    assert.strictEqual(transcriptOf(messages, 1), "assistant: done\n")
    assert.strictEqual(countMessages(messages), 4)
    assert.strictEqual(transcriptOf([messages[0] ?? message("user")], 30), "")
  })

  it("never outgrows its bound, whatever the characters", () => {
    const texts = FastCheck.array(FastCheck.string({ unit: "binary", maxLength: 30 }), { minLength: 1, maxLength: 8 })
    FastCheck.assert(
      FastCheck.property(texts, FastCheck.integer({ min: 1, max: 2_000 }), (words, times) => {
        const long = words.map((word) => message("user", text(`${word}x`.repeat(times))))
        const told = transcriptOf(long, 30)
        assert.isAtMost(Buffer.byteLength(told), maxTranscriptBytes + 200)
        assert.isTrue(told.endsWith("x\n"))
      }),
      { seed: 7, numRuns: 60 }
    )
  })
})

describe("the answer", () => {
  const told = { summary: "s", keyDecisions: ["d"], taskProgress: "p", activeEntities: ["e"] }

  it("is read also behind a fence, and refused without a summary", () => {
    assert.deepStrictEqual(JSON.parse(summaryIn(`Sure:\n\`\`\`json\n${JSON.stringify(told)}\n\`\`\``) ?? ""), told)
    const bare = JSON.parse(summaryIn('{"summary":"s","keyDecisions":"no list"}') ?? "")
    assert.deepStrictEqual(bare, { summary: "s", keyDecisions: [], taskProgress: "", activeEntities: [] })
    for (const none of ["", "no", "{}", '{"summary":""}', '{"summary":1}', "[1]", '{"summary":"cut', "} {"]) {
      assert.isNull(summaryIn(none), none)
    }
  })

  it("keeps to its limits, whatever a model writes", () => {
    const words = FastCheck.array(FastCheck.string({ unit: "binary", maxLength: 400 }), { maxLength: 30 })
    const many = FastCheck.record({
      summary: FastCheck.string({ unit: "binary", minLength: 1, maxLength: 6_000 }),
      keyDecisions: words,
      taskProgress: FastCheck.string({ unit: "binary", maxLength: 2_000 }),
      activeEntities: words
    })
    FastCheck.assert(
      FastCheck.property(many, (answer) => {
        const kept = summaryIn(JSON.stringify(answer))
        if (answer.summary.trim() === "") return assert.isNull(kept)
        assert.isAtMost(kept?.length ?? Infinity, maxSummaryChars)
        const read = JSON.parse(kept ?? "")
        assert.isAtMost(read.keyDecisions.length, 8)
        assert.isAtMost(read.activeEntities.length, 10)
        assert.isTrue(answer.summary.trim().startsWith(read.summary))
      }),
      { seed: 7, numRuns: 200 }
    )
    const long = "word ".repeat(1_000)
    const list = Array.from({ length: 20 }, () => long)
    const full = summaryIn(
      JSON.stringify({ summary: long, keyDecisions: list, taskProgress: long, activeEntities: list })
    )
    const read = JSON.parse(full ?? "")
    assert.isAtLeast(read.summary.length, 790)
    assert.isAtLeast(read.keyDecisions.length, 3)
    assert.isAtLeast(full?.length ?? 0, maxSummaryChars - 5)
  })

  it("carries a mark that is the same for the same summary", () => {
    assert.isTrue(handoffText("x").startsWith(markOf("x")))
    assert.notStrictEqual(markOf("x"), markOf("y"))
  })
})

describe("what is kept", () => {
  const kept = (summary: string | null) => ({ summary, messages: 3, connectionId: "c", from: "a/m" })

  it("ends after its time", () => {
    const summaries = makeSummaries()
    summaries.keep(operatorsOwn, "s", kept("x"), 0)
    const fiveHours = 5 * 60 * 60_000
    assert.strictEqual(summaries.of("s", fiveHours - 1)?.summary, "x")
    assert.isNull(summaries.of("s", fiveHours))
    assert.deepStrictEqual([summaries.entries(), summaries.bytes()], [0, 0])
  })

  it("is bounded by number and by bytes, the oldest goes", () => {
    const summaries = makeSummaries({ maxEntries: 2, maxBytes: 10_000, ttlMs: 1_000 })
    for (const key of ["a", "b", "a", "c"]) summaries.keep(operatorsOwn, key, kept(key), 0)
    assert.deepStrictEqual(
      ["a", "b", "c"].map((key) => summaries.of(key, 1)?.summary ?? null),
      ["a", null, "c"]
    )
    summaries.keep(operatorsOwn, "d", kept("x".repeat(4_600)), 1)
    assert.deepStrictEqual([summaries.entries(), summaries.of("d", 1)?.messages], [1, 3])
    assert.isAtMost(summaries.bytes(), 10_000)
    summaries.keep(operatorsOwn, "e", kept(null), 5_000)
    assert.strictEqual(summaries.entries(), 1)
  })
})

describe("the text in a request", () => {
  const carried = { connectionId: "c", from: "a/m", text: "T" }

  it("stands behind the client's own system texts, in whichever form these are", () => {
    const user = { role: "user", content: "Hi" }
    const said = { role: "developer", content: "D" }
    assert.deepStrictEqual(bodyWith("chat", { messages: [said, user] }, carried)["messages"], [
      said,
      { role: "system", content: "T" },
      user
    ])
    const block = { type: "text", text: "S", cache_control: { type: "ephemeral" } }
    assert.deepStrictEqual(bodyWith("messages", { system: [block] }, carried)["system"], [
      block,
      { type: "text", text: "T" }
    ])
    assert.deepStrictEqual(bodyWith("messages", { system: "S" }, carried)["system"], [
      { type: "text", text: "S" },
      { type: "text", text: "T" }
    ])
    assert.strictEqual(bodyWith("responses", { instructions: null }, carried)["instructions"], "T")
    assert.deepStrictEqual(bodyWith("gemini", { system_instruction: "S" }, carried), {
      system_instruction: { parts: [{ text: "S" }, { text: "T" }] }
    })
    assert.deepStrictEqual(
      bodyWith("gemini", { systemInstruction: { role: "system", parts: [{ text: "S" }] } }, carried),
      { systemInstruction: { role: "system", parts: [{ text: "S" }, { text: "T" }] } }
    )
  })

  it("stands in a conversation of nothing but system texts too", () => {
    const decoded = Either.getOrThrow(chat.decodeRequest({ model: "m", messages: [{ role: "system", content: "S" }] }))
    const roles = conversationWith(decoded, carried).messages.map(({ parts, role }) => [role, parts])
    assert.deepStrictEqual(roles, [
      ["system", [{ type: "text", text: "S" }]],
      ["system", [{ type: "text", text: "T" }]]
    ])
  })
})
