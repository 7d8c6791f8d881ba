import { assert, describe, it } from "@effect/vitest"
import { refusal } from "../../../src/cli/local/refusals.ts"
import * as Errors from "../../../src/subjects/Errors.ts"
import { StoreError } from "../../../src/store/Errors.ts"

const describeStore = () => "The database cannot be used."
const said = (error: Parameters<typeof refusal>[0]) => refusal(error, describeStore)

describe("refusals at the command line", () => {
  it("name the field of a wrong argument", () => {
    const problems = [
      { field: "apiKey", message: "is needed for 'openai'" },
      { field: "name", message: "is too long" }
    ] as const
    const { _tag, message } = said(new Errors.InvalidInput({ problems }))
    assert.strictEqual(_tag, "BadArgument")
    assert.strictEqual(message, "apiKey is needed for 'openai'. name is too long.")
  })

  it("say where the providers are listed", () => {
    const { hint, message } = said(Errors.unknownProvider("nowhere"))
    assert.strictEqual(message, "The provider 'nowhere' is not known.")
    assert.include(hint ?? "", "gateway providers available")
  })

  it("are the sentence of the management otherwise", () => {
    const limit = Errors.tooMany(100, "proxies")
    assert.deepStrictEqual([said(limit)._tag, said(limit).message], ["BadArgument", limit.message])
    const failed = said(new StoreError({ operation: "ComboRepo.list", cause: "disk full" }))
    assert.deepStrictEqual([failed._tag, failed.message], ["CommandFailed", "The database cannot be used."])
  })
})
