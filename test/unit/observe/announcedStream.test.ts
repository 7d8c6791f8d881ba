/** Work that is a stream of steps is told on the feed: its begin, and how it ends. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { announcedStream, type GatewayEvent } from "../../../src/observe/Events.ts"

const told = <A, E>(work: Stream.Stream<A, E>, run: (work: Stream.Stream<A, E>) => Effect.Effect<unknown, E>) =>
  Effect.gen(function* () {
    const states: Array<string> = []
    const events = {
      publish: (event: GatewayEvent) => {
        if (event.type === "job.changed") states.push(`${event.kind} ${event.id} ${event.state} ${event.done}`)
      }
    }
    yield* Effect.ignore(run(announcedStream(events, { kind: "install", id: "tailscale" }, work)))
    return states
  })

it.effect("tells how it ended, and once", () =>
  Effect.gen(function* () {
    const begun = "install tailscale running 0"
    assert.deepStrictEqual(yield* told(Stream.make(1, 2), Stream.runDrain), [begun, "install tailscale completed 1"])
    const failing = Stream.concat(Stream.make(1), Stream.fail("no"))
    assert.deepStrictEqual(yield* told(failing, Stream.runDrain), [begun, "install tailscale failed 0"])
    const left = (work: Stream.Stream<number>) =>
      Effect.flatMap(Effect.fork(Stream.runDrain(work)), (fiber) =>
        Effect.zipRight(Effect.yieldNow(), Fiber.interrupt(fiber))
      )
    const endless = Stream.concat(Stream.make(1), Stream.never)
    assert.deepStrictEqual(yield* told(endless, left), [begun, "install tailscale cancelled 0"])
  })
)
