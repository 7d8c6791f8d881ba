/** Answers that the feed makes old: asked for anew, at once where it is quiet, and never kept from coming where it is not. */
import { QueryObserver } from "@tanstack/query-core"
import { afterEach, assert, beforeEach, describe, it, vi } from "vitest"
import { queries, renew } from "../../src/dashboard/api/queries.ts"

const calmMs = 1_000

describe("an answer that the feed makes old", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  /** A question whose answers come when the test lets them. */
  const question = (name: string) => {
    const ends: Array<() => void> = []
    const stopped: Array<AbortSignal> = []
    const observer = new QueryObserver(queries, {
      queryKey: [name],
      queryFn: ({ signal }) => {
        stopped.push(signal)
        return new Promise<number>((resolve) => void ends.push(() => resolve(ends.length)))
      }
    })
    return { ends, stopped, leave: observer.subscribe(() => {}) }
  }
  const told = async (name: string): Promise<void> => {
    for (let n = 0; n < 10; n++) void renew(name)
    await vi.advanceTimersByTimeAsync(0)
  }

  it("comes to its end and is asked for once more, however many events there are", async () => {
    const { ends, leave, stopped } = question("slow")
    await told("slow")
    assert.lengthOf(ends, 1)
    ends[0]?.()
    await vi.advanceTimersByTimeAsync(0)
    assert.lengthOf(ends, 2, "what was told meanwhile is asked for at once")
    await told("slow")
    ends[1]?.()
    await vi.advanceTimersByTimeAsync(calmMs - 1)
    assert.lengthOf(ends, 2, "but not more than once a second")
    await vi.advanceTimersByTimeAsync(1)
    assert.lengthOf(ends, 3)
    assert.isFalse(stopped.some(({ aborted }) => aborted))
    ends[2]?.()
    leave()
  })

  it("is asked for at once while it is quiet", async () => {
    const { ends, leave } = question("quiet")
    ends[0]?.()
    await vi.advanceTimersByTimeAsync(10 * calmMs)
    void renew("quiet")
    await vi.advanceTimersByTimeAsync(0)
    assert.lengthOf(ends, 2)
    ends[1]?.()
    leave()
  })
})
