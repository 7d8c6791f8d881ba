import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { laterTopics, pairsOf, topics } from "../../../../src/plane/cache/semantic/Paraphrases.ts"
import { mayShare, wordingOf } from "../../../../src/plane/cache/semantic/Wording.ts"

const exactOf = (text: string): string => wordingOf(text).exact
const share = (one: string, other: string): boolean => mayShare(wordingOf(one), wordingOf(other))

const sameFacts: ReadonlyArray<readonly [string, string]> = [
  ["How tall is the Eiffel Tower?", "What is the height of the Eiffel Tower?"],
  ["Why don't cats swim?", "Why do cats not swim?"],
  ["Convert 10 miles", "10 miles, converted."],
  ['What does "ls" do?', "Explain “ls”"],
  ["Wie hoch ist der Berg?", "Welche Höhe hat der Berg?"]
]

const otherFacts: ReadonlyArray<readonly [string, string]> = [
  ["Convert 10 miles", "Convert 11 miles"],
  ["Convert 1.5 miles", "Convert 15 miles"],
  ["Is -4 even?", "Is 4 even?"],
  ["Run 5km", "Run 5mi"],
  ["Which is 5%?", "Which is 5?"],
  ['What does "ls" do?', 'What does "rm" do?'],
  ["What does `ls -l` do?", "What does `ls -a` do?"],
  ["Is it safe?", "Is it not safe?"],
  ["List animals that can fly", "List animals that can't fly"],
  ["With sugar", "Without sugar"],
  ["Ist es sicher?", "Ist es nicht sicher?"],
  ["¿Es seguro?", "¿No es seguro?"],
  ["Est-ce sûr ?", "N'est-ce pas sûr ?"],
  ["É seguro?", "Não é seguro?"],
  ["Apakah aman?", "Apakah tidak aman?"],
  ["安全ですか", "安全ではないですか"],
  ["这个安全吗", "这个不安全吗"]
]

const sharing: ReadonlyArray<readonly [string, string]> = [
  ["How do I reset my password?", "How can I reset a password, please?"],
  ["What is the capital of France?", "Tell me the capital of France."],
  ["What is the capital of France?", "Which city is the capital of France?"],
  ["How do I read a file line by line in Go?", "In Go, how do I read a file line by line?"],
  ["Which museums are open?", "Which museum is open?"],
  ["东京有多少人", "东京有多少人？"]
]

const notSharing: ReadonlyArray<readonly [string, string]> = [
  ["What is the capital of Austria?", "What is the capital of Australia?"],
  ["Sort the list ascending", "Sort the list descending"],
  ["From Paris to London", "From London to Paris"],
  ["Convert string to integer", "Convert integer to string"],
  ["Did Germany beat Brazil?", "Did Brazil beat Germany?"],
  ["When is the museum open?", "When is the museum open on Sunday?"],
  ["How do I delete a file?", "How do I securely delete a file?"],
  ["What should I eat before a run?", "What should I eat after a run?"],
  ["东京有多少人", "大阪有多少人"]
]

describe("Wording", () => {
  it("is the same where only other words are used", () => {
    for (const [one, other] of sameFacts) assert.strictEqual(exactOf(one), exactOf(other), `${one} / ${other}`)
  })

  it("tells numbers, names in quotes and negations apart", () => {
    for (const [one, other] of otherFacts) {
      assert.notStrictEqual(exactOf(one), exactOf(other), `${one} / ${other}`)
      assert.isFalse(share(one, other))
    }
  })

  it("lets questions share an answer that ask for the same things in the same order", () => {
    for (const [one, other] of sharing) assert.isTrue(share(one, other) && share(other, one), `${one} / ${other}`)
    for (const [one, other] of notSharing) assert.isFalse(share(one, other) || share(other, one), `${one} / ${other}`)
  })

  it("does not depend on which of the two came first, and a question is itself", () => {
    const text = fc.oneof(fc.constantFrom(...topics.flat(2)), fc.lorem(), fc.string({ unit: "binary" }))
    fc.assert(
      fc.property(text, text, (one, other) => {
        assert.strictEqual(share(one, other), share(other, one))
        assert.isTrue(share(one, one))
      })
    )
  })

  it("tells all but a few of the similar questions apart by the words alone", () => {
    const others = pairsOf([...topics, ...laterTopics]).filter(({ isSame }) => !isSame)
    const taken = others.filter(({ one, other }) => share(one, other))
    assert.isAtLeast(others.length, 4_000)
    assert.isAtMost(taken.length / others.length, 0.01)
  })

  it("tells any two numbers apart, whatever stands around them", () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.lorem(), (one, other, text) => {
        fc.pre(one !== other)
        assert.notStrictEqual(exactOf(`${text} ${one} end`), exactOf(`${text} ${other} end`))
      })
    )
  })

  it("sees a negation at any place between words", () => {
    const denials = "not never nicht kein nunca sin pas sans não sem tidak bukan 不 ない".split(" ")
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("tall", "house", "is", "Berg")),
        fc.nat(),
        fc.constantFrom(...denials),
        (words, at, no) => {
          const denied = words.toSpliced(at % (words.length + 1), 0, no)
          assert.notStrictEqual(exactOf(words.join(" ")), exactOf(denied.join(" ")))
        }
      )
    )
  })

  it("takes any text, and one of a megabyte", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => exactOf(text) === exactOf(text)))
    for (const piece of ["1", "a", '"', "'", "1,", "n't ", "$"]) {
      const long = wordingOf(piece.repeat(Math.floor(1_048_576 / piece.length)))
      assert.isTrue(mayShare(long, long))
    }
  })
})
