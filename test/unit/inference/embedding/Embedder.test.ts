import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import * as Embedder from "../../../../src/plane/embedding/Embedder.ts"
import { type InnerAnswer, InnerRequests } from "../../../../src/plane/InnerRequests.ts"

const answered = (body: unknown, status = 200): InnerAnswer => ({
  requestId: "req_1",
  status,
  body: JSON.stringify(body),
  latencyMs: 1,
  retryAfterMs: null,
  tokens: null,
  error: null
})

const over = (ask: typeof InnerRequests.Service.ask) =>
  Embedder.layer.pipe(
    Layer.provide(Layer.succeed(InnerRequests, InnerRequests.of({ ask, relay: () => {}, hear: () => Effect.void })))
  )

const embed = (texts: ReadonlyArray<string>) =>
  Effect.flatMap(Embedder.Embedder, (embedder) =>
    embedder.embed({ principal: { _tag: "Anonymous" }, model: "up/e", texts, timeoutMs: 1_000 })
  )

describe("Embedder", () => {
  it("takes vectors by their index and scales them to length 1", () => {
    const body = {
      data: [
        { index: 1, embedding: [0, 2] },
        { index: 0, embedding: [3, 4] }
      ]
    }
    const vectors = Embedder.vectorsOf(JSON.stringify(body), 2) ?? []
    assert.deepStrictEqual(
      vectors.map((vector) => Array.from(vector)),
      [
        [Math.fround(0.6), Math.fround(0.8)],
        [0, 1]
      ]
    )
  })

  it("takes no vectors that are missing, broken, empty or of two lengths", () => {
    const cases: ReadonlyArray<readonly [unknown, number]> = [
      [{}, 1],
      [{ data: [] }, 1],
      [{ data: [{ embedding: [] }] }, 1],
      [{ data: [{ embedding: [0, 0] }] }, 1],
      [{ data: [{ embedding: [1, "2"] }] }, 1],
      [{ data: [{ embedding: [1, null] }] }, 1],
      [{ data: [{ embedding: "AAAA" }] }, 1],
      [
        {
          data: [
            { index: 0, embedding: [1] },
            { index: 0, embedding: [1] }
          ]
        },
        2
      ],
      [{ data: [{ embedding: [1] }, { embedding: [1, 2] }] }, 2]
    ]
    for (const [body, count] of cases) assert.isNull(Embedder.vectorsOf(JSON.stringify(body), count))
    assert.isNull(Embedder.vectorsOf("not JSON", 1))
  })

  it.effect("asks for no text that is empty or too long, and for not too many", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: Embedder.maxTexts + 1 }, () => "a")
      for (const texts of [[], [" "], ["a".repeat(Embedder.maxTextChars + 1)], many]) {
        assert.strictEqual((yield* Effect.flip(embed(texts)))._tag, "NotEmbeddable")
      }
    }).pipe(Effect.provide(over(() => Effect.die("nothing may be asked"))))
  )

  it.effect("fails with the status and the code, and without words of the upstream", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(embed(["secret words"]))
      assert(error._tag === "EmbeddingFailed")
      assert.deepStrictEqual([error.status, error.reason], [429, "rate_limited"])
    }).pipe(
      Effect.provide(
        over(() => Effect.succeed(answered({ error: { message: "secret words", code: "rate_limited" } }, 429)))
      )
    )
  )

  it.effect("gives up in time, and ends the request", () =>
    Effect.gen(function* () {
      const ended = yield* Deferred.make<void>()
      const fiber = yield* embed(["a"]).pipe(
        Effect.flip,
        Effect.provide(over(() => Effect.onInterrupt(Effect.never, () => Deferred.succeed(ended, undefined)))),
        Effect.fork
      )
      yield* TestClock.adjust(1_000)
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "EmbeddingTimedOut")
      yield* Deferred.await(ended)
    })
  )
})
