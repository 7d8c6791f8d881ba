/** Which jobs are under way, as the live feed tells their steps; and which coding tools are shown. */
import { assert, describe, it } from "vitest"
import { isOver, type Job, jobOf, shareOf, withJob } from "../../src/dashboard/ui/jobs/jobSteps.ts"
import { shownTools } from "../../src/dashboard/views/system/tools/shown.ts"

const job = (changes: Partial<Job>): Job => ({
  kind: "batch",
  id: "one",
  state: "in_progress",
  done: 0,
  total: 10,
  ...changes
})

describe("the jobs under way", () => {
  it("keep one entry for each job, in the order in which they began, until it is over", () => {
    const steps = [
      job({}),
      job({ kind: "evaluation", id: "two", state: "running", total: 6 }),
      job({ done: 4 }),
      job({ kind: "evaluation", id: "two", state: "running", done: 3, total: 6 })
    ]
    const known = steps.reduce(withJob, [] as ReadonlyArray<Job>)
    assert.deepStrictEqual(
      known.map(({ done, id }) => [id, done]),
      [
        ["one", 4],
        ["two", 3]
      ]
    )
    for (const state of ["completed", "failed", "cancelled", "expired"]) {
      assert.deepStrictEqual(
        withJob(known, job({ state })).map(({ id }) => id),
        ["two"]
      )
      assert.isTrue(isOver(job({ state })))
    }
  })

  it("take no notice of the end of a job that they have not seen begin", () => {
    assert.deepStrictEqual(withJob([], job({ state: "completed" })), [])
  })

  it("tell jobs of one id and different kinds apart", () => {
    assert.lengthOf(withJob([job({})], job({ kind: "install" })), 2)
  })

  it("are bounded, however many there are", () => {
    const known = Array.from({ length: 10_000 }, (_, index) => job({ id: `j${index}` })).reduce(
      withJob,
      [] as ReadonlyArray<Job>
    )
    assert.lengthOf(known, 100)
    assert.strictEqual(known.at(-1)?.id, "j9999")
  })

  it("are as far as all their steps together, and not known where that of one is not", () => {
    assert.strictEqual(shareOf([job({ done: 5 }), job({ id: "two", done: 10, total: 20 })]), 0.5)
    assert.strictEqual(shareOf([job({ done: 99 })]), 1)
    assert.isNull(shareOf([job({ total: null })]))
    assert.isNull(shareOf([job({ done: 0, total: 1 })]))
    assert.isNull(shareOf([]))
  })

  it("read frames of any form", () => {
    assert.isNull(jobOf({}))
    assert.isNull(jobOf({ kind: 1, id: "one", state: "running" }))
    assert.deepStrictEqual(jobOf({ kind: "batch", id: "one", state: "running", done: "x", total: null }), {
      kind: "batch",
      id: "one",
      state: "running",
      done: 0,
      total: null
    })
  })
})

describe("the coding tools that are shown", () => {
  const tool = (id: string, baseUrlSupport: "full" | "partial" | "none") => ({
    id,
    name: id,
    vendor: "",
    baseUrlSupport
  })

  it("are those that take the address of a gateway, wholly or in part", () => {
    const tools = [tool("claude", "full"), tool("droid", "partial"), tool("cursor", "none")]
    assert.deepStrictEqual(
      shownTools(tools, "").map(({ id }) => id),
      ["claude", "droid"]
    )
    assert.deepStrictEqual(shownTools(tools, "CURSOR"), [])
  })
})
