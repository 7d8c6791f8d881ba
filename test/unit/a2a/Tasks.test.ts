/** Tasks that callers share the room for: nobody's task is forgotten or stopped for another one that has more. */
import { assert, describe, it } from "@effect/vitest"
import { operatorsOwn } from "../../../src/contract/domain/ContentPermission.ts"
import { makeTasks, taskLimits } from "../../../src/agents/a2a/Tasks.ts"

const beginner = () => {
  const tasks = makeTasks()
  let count = 0
  const begin = (identity: string, isOver = false) => {
    count += 1
    const facts = {
      id: `t${count}`,
      contextId: "c",
      identity,
      skill: "smart-routing",
      form: "legacy",
      permission: operatorsOwn
    } as const
    const task = tasks.begin(facts, count)
    if (task !== null && isOver) tasks.change(task, { state: "completed", answer: "done" }, count)
    return task
  }
  return { tasks, begin }
}

describe("tasks", () => {
  it("of one caller take half of the room, and make room by its own oldest that is over", () => {
    const { begin, tasks } = beginner()
    const other = begin("other", true)
    const running = begin("one")
    let stopped = 0
    if (running !== null) tasks.runs(running, () => (stopped += 1))
    const first = begin("one", true)
    for (let at = 0; at < 3 * taskLimits.most; at += 1) assert.isNotNull(begin("one", true))
    const find = (task: typeof other, identity: string) => tasks.find(task?.id ?? "", identity, 10_000)
    assert.isNotNull(find(other, "other"))
    assert.strictEqual(find(running, "one")?.state, "submitted")
    assert.isNull(find(first, "one"))
    assert.strictEqual(stopped, 0)
    const counts = tasks.counts(10_000)
    assert.strictEqual(counts.completed + counts.submitted, 1 + taskLimits.most / 2)
  })

  it("begin no more where all that could make room are under way", () => {
    const { begin } = beginner()
    for (let at = 0; at < taskLimits.most / 2; at += 1) assert.isNotNull(begin("one"))
    assert.isNull(begin("one"))
    assert.isNotNull(begin("other"))
  })
})
