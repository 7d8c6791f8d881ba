import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { type ContractError, statusOf, toBody } from "../../../src/contract/Errors.ts"
import { answered } from "../../../src/entry/handling/Answers.ts"
import * as Errors from "../../../src/subjects/Errors.ts"
import { SettingsContradict } from "../../../src/plane/resilience/Settings.ts"
import { StoreError } from "../../../src/store/Errors.ts"

const problem = { field: "name", message: "is too long" }

/** Every refusal with its status and the field it names. */
const refusals: ReadonlyArray<readonly [Errors.ManagementError, status: number, param: string | undefined]> = [
  [new Errors.EntityNotFound({ entity: "combo", id: "x" }), 404, "id"],
  [new Errors.EntityNotFound({ entity: "alias", id: "x", field: "alias" }), 404, "alias"],
  [new Errors.InvalidInput({ problems: [problem] }), 400, "name"],
  [new Errors.UnknownProvider({ provider: "x" }), 400, "provider"],
  [new SettingsContradict({ problems: [problem] }), 400, "name"],
  [new Errors.NameTaken({ field: "prefix", name: "x", holder: "node" }), 409, "prefix"],
  [new Errors.ComboInUse({ name: "x", users: ["y"] }), 409, undefined],
  [new Errors.PrefixInUse({ prefix: "x" }), 409, "prefix"],
  [new Errors.ConnectionLimitReached({ prefix: "x" }), 409, "provider"],
  [new Errors.ConnectionReadOnly({ id: "x" }), 403, undefined],
  [new Errors.ModelsNotListed({ reason: "no answer" }), 502, undefined],
  [new StoreError({ operation: "ComboRepo.list", cause: "disk full" }), 503, undefined]
]

describe("answers to refusals of the management", () => {
  for (const [refusal, status, param] of refusals) {
    it.effect(`${refusal._tag} is a ${status}${param === undefined ? "" : ` that names '${param}'`}`, () =>
      Effect.gen(function* () {
        const answer: ContractError = yield* Effect.flip(answered(Effect.fail(refusal)))
        assert.strictEqual(statusOf[answer._tag], status)
        const { error } = toBody(answer)
        assert.strictEqual(error.param, param)
        assert.notInclude(error.message, "disk full")
      }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))
    )
  }

  it.effect("leave other failures as they are", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* Effect.flip(answered(Effect.fail("another"))), "another")
    })
  )
})
