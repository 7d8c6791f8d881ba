import { assert, describe, it } from "@effect/vitest"
import { snapshot } from "../../../src/plane/providers/Catalog.ts"
import { connection, node } from "../../support/Records.ts"

const first = connection({ id: "c1", provider: "mine" })
const second = connection({ id: "c2", provider: "mine", priority: 1 })
const mine = node({ prefix: "mine" })

describe("Catalog.snapshot", () => {
  it("keeps the account of a connection that has not changed, and of no other", () => {
    const before = snapshot([first, second], [mine], [])
    const after = snapshot(
      [first, { ...second, models: ["new"] }, connection({ id: "c3", provider: "mine" })],
      [mine],
      []
    )
    assert.strictEqual(after.byConnection.get("c1"), before.byConnection.get("c1"))
    assert.notStrictEqual(after.byConnection.get("c2"), before.byConnection.get("c2"))
    assert.deepStrictEqual(after.byConnection.get("c2")?.connection.models, ["new"])
    assert.lengthOf(after.accounts, 3)
  })

  it("makes every account of a node that has changed anew", () => {
    const before = snapshot([first, second], [mine], [])
    const moved = { ...mine, baseUrl: "https://elsewhere.test/v1" }
    const after = snapshot([first, second], [moved], [])
    for (const id of ["c1", "c2"]) {
      assert.notStrictEqual(after.byConnection.get(id), before.byConnection.get(id))
      assert.strictEqual(after.byConnection.get(id)?.spec.baseUrl, "https://elsewhere.test/v1")
      assert.notDeepEqual(
        after.byConnection.get(id)?.endpoints.chat?.origin,
        before.byConnection.get(id)?.endpoints.chat?.origin
      )
    }
  })

  it("orders by priority and age, whatever was known before", () => {
    snapshot([first, second], [mine], [])
    const swapped = snapshot([{ ...first, priority: 9 }, second], [mine], [])
    assert.deepStrictEqual(
      swapped.accounts.map((account) => account.connection.id),
      ["c2", "c1"]
    )
  })
})
