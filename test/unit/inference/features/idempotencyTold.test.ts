/** An answer under its key as other gateways are told of it: the same bytes, or the key alone where it is large or was cut. */
import { assert, describe, it } from "vitest"
import { heardAnswer, toldAnswer } from "../../../../src/plane/features/idempotency/Idempotency.ts"
import { mostKeptBytes } from "../../../../src/plane/state/Replica.ts"

const answerOf = (text: string, isEnded = true) => {
  const chunks = [Buffer.from(text.slice(0, 3)), Buffer.from(text.slice(3))]
  const bytes = chunks.reduce((sum, { length }) => sum + length, 0)
  return {
    recorded: { status: 200, headers: ["content-type", "text/event-stream"], chunks, bytes, isEnded },
    facts: { ending: { outcome: "completed" as const, status: 200, error: null }, provider: "up", model: "m" }
  }
}

describe("an answer under its key", () => {
  it("is the same to the byte when others have heard of it", () => {
    const answer = answerOf("data: ü\0 and \u{1f600}\n\n")
    const told: unknown = JSON.parse(JSON.stringify(toldAnswer(answer)))
    const heard = heardAnswer(told as ReturnType<typeof toldAnswer>)
    assert.deepStrictEqual(heard?.facts, answer.facts)
    assert.deepStrictEqual(Buffer.concat([...(heard?.recorded.chunks ?? [])]), Buffer.concat(answer.recorded.chunks))
    assert.deepInclude(heard?.recorded, { status: 200, headers: answer.recorded.headers, bytes: answer.recorded.bytes })
  })

  it("is its key alone where it is large, was cut, or is not kept", () => {
    assert.isNotNull(toldAnswer(answerOf("x".repeat(mostKeptBytes / 2))))
    assert.isNull(toldAnswer(answerOf("x".repeat(mostKeptBytes / 2 + 1))))
    assert.isNull(toldAnswer(answerOf("data: one", false)))
    assert.isNull(toldAnswer(null))
    assert.isNull(heardAnswer(null))
  })
})
