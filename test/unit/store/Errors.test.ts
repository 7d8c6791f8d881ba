import { SqlError } from "@effect/sql/SqlError"
import { assert, describe, it } from "@effect/vitest"
import { describeStoreFailure, failureAt } from "../../../src/store/Errors.ts"

const coded = (code: string) => Object.assign(new Error("the driver's words"), { code })

describe("failureAt", () => {
  it.each([
    ["SQLITE_BUSY_RECOVERY", "DatabaseLocked"],
    ["SQLITE_CORRUPT_INDEX", "DatabaseCorrupt"],
    ["SQLITE_NOTADB", "DatabaseCorrupt"],
    ["SQLITE_READONLY_DIRECTORY", "DataUnwritable"],
    ["SQLITE_IOERR_WRITE", "DataUnwritable"],
    ["EMFILE", "DataUnwritable"],
    ["SQLITE_ERROR", "StoreError"]
  ])("sorts %s under %s, also inside an SqlError", (code, tag) => {
    assert.strictEqual(failureAt("/data/x", coded(code))?._tag, tag)
    assert.strictEqual(failureAt("/data/x", new SqlError({ cause: coded(code) }))?._tag, tag)
  })

  it("says that the disk is full", () => {
    for (const code of ["ENOSPC", "SQLITE_FULL"]) {
      const failure = failureAt("/data/x", coded(code))
      assert.isNotNull(failure)
      assert.strictEqual(describeStoreFailure(failure!), "The gateway cannot write to /data/x: the disk is full.")
    }
  })

  it("leaves what is sorted already as it is", () => {
    const failure = failureAt("/data/x", coded("ENOSPC"))
    assert.strictEqual(failureAt("/data/y", failure), failure)
  })

  it("names the command that mends a driver that cannot be loaded", () => {
    const missing = failureAt("/data/x", new Error("Could not locate the bindings file. Tried:\n → /x/build/a.node"))
    const other = failureAt("/data/x", coded("ERR_DLOPEN_FAILED"))
    for (const failure of [missing, other]) {
      assert.strictEqual(failure?._tag, "DriverMissing")
      assert.include(describeStoreFailure(failure!), "npm rebuild better-sqlite3")
      assert.notInclude(describeStoreFailure(failure!), "\n")
    }
  })

  it("leaves bugs alone", () => {
    assert.isNull(failureAt("/data/x", new TypeError("x is not a function")))
    assert.isNull(failureAt("/data/x", coded("ERR_INVALID_ARG_TYPE")))
  })
})
