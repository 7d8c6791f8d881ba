import { assert, describe, it } from "@effect/vitest"
import * as machine from "../../../src/cli/doctor/machine.ts"
import { filesFor, openFilesIn, requestsWithin } from "../../../src/platform/files/OpenFiles.ts"

describe("the limit of open files", () => {
  it("is the soft one of the process; null when there is none or no such line", () => {
    const limits =
      "Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 524288               files\n"
    assert.strictEqual(openFilesIn(limits), 1024)
    assert.strictEqual(openFilesIn("Max open files            unlimited            unlimited            files\n"), null)
    assert.strictEqual(openFilesIn(""), null)
  })

  it("has two files for each request", () => {
    for (const requests of [1, 500, 5_000]) assert.strictEqual(requestsWithin(filesFor(requests)), requests)
    assert.strictEqual(requestsWithin(10), 1)
  })

  it("is a warning of the doctor where it is too low for 5,000 streams", () => {
    assert.strictEqual(machine.openFilesOf(null).status, "ok")
    assert.strictEqual(machine.openFilesOf(65_536).status, "ok")
    const low = machine.openFilesOf(1_024)
    assert.strictEqual(low.status, "warn")
    assert.include(low.message, "384 requests")
    assert.include(low.hint ?? "", "ulimit -n 65536")
  })
})

describe("workers", () => {
  it("are a warning of the doctor where they are more than the cores", () => {
    assert.strictEqual(machine.workersOf(2, 2).status, "ok")
    const many = machine.workersOf(4, 1)
    assert.strictEqual(many.status, "warn")
    assert.include(many.hint ?? "", "'auto' or to 1")
  })
})
