import { assert, describe, it } from "@effect/vitest"
import { own, sharedNames, sharedParameters } from "../../../src/store/usage/UsageColumns.ts"
import { listsOf, unnested } from "../../../src/store/usage/UsageUnnest.ts"
import { usageRow } from "../../support/usageRow.ts"

const rows = ["key-1", "key-2", "key-1"].map((apiKeyId, at) =>
  usageRow({
    id: `row-${at}`,
    requestId: `row-${at}`,
    apiKeyId,
    requestedModel: `say "NULL", \\ or {,}`,
    ttftMs: at === 0 ? null : at
  })
)
const facts = rows.slice(0, 2).map((row) => sharedParameters(row).concat("node"))
const lists = listsOf({ facts, rows, places: [0, 1, 0] })
const listOf = (name: string) => {
  const shared = sharedNames.indexOf(name)
  return lists[shared >= 0 ? shared : sharedNames.length + 1 + own.indexOf(name)]
}

describe("rows that are inserted over Postgres", () => {
  it("are one statement with a list for each column, whatever their number", () => {
    assert.lengthOf(lists, unnested.split("?").length - 1)
  })

  it("have the place of their facts, which are sent once", () => {
    assert.strictEqual(lists[sharedNames.length], "{1,2,1}")
    assert.strictEqual(listOf("api_key_id"), `{"key-1","key-2"}`)
  })

  it("keep what Postgres reads as a sign in a list", () => {
    const model = String.raw`"say \"NULL\", \\ or {,}"`
    assert.strictEqual(listOf("requested_model"), `{${model},${model}}`)
    assert.strictEqual(listOf("ttft_ms"), "{NULL,1,2}")
    assert.strictEqual(listOf("request_id"), "{NULL,NULL,NULL}")
  })
})
