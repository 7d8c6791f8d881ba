/** Keys under which answers are kept and calls are shared: the same for the same request, and never for two whose answers may differ. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { cacheKey, withoutForm } from "../../../src/plane/cache/CacheKey.ts"
import { callKey } from "../../../src/plane/features/coalescing/CallKey.ts"
import { answerFields } from "../../../src/plane/features/sharing/AnswerFields.ts"
import type { Work } from "../../../src/plane/request/Exchange.ts"
import { counted } from "../../support/slowRun.ts"

const word = fc.constantFrom("", "a", "b", "ab", ",", '"', "\\", "\n", "k1", "null")
const text = fc.constantFrom<string | undefined>(undefined, "", "a", "b", "a,b")

/** Headers that change an answer. */
const telling = fc.record({
  "anthropic-beta": text,
  "anthropic-version": text,
  "openai-beta": text,
  "x-gateway-budget": text,
  "x-gateway-compression": text,
  "x-gateway-disabled-guardrails": text,
  "x-gateway-mode": text,
  "x-gateway-what-comes-later": text
})

/** Everything that changes an answer, one member each. */
const changing = {
  owner: word,
  wire: fc.constantFrom("chat", "messages", "responses"),
  model: word,
  targets: fc.array(word, { maxLength: 2 }),
  headers: telling,
  outputCap: fc.constantFrom(null, 0, 1),
  thinking: fc.constantFrom(undefined, "a", "b"),
  previous: text,
  system: word,
  messages: fc.array(fc.record({ role: word, content: word }), { maxLength: 2 }),
  tools: fc.array(word, { maxLength: 2 }),
  temperature: fc.constantFrom(0, 0.05)
}
const asked = fc.record(changing)
type Asked = typeof asked extends fc.Arbitrary<infer A> ? A : never

/** How it is asked; changes nothing that is said. */
const form = fc.record({
  stream: fc.constantFrom(undefined, true, false),
  agent: text,
  progress: text,
  tools: text,
  memory: text
})
type Form = typeof form extends fc.Arbitrary<infer A> ? A : never

const headersOf = (all: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))

const workOf = (of: Asked, how: Form, session: string | null = null): Work => {
  const { headers, messages, model, outputCap, owner, previous, system, targets, temperature, thinking, tools, wire } =
    of
  const parsed = {
    model,
    system,
    messages,
    tools,
    temperature,
    ...(how.stream === undefined ? {} : { stream: how.stream })
  }
  const body = Buffer.from(JSON.stringify(parsed))
  const resolution = {
    targets: targets.map((name) => ({ model: name, account: { connection: { id: name }, spec: { id: name } } }))
  }
  const own = {
    "user-agent": how.agent,
    "x-gateway-progress": how.progress,
    "x-gateway-cache-tools": how.tools,
    "x-gateway-no-memory": how.memory
  }
  const exchange = { wire, headers: headersOf({ ...own, ...headers }), path: "/p", fromPath: null, body }
  const envelope = { model }
  const sent = previous === undefined ? parsed : { ...parsed, previous_response_id: previous }
  return {
    owner,
    parsed,
    asked: sent,
    body,
    exchange,
    envelope,
    outputCap,
    thinking,
    resolution,
    sessionId: session
  } as unknown as Work
}

const plain: Form = { stream: undefined, agent: undefined, progress: undefined, tools: undefined, memory: undefined }
const keyOfKept = (work: Work): string => cacheKey(answerFields(work), work.parsed)

const apart = counted(5_000, 50_000)

describe("keys of answers", () => {
  it(`tell requests apart, and nothing else, over ${2 * apart} requests`, () => {
    const requests = new Map<string, string>()
    const calls = new Map<string, string>()
    fc.assert(
      fc.property(asked, form, (each, how) => {
        const said = JSON.stringify([each, headersOf(each.headers)])
        const work = workOf(each, how)
        for (const [known, key, what] of [
          [requests, keyOfKept(work), said],
          [calls, callKey(work), said + JSON.stringify(how.stream)]
        ] as const) {
          assert.strictEqual(known.get(key) ?? what, what)
          known.set(key, what)
        }
      }),
      { numRuns: apart, seed: 23 }
    )
    for (const known of [requests, calls]) assert.strictEqual(new Set(known.values()).size, known.size)
    assert.isAbove(requests.size, 0.8 * apart)
  })

  it("change with each single field", () => {
    fc.assert(
      fc.property(
        asked,
        asked,
        fc.constantFrom(...(Object.keys(changing) as Array<keyof Asked>)),
        (one, other, name) => {
          const changed = { ...one, [name]: other[name] }
          const isSame = JSON.stringify(one[name]) === JSON.stringify(other[name])
          const [first, second] = [workOf(one, plain), workOf(changed, plain)]
          assert.strictEqual(keyOfKept(first) === keyOfKept(second), isSame)
          assert.strictEqual(callKey(first) === callKey(second), isSame)
        }
      ),
      { numRuns: counted(2_000, 20_000), seed: 24 }
    )
  })

  it("are of one session where a call is shared", () => {
    const [each] = fc.sample(asked, { numRuns: 1, seed: 1 })
    if (each === undefined) return assert.fail("nothing was made")
    const [one, other] = [workOf(each, plain, "one"), workOf(each, plain, "other")]
    assert.strictEqual(keyOfKept(one), keyOfKept(other))
    assert.notStrictEqual(callKey(one), callKey(other))
  })

  it("do not look at how an answer is sent", () => {
    const asked = { model: "m", messages: [], stream: true, stream_options: { include_usage: true } }
    assert.deepStrictEqual(withoutForm(asked), { model: "m", messages: [] })
  })
})
