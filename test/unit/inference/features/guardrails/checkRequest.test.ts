/** What becomes of a request where a guardrail itself fails. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { defaultStructuredOutput } from "../../../../../src/contract/domain/AnswerRules.ts"
import { defaultGuardrailSettings } from "../../../../../src/subjects/guardrails/entity.ts"
import * as Detection from "../../../../../src/plane/features/guardrails/Detection.ts"
import type { Active } from "../../../../../src/plane/features/guardrails/Policy.ts"
import { checkRequest } from "../../../../../src/plane/features/guardrails/requests/checkRequest.ts"

const off: Active = {
  sanitiser: false,
  injection: null,
  personalData: false,
  answers: null,
  tools: null,
  structured: defaultStructuredOutput
}
const body = { messages: [{ role: "user", content: "I am jane@example.com" }] }

const fault = (): never => {
  throw new RangeError("Maximum call stack size exceeded")
}
const broken = Effect.map(
  Detection.make(() => defaultGuardrailSettings),
  (detection) => ({ ...detection, findInjections: fault, redactText: fault, redactValue: fault })
)
const missing = Effect.die(new Error("Cannot find module"))

const checked = (active: Partial<Active>, detection: Effect.Effect<Detection.Detection>) => {
  const counts: Array<string> = []
  return Effect.map(
    checkRequest("chat", body, { ...off, ...active }, detection, (detector, action) => {
      counts.push(`${detector}=${action}`)
    }),
    ({ blocked, hasFailed, parsed }) => {
      assert.isTrue(hasFailed)
      assert.strictEqual<object>(parsed, body, "it goes on as it came")
      return { code: blocked?.code ?? null, counts }
    }
  )
}

describe("a guardrail that fails", () => {
  for (const [name, detection] of [
    ["on the request", broken],
    ["to load", missing]
  ] as const) {
    it.effect(`refuses in the mode block of the injection guard: ${name}`, () =>
      Effect.gen(function* () {
        const refused = yield* checked({ injection: "block", personalData: true }, detection)
        assert.deepStrictEqual(refused, { code: "SECURITY_001", counts: ["request=block"] })
      })
    )

    it.effect(`lets the request go on elsewhere, with a mark: ${name}`, () =>
      Effect.gen(function* () {
        for (const active of [
          { injection: "warn" },
          { injection: "redact" },
          { personalData: true },
          { personalData: true, answers: "redact" }
        ] as const) {
          const passed = yield* checked(active, detection)
          assert.deepStrictEqual(passed, { code: null, counts: ["request=unchecked"] })
        }
      })
    )
  }

  it.effect("asks for no answer that could not be checked in the mode block of answers", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* checked({ answers: "block" }, missing)).code, "SECURITY_002")
    })
  )

  it.effect("does nothing to the next request", () =>
    Effect.gen(function* () {
      const detection = Detection.make(() => defaultGuardrailSettings)
      const { hasFailed, parsed } = yield* checkRequest(
        "chat",
        body,
        { ...off, personalData: true },
        detection,
        () => {}
      )
      assert.isFalse(hasFailed)
      assert.include(JSON.stringify(parsed), "[EMAIL_REDACTED]")
    })
  )
})
