import { assert, describe, it } from "@effect/vitest"
import { Listeners } from "../../../src/kernel/collections/Listeners.ts"

const setUp = () => {
  const listeners = new Listeners()
  const heard: Array<string> = []
  const add = (name: string) => listeners.add(() => heard.push(name))
  return { listeners, heard, add }
}

describe("Listeners", () => {
  it("all hear, each time", () => {
    const { add, heard, listeners } = setUp()
    for (const name of ["a", "b", "c"]) add(name)
    listeners.tell()
    listeners.tell()
    assert.deepStrictEqual(heard, ["a", "b", "c", "a", "b", "c"])
  })

  it("removing one listener removes no other, whichever came first", () => {
    for (const leaver of ["a", "b", "c"]) {
      const { add, heard, listeners } = setUp()
      const takeOut = new Map(["a", "b", "c"].map((name) => [name, add(name)]))
      takeOut.get(leaver)?.()
      takeOut.get(leaver)?.()
      add("d")
      listeners.tell()
      assert.deepStrictEqual(
        heard.toSorted(),
        ["a", "b", "c", "d"].filter((name) => name !== leaver)
      )
    }
  })

  it("one that another takes out on the way is left out", () => {
    const { heard, listeners } = setUp()
    let takeOut = (): void => {}
    listeners.add(() => takeOut())
    takeOut = listeners.add(() => heard.push("never"))
    listeners.add(() => heard.push("last"))
    listeners.tell()
    assert.deepStrictEqual(heard, ["last"])
  })

  it("after clear no listener is called", () => {
    const { add, heard, listeners } = setUp()
    add("a")
    add("b")
    listeners.clear()
    listeners.tell()
    assert.deepStrictEqual(heard, [])
  })
})
