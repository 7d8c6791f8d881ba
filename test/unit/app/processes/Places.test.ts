/** Which processes of a gateway with workers are started, ended and replaced. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type Event, longLifeMs, Places, renewDrainMs, type Step } from "../../../../src/app/processes/Places.ts"

const texts = (steps: ReadonlyArray<Step>): ReadonlyArray<string> =>
  steps.map((step) => {
    switch (step._tag) {
      case "Start":
        return `start ${step.place}.${step.life}${step.afterMs > 0 ? ` after ${step.afterMs}` : ""}`
      case "End":
        return `end ${step.place}.${step.life}${step.drainMs === null ? "" : " slowly"}`
      case "Left":
        return `left ${step.place}.${step.life}`
      case "Up":
        return "up"
      case "Over":
        return step.isFailure ? "failed" : "over"
    }
  })

/** A gateway with this many workers, all of which serve. */
const serving = (workers: number) => {
  const places = new Places(workers)
  const on = (event: Event, nowMs = 0) => texts(places.on(event, nowMs))
  on({ _tag: "Begin" })
  on({ _tag: "Ready", place: 0, life: 1 })
  for (let place = 1; place <= workers; place++) on({ _tag: "Ready", place, life: 1 })
  return on
}

describe("the processes of a gateway with workers", () => {
  it("are started in order: workers when the owner serves, and it is up when all do", () => {
    const places = new Places(2)
    const on = (event: Event) => texts(places.on(event, 0))
    assert.deepStrictEqual(on({ _tag: "Begin" }), ["start 0.1"])
    assert.deepStrictEqual(on({ _tag: "Ready", place: 0, life: 1 }), ["start 1.1", "start 2.1"])
    assert.deepStrictEqual(on({ _tag: "Ready", place: 2, life: 1 }), [])
    assert.deepStrictEqual(on({ _tag: "Ready", place: 1, life: 1 }), ["up"])
  })

  it("are not tried again where one does not start at all", () => {
    const places = new Places(2)
    const on = (event: Event) => texts(places.on(event, 0))
    on({ _tag: "Begin" })
    assert.deepStrictEqual(on({ _tag: "Ended", place: 0, life: 1 }), ["failed"])

    const others = new Places(1)
    others.on({ _tag: "Begin" }, 0)
    others.on({ _tag: "Ready", place: 0, life: 1 }, 0)
    assert.deepStrictEqual(texts(others.on({ _tag: "Ended", place: 1, life: 1 }, 0)), ["left 1.1", "end 0.1"])
    assert.deepStrictEqual(texts(others.on({ _tag: "Ended", place: 0, life: 1 }, 0)), ["failed"])
  })

  it("are replaced at once, later and later where they end soon, and at once again after a long life", () => {
    const on = serving(1)
    assert.deepStrictEqual(on({ _tag: "Ended", place: 1, life: 1 }), ["left 1.1", "start 1.2"])
    assert.deepStrictEqual(on({ _tag: "Ended", place: 1, life: 2 }, 1), ["left 1.2", "start 1.3 after 200"])
    assert.deepStrictEqual(on({ _tag: "Ended", place: 1, life: 3 }, 300), ["left 1.3", "start 1.4 after 400"])
    on({ _tag: "Ready", place: 1, life: 4 }, 800)
    assert.deepStrictEqual(on({ _tag: "Ended", place: 1, life: 4 }, 700 + longLifeMs), ["left 1.4", "start 1.5"])
    assert.deepStrictEqual(on({ _tag: "Ended", place: 0, life: 1 }, 700 + longLifeMs), ["start 0.2"])
  })

  it("tell an owner of every worker that has ended, at the latest when it serves", () => {
    const on = serving(2)
    assert.deepStrictEqual(on({ _tag: "Ended", place: 0, life: 1 }), ["start 0.2"])
    assert.deepStrictEqual(on({ _tag: "Ended", place: 1, life: 1 }), ["start 1.2"])
    assert.deepStrictEqual(on({ _tag: "Ended", place: 1, life: 2 }, 1), ["start 1.3 after 200"])
    assert.deepStrictEqual(on({ _tag: "Ready", place: 0, life: 2 }), ["left 1.1", "left 1.2"])
    assert.deepStrictEqual(on({ _tag: "Ended", place: 2, life: 1 }), ["left 2.1", "start 2.2"])
  })

  it("are renewed: a new one serves before the old one takes no more, and the owner follows them", () => {
    const on = serving(2)
    assert.deepStrictEqual(on({ _tag: "Reload", workers: 2 }), ["start 1.2", "start 2.2"])
    assert.deepStrictEqual(on({ _tag: "Reload", workers: 2 }), [], "those are on their way")
    assert.deepStrictEqual(on({ _tag: "Ready", place: 1, life: 2 }), ["end 1.1 slowly"])
    assert.deepStrictEqual(on({ _tag: "Ended", place: 1, life: 1 }), ["left 1.1"])
    assert.deepStrictEqual(on({ _tag: "Ready", place: 2, life: 2 }), ["end 2.1 slowly", "end 0.1"])
    assert.deepStrictEqual(on({ _tag: "Ended", place: 0, life: 1 }), ["start 0.2"])
    assert.deepStrictEqual(on({ _tag: "Ready", place: 0, life: 2 }), [])
    assert.isAbove(renewDrainMs, 60_000)
  })

  it("become more and fewer: those that are not wanted end, and are not started again", () => {
    const on = serving(2)
    assert.deepStrictEqual(on({ _tag: "Reload", workers: 3 }), ["start 1.2", "start 2.2", "start 3.1"])
    on({ _tag: "Ready", place: 1, life: 2 })
    on({ _tag: "Ready", place: 2, life: 2 })
    assert.deepStrictEqual(on({ _tag: "Ready", place: 3, life: 1 }), ["end 0.1"])
    on({ _tag: "Ended", place: 0, life: 1 })
    on({ _tag: "Ready", place: 0, life: 2 })
    assert.deepStrictEqual(on({ _tag: "Reload", workers: 1 }), ["start 1.3", "end 2.2 slowly", "end 3.1 slowly"])
    assert.deepStrictEqual(on({ _tag: "Ready", place: 1, life: 3 }), ["end 1.2 slowly", "end 0.2"])
    assert.deepStrictEqual(on({ _tag: "Ended", place: 3, life: 1 }), [], "no owner serves that could hear of it")
    assert.deepStrictEqual(on({ _tag: "Ended", place: 0, life: 2 }), ["start 0.3"])
    assert.deepStrictEqual(on({ _tag: "Ready", place: 0, life: 3 }), ["left 3.1"])
    assert.deepStrictEqual(on({ _tag: "Renew" }), ["start 1.4"])
    // One that still ends has its place again.
    assert.deepStrictEqual(on({ _tag: "Reload", workers: 2 }), ["start 2.3"])
    assert.deepStrictEqual(on({ _tag: "Stop" }), ["end 1.3", "end 1.4", "end 2.3"])
  })

  it("keep the old one where the new one does not start", () => {
    const on = serving(1)
    assert.deepStrictEqual(on({ _tag: "Renew" }), ["start 1.2"])
    assert.deepStrictEqual(on({ _tag: "Ended", place: 1, life: 2 }), ["left 1.2"])
    assert.deepStrictEqual(on({ _tag: "Renew" }), ["start 1.3"])
  })

  it("end in order: the owner after the last worker", () => {
    const on = serving(2)
    assert.deepStrictEqual(on({ _tag: "Stop" }), ["end 1.1", "end 2.1"])
    assert.deepStrictEqual(on({ _tag: "Stop" }), [])
    assert.deepStrictEqual(on({ _tag: "Ended", place: 2, life: 1 }), ["left 2.1"])
    assert.deepStrictEqual(on({ _tag: "Ended", place: 1, life: 1 }), ["left 1.1", "end 0.1"])
    assert.deepStrictEqual(on({ _tag: "Ended", place: 0, life: 1 }), ["over"])
  })

  it("are never two owners, and all end after a stop, whatever happens", () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 999 }), { maxLength: 60 }), (choices) => {
        const places = new Places(3)
        const running = new Map<string, { place: number; life: number; isReady: boolean }>()
        let isOver = false
        let nowMs = 0
        const run = (event: Event): void => {
          nowMs += 50
          for (const step of places.on(event, nowMs)) {
            if (step._tag === "Start") {
              if (step.place === 0) {
                assert.isFalse(
                  [...running.values()].some(({ place }) => place === 0),
                  "one owner at a time"
                )
              }
              running.set(`${step.place}.${step.life}`, { place: step.place, life: step.life, isReady: false })
            }
            if (step._tag === "Over") isOver = true
          }
        }
        run({ _tag: "Begin" })
        for (const choice of choices) {
          const all = [...running.values()]
          const one = all[choice % Math.max(1, all.length)]
          const kind = choice % 7
          if (kind === 0) run({ _tag: "Reload", workers: 1 + (choice % 5) })
          else if (one === undefined) break
          else if (kind < 4 && !one.isReady) {
            one.isReady = true
            run({ _tag: "Ready", place: one.place, life: one.life })
          } else if (kind === 4) {
            running.delete(`${one.place}.${one.life}`)
            run({ _tag: "Ended", place: one.place, life: one.life })
          }
        }
        run({ _tag: "Stop" })
        while (running.size > 0) {
          const [one] = running.values()
          if (one === undefined) break
          running.delete(`${one.place}.${one.life}`)
          run({ _tag: "Ended", place: one.place, life: one.life })
        }
        assert.isTrue(isOver)
      })
    )
  })
})
