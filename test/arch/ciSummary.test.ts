/** The closing line of `.ci/run` counts every run of the tests, and says that something failed where one is no good. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll } from "vitest"

const summary = fileURLToPath(new URL("../../.ci/summary.mjs", import.meta.url))
const folder = mkdtempSync(join(tmpdir(), "gateway-ci-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const report = (passed: number, failed = 0, more: object = {}): object => ({
  numPassedTests: passed,
  numFailedTests: failed,
  numPendingTests: 1,
  success: failed === 0,
  testResults: [],
  ...more
})

let files = 0
/** Each run by its exit status and its report; a report that is null is not written. */
const summed = (...runs: ReadonlyArray<readonly [status: number, report: object | string | null]>) => {
  const args = runs.flatMap(([status, content]) => {
    files += 1
    const file = join(folder, `${files}.json`)
    if (content !== null) writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content))
    return [String(status), file]
  })
  const { status, stdout } = spawnSync(process.execPath, [summary, ...args], { encoding: "utf8" })
  const lines = stdout.trimEnd().split("\n")
  return { status, last: lines.at(-1), before: lines.slice(0, -1).join("\n") }
}

const failedTest = { status: "failed", fullName: "adds", failureMessages: ["expected 3"] }

describe("the closing line", () => {
  it("has the sums of both runs", () => {
    assert.deepInclude(summed([0, report(3)], [0, report(4)]), { status: 0, last: "7 passed, 0 failed, 2 skipped" })
  })

  it("names what failed, in whichever run", () => {
    const bad = report(1, 1, { testResults: [{ name: "a.test.ts", status: "failed", assertionResults: [failedTest] }] })
    for (const runs of [
      [
        [1, bad],
        [0, report(2)]
      ],
      [
        [0, report(2)],
        [1, bad]
      ]
    ] as const) {
      const { before, last, status } = summed(...runs)
      assert.deepStrictEqual([status, last], [1, "3 passed, 1 failed, 2 skipped"])
      assert.include(before, "a.test.ts > adds: expected 3")
    }
  })

  it.each<readonly [name: string, status: number, report: object | string | null]>([
    ["is missing", 0, null],
    ["is cut short", 0, '{"numPassedTests": 3,'],
    ["has no counts", 0, {}],
    ["has no test", 0, report(0)],
    ["is of a run that ended badly", 124, report(3)],
    ["does not say that it succeeded", 0, report(3, 0, { success: false })],
    [
      "has a file that could not be loaded",
      1,
      report(3, 0, {
        success: false,
        testResults: [{ name: "b.test.ts", status: "failed", message: "no such module", assertionResults: [] }]
      })
    ]
  ])("counts a report that %s as one failure", (_, status, content) => {
    for (const runs of [
      [
        [0, report(5)],
        [status, content]
      ],
      [
        [status, content],
        [0, report(5)]
      ]
    ] as const) {
      const { last, status: ended } = summed(...runs)
      assert.strictEqual(ended, 1)
      assert.match(String(last), /^[58] passed, 1 failed/)
    }
  })

  it("is no success without a run", () => {
    assert.deepInclude(summed(), { status: 1, last: "0 passed, 1 failed" })
  })
})
