import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { type ContractError, statusOf, toBody } from "../../../src/contract/Errors.ts"
import { answered } from "../../../src/entry/handling/Answers.ts"
import * as Errors from "../../../src/subjects/Errors.ts"
import { SettingsContradict } from "../../../src/plane/resilience/Settings.ts"
import { StoreError } from "../../../src/store/Errors.ts"

const problem = { field: "name", message: "is too long" }

interface Expected {
  readonly status: number
  readonly code: string
  readonly param?: string
  readonly retryAfterMs?: number
}

const message = "A sentence."

/** A refusal of each kind, and of those whose answer has more than the others of its kind. */
const refusals: ReadonlyArray<readonly [Errors.ManagementError, Expected]> = [
  [new Errors.EntityNotFound({ entity: "combo", id: "x" }), { status: 404, code: "not_found", param: "id" }],
  [
    new Errors.EntityNotFound({ entity: "alias", id: "x", field: "alias" }),
    { status: 404, code: "not_found", param: "alias" }
  ],
  [new Errors.InvalidInput({ problems: [problem] }), { status: 400, code: "bad_request", param: "name" }],
  [Errors.unknownProvider("x"), { status: 400, code: "bad_request", param: "provider" }],
  [new SettingsContradict({ problems: [problem] }), { status: 400, code: "bad_request", param: "name" }],
  [Errors.nameTaken("a proxy", "x"), { status: 409, code: "conflict", param: "name" }],
  [Errors.tooMany(100, "proxies"), { status: 409, code: "conflict" }],
  [new Errors.StateConflict({ code: "run_is_over", message }), { status: 409, code: "run_is_over" }],
  [new Errors.ReadOnly({ code: "forbidden", message }), { status: 403, code: "forbidden" }],
  [
    new Errors.QuotaReached({ code: "PROVIDER_QUOTA_EXCEEDED", message, retryAfterMs: 5_000 }),
    { status: 429, code: "PROVIDER_QUOTA_EXCEEDED", retryAfterMs: 5_000 }
  ],
  [
    new Errors.QuotaReached({ code: "MAX_ACTIVE_KEYS_EXCEEDED", message, retryAfterMs: null }),
    { status: 429, code: "MAX_ACTIVE_KEYS_EXCEEDED" }
  ],
  [new Errors.RemoteFailed({ code: "bad_gateway", message }), { status: 502, code: "bad_gateway" }],
  [new Errors.RemoteFailed({ code: "sign_in_failed", message }), { status: 502, code: "sign_in_failed" }],
  [
    new Errors.NotConfigured({ code: "issues_not_configured", message }),
    { status: 501, code: "issues_not_configured" }
  ],
  [new Errors.OperationFailed({ code: "backup_failed", message }), { status: 503, code: "backup_failed" }],
  [new StoreError({ operation: "ComboRepo.list", cause: "disk full" }), { status: 503, code: "service_unavailable" }]
]

describe("answers to refusals of the management", () => {
  for (const [refusal, { code, param, retryAfterMs, status }] of refusals) {
    it.effect(`${refusal._tag} is a ${status} ${code}${param === undefined ? "" : ` that names '${param}'`}`, () =>
      Effect.gen(function* () {
        const answer: ContractError = yield* Effect.flip(answered(Effect.fail(refusal)))
        assert.strictEqual(statusOf[answer._tag], status)
        const { error, errorCode } = toBody(answer)
        assert.strictEqual(error.code, code)
        assert.strictEqual(error.param, param)
        assert.strictEqual(answer.retryAfterMs, retryAfterMs)
        // Only a program that registers keys finds the code at the top, too.
        assert.strictEqual(errorCode, status === 429 ? code : undefined)
        assert.notInclude(error.message, "disk full")
      }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))
    )
  }

  it.effect("a key that was registered before is named beside the error", () =>
    Effect.gen(function* () {
      const refusal = new Errors.StateConflict({
        code: "IDEMPOTENCY_CONFLICT",
        message,
        field: "idempotencyKey",
        keyId: "key-1"
      })
      const answer = yield* Effect.flip(answered(Effect.fail(refusal)))
      assert.deepStrictEqual(toBody(answer), {
        errorCode: "IDEMPOTENCY_CONFLICT",
        keyId: "key-1",
        error: { message, type: "invalid_request_error", code: "IDEMPOTENCY_CONFLICT", param: "idempotencyKey" }
      })
    })
  )

  it.effect("leave other failures as they are", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* Effect.flip(answered(Effect.fail("another"))), "another")
    })
  )
})
