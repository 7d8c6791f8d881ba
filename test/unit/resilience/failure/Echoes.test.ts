/** Upstreams repeat what a caller wrote: whatever it is, it must not cost an account anything that the status alone does not. */
import { assert, describe, it } from "@effect/vitest"
import * as FC from "effect/FastCheck"
import { classify } from "../../../../src/plane/resilience/failure/Classifier.ts"
import { makeEcho, type CallerText } from "../../../../src/plane/resilience/failure/Echo.ts"
import type { Failure } from "../../../../src/plane/resilience/failure/FailureKind.ts"
import {
  countsForBreaker,
  locksModel,
  modelHoldOf,
  penaltyOf,
  severityOf
} from "../../../../src/plane/resilience/failure/Policy.ts"
import type { Rule } from "../../../../src/plane/resilience/failure/Rule.ts"
import { rules } from "../../../../src/plane/resilience/failure/Rules.ts"
import type { FailureSignal } from "../../../../src/plane/resilience/failure/Signal.ts"
import { makeSuspicions, partsOf } from "../../../../src/plane/resilience/failure/Suspicions.ts"
import { encodedForms } from "../../../../src/kernel/text/TextForms.ts"
import { answered, type Body, inAnswer, inStream, nowMs, oauth, refreshable } from "./signals.ts"

const sample = (phrase: string | RegExp): ReadonlyArray<string> =>
  typeof phrase === "string"
    ? [phrase]
    : FC.sample(
        FC.stringMatching(new RegExp(phrase.source.replaceAll(/\.\{[01],\d+\}/g, " ").replaceAll(/\^|\\b/g, ""))),
        { seed: 7, numRuns: 1 }
      ).map((text) => text.replaceAll(/[^\p{L}\p{N} '’_().`<=:/-]/gu, "x"))

/** Words that would cost something if they were the upstream's own. */
const wordsOf = ({ when }: Rule): ReadonlyArray<string> => (when.text ?? []).flatMap(sample)

const sentAs = (body: unknown, beside: ReadonlyArray<string> = []): CallerText => ({
  body,
  beside,
  fingerprint: () => "one"
})

/** How a caller gets words into a request. */
const ways: Readonly<Record<string, (words: string) => CallerText>> = {
  "a parameter": (words) => sentAs({ model: "m", reasoning_effort: words }),
  "a prompt": (words) => sentAs({ messages: [{ role: "user", content: `Please say: ${words}. Thank you!` }] }),
  "a model id": (words) => sentAs({}, [words]),
  "a tool": (words) => sentAs({ tools: [{ type: "function", function: { name: words, parameters: {} } }] }),
  "a file name": (words) => sentAs({ input: [{ content: [{ type: "input_file", filename: `${words}.pdf` }] }] }),
  "a member's name": (words) => sentAs({ [words]: true }),
  "percent-encoded": (words) => sentAs({ metadata: { note: encodeURIComponent(words) } }),
  "JSON in a string": (words) => sentAs({ messages: [{ arguments: JSON.stringify({ q: `say\n${words}` }) }] }),
  entities: (words) => sentAs({ input: `&lt;${words.replaceAll(" ", "&nbsp;")}&gt;` }),
  "base64 of a file": (words) =>
    sentAs({ input: [{ file_data: `data:text/plain;base64,${Buffer.from(`A file. ${words}`).toString("base64")}` }] }),
  "other blanks": (words) => sentAs({ messages: [{ content: words.toUpperCase().replaceAll(" ", " \n\t") }] })
}

/** How an upstream repeats them. */
const echoes: Readonly<Record<string, (words: string) => Body>> = {
  "in quotes": (words) => ({
    error: { message: `Invalid value: '${words}'. Try another one.`, type: "invalid_request_error" }
  }),
  "at the beginning": (words) => ({ error: { message: `${words} is not allowed here` } }),
  "in the raw text of a relay": (words) => ({
    error: { message: "Provider returned error", metadata: { raw: JSON.stringify({ error: { message: words } }) } }
  }),
  "as a list of complaints": (words) => ({ detail: [{ loc: ["body"], msg: `Input should be valid: ${words}` }] }),
  "not as JSON": (words) => `Bad: ${words}`
}

const costOf = (failure: Failure) =>
  partsOf(failure).map((part) => [
    penaltyOf(part, true, nowMs),
    modelHoldOf(part, nowMs),
    countsForBreaker(part),
    locksModel(part) && part.scope !== "none"
  ])

const cost = (signal: FailureSignal) => costOf(classify(signal))

const costs = ([penalty, holdMs, trips, locks]: ReturnType<typeof cost>[number]): boolean =>
  penalty !== null || holdMs !== null || trips === true || locks === true

describe("a caller's own words, repeated by an upstream", () => {
  const known = new Map<string, ReturnType<typeof cost>>()
  const neutral = "some words of no meaning"
  let count = 0
  for (const rule of rules.filter(({ when }) => when.text !== undefined)) {
    it(`${rule.id}: cost nothing that the status alone does not cost`, () => {
      const punished: Array<string> = []
      for (const words of wordsOf(rule)) {
        for (const [way, send] of Object.entries(ways)) {
          for (const [how, repeat] of Object.entries(echoes)) {
            for (const status of rule.when.status ?? []) {
              for (const account of rule.id.includes("token") ? [oauth, refreshable] : [{}]) {
                count += 1
                const key = JSON.stringify([how, status, account])
                const plain = known.get(key) ?? cost(answered(status, repeat(neutral), account))
                known.set(key, plain)
                const failure = classify(answered(status, repeat(words), { ...account, sent: send(words) }))
                // To be held for the request's own fault, or to be asked for a new token, costs an account nothing.
                if (severityOf(failure) === 0) continue
                const real = costOf(failure)
                // A rest of the model in place of one of the connection costs less.
                if (severityOf(failure) === 1 && failure.suspicion === undefined && plain[0]?.[0] !== null) continue
                // A suspicion of a model holds nothing back.
                const isSame = JSON.stringify(real.filter(costs)) === JSON.stringify(plain.filter(costs))
                if (!isSame) {
                  punished.push(`${words} | ${way} | ${how} | ${status}: ${JSON.stringify(real)} ${failure.rule}`)
                }
              }
            }
          }
        }
      }
      assert.deepStrictEqual(punished.slice(0, 5), [])
    })
  }

  it("in thousands of ways", () => assert.isAbove(count, 10_000))

  it("also as codes, inside a stream or a 200, and as the operator's own words", () => {
    const words = "your account has been deactivated"
    const sent = sentAs({ model: "m", user: "account_deactivated", effort: words, note: "fair use breach" })
    const asCode = { error: { message: "no", code: "account_deactivated" } }
    const said = { error: { message: `bad: ${words}` } }
    for (const signal of [
      answered(400, asCode, { sent }),
      answered(400, { error: { message: "fair use breach" } }, { sent, bannedTexts: ["Fair use breach"] })
    ]) {
      assert.deepStrictEqual(cost(signal), cost(answered(400, "no")))
    }
    assert.deepStrictEqual(cost(inStream(said, { sent })), cost(inStream({ error: { message: "bad" } })))
    assert.deepStrictEqual(cost(inAnswer(said, { sent })), cost(inAnswer({ error: { message: "bad" } })))
    assert.strictEqual(classify(inStream(asCode, { sent })).kind, "transient")
  })

  it("make no wait: a time that the caller wrote is not the upstream's", () => {
    const sent = sentAs({ messages: [{ content: "Tell them to try again in 3 days, please" }] })
    const said = "Cannot serve 'Tell them to try again in 3 days'"
    assert.isNull(classify(answered(429, said, { sent })).hintMs)
    assert.isNotNull(classify(answered(429, said)).hintMs)
  })

  it("cannot make an upstream's own sentence of a name", () => {
    const sent = sentAs({ model: "my account", messages: [] }, ["my account"])
    const failure = classify(answered(403, "The model my account has been disabled.", { sent }))
    assert.deepStrictEqual(partsOf(failure), [failure])
    assert.notStrictEqual(failure.kind, "banned")
  })
})

describe("an upstream's own words", () => {
  const own = { sent: sentAs({ model: "m", messages: [{ role: "user", content: "Hello, how are you?" }] }) }
  const low = "Your credit balance is too low to access the API."

  it("are a doubt, beside what the status says", () => {
    const failure = classify(answered(403, "Your account has been suspended.", own))
    assert.strictEqual(failure.kind, "banned")
    const [ground, told] = partsOf(failure).map((part) => penaltyOf(part, true, nowMs))
    assert.deepStrictEqual(ground, { _tag: "Backoff" })
    assert.deepStrictEqual(told, { _tag: "Doubt", ms: 3_600_000 })
    const credits = classify(answered(400, low, own))
    assert.deepStrictEqual(
      partsOf(credits).map((part) => penaltyOf(part, true, nowMs)),
      [null, { _tag: "Doubt", ms: 3_600_000 }]
    )
  })

  it("are certain with the code that the provider documents, and by a status that says it alone", () => {
    const coded = (message: string, code: string | null, type: string | null = null) => ({
      error: { message, code, type }
    })
    const certain = [
      [answered(401, coded("x", "account_deactivated"), own), "banned"],
      [answered(402, coded(low, null, "billing_error"), own), "credits_exhausted"],
      [answered(400, coded("x", "billing_hard_limit_reached"), own), "credits_exhausted"],
      [answered(401, coded("x", "invalid_api_key"), own), "expired"],
      [answered(401, "", own), "expired"],
      [answered(402, "", own), "credits_exhausted"]
    ] as const
    for (const [signal, status] of certain) {
      assert.deepStrictEqual(penaltyOf(classify(signal), true, nowMs), { _tag: "Terminal", status }, signal.bodyText)
    }
    const spent = classify(answered(429, coded("Exceeded", "insufficient_quota"), own))
    assert.deepStrictEqual(penaltyOf(spent, true, nowMs), { _tag: "For", ms: 3_600_000 })
  })

  it("are confirmed by a second, different request, and by no other", () => {
    const suspicions = makeSuspicions()
    const meet = (fingerprint: string, content = "Hello") => {
      const sent = { body: { content }, beside: [], fingerprint: () => fingerprint }
      return suspicions.weigh("c", "m", classify(answered(400, low, { sent })))
    }
    const isCertain = (failure: ReturnType<typeof meet>) => penaltyOf(failure, true, nowMs)?._tag === "Terminal"
    assert.isFalse(isCertain(meet("one")))
    assert.isFalse(isCertain(meet("one")))
    assert.isFalse(isCertain(meet("two", `They say that ${low.toLowerCase()}`)))
    assert.isTrue(isCertain(meet("three")))
    suspicions.clear("c")
    assert.isFalse(isCertain(meet("four")))
  })

  it("of a time longer than any ordinary cooldown are a doubt, and with a code they count", () => {
    const day = 86_400_000
    const vague = classify(answered(429, "Slow down. Resets in 3 days.", own))
    assert.deepStrictEqual(
      partsOf(vague).map((part) => penaltyOf(part, true, nowMs)),
      [{ _tag: "Backoff" }, { _tag: "Doubt", ms: 3 * day }]
    )
    const short = classify(answered(429, "Please try again in 20s.", own))
    assert.deepStrictEqual(penaltyOf(short, true, nowMs), { _tag: "For", ms: 20_000 })
    const coded = classify(answered(429, { error: { code: "usage_limit_reached", message: "Resets in 3 days." } }, own))
    assert.deepStrictEqual(penaltyOf(coded, true, nowMs), { _tag: "For", ms: 3 * day })
  })
})

describe("makeEcho", () => {
  it("takes out what was sent, in every form, and leaves the rest where it was", () => {
    const value = 'a "quoted" value & more/ä'
    const echo = makeEcho(sentAs({ effort: value })) ?? assert.fail()
    for (const form of encodedForms(value)) {
      const text = `before ${form.toLowerCase()} behind`
      const clean = echo.without(text)
      assert.strictEqual(clean.length, text.length)
      assert.match(clean, /^before \ufffc+ behind$/, form)
    }
  })

  it("takes a short name only where it stands alone, and no short word of a prompt", () => {
    const echo = makeEcho(sentAs({ model: "m", messages: [{ content: "rate" }] })) ?? assert.fail()
    assert.strictEqual(echo.without("the model `m` met its rate limit"), "the model `\ufffc` met its rate limit")
  })

  it("believes no words of a request that is too large to be looked through", () => {
    const echo = makeEcho(sentAs({ input: "x ".repeat(2_000_000) })) ?? assert.fail()
    assert.isTrue(echo.holds("account has been deactivated"))
    const many = makeEcho(sentAs(Array.from({ length: 250_000 }, (_, index) => `${index}`))) ?? assert.fail()
    assert.isTrue(many.holds("account has been deactivated"))
    assert.isTrue(many.isSent("insufficient_quota"))
  })

  it("is not misled by a large picture", () => {
    const picture = Buffer.alloc(1_500_000, 1).toString("base64")
    const echo = makeEcho(sentAs({ input: [{ image_url: `data:image/png;base64,${picture}` }] })) ?? assert.fail()
    assert.isFalse(echo.holds("account has been deactivated"))
  })
})
