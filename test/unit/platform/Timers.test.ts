import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"
import { make, type Timer } from "../../../src/platform/Timers.ts"

const fired = (begin: (run: () => void) => void): Promise<void> => new Promise((resolve) => begin(resolve))

describe("live timers", () => {
  it("are those that will still run", async () => {
    const base = make.live()
    const left = make.after(60_000, () => {})
    const liveWhenRun: Array<number> = []
    await fired((run) => {
      make.after(1, () => {
        liveWhenRun.push(make.live() - base)
        run()
      })
      assert.strictEqual(make.live() - base, 2)
    })
    assert.deepStrictEqual(liveWhenRun, [1])
    left.cancel()
    left.cancel()
    assert.strictEqual(make.live() - base, 0)
  })

  it("a timer that starts again from within runs again, and counts once", async () => {
    const base = make.live()
    let runs = 0
    let timer: Timer | null = null
    await fired((run) => {
      timer = make.after(1, () => {
        runs += 1
        if (runs === 3) return run()
        timer?.restart()
        timer?.restart()
        assert.strictEqual(make.live() - base, 1)
      })
      timer.restart()
      assert.strictEqual(make.live() - base, 1)
    })
    assert.strictEqual(runs, 3)
    assert.strictEqual(make.live() - base, 0)
  })

  it("a cancelled timer stays cancelled", async () => {
    const base = make.live()
    let runs = 0
    const timer = make.after(1, () => void (runs += 1))
    timer.cancel()
    timer.restart()
    assert.strictEqual(make.live() - base, 0)
    await fired((run) => make.after(5, run))
    assert.strictEqual(runs, 0)
  })
})

describe("a timer that is due late", () => {
  it("lets the input that is ready speak first", async () => {
    const server = createServer()
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const address = server.address()
    if (address === null || typeof address === "string") return assert.fail("no port")
    const accepted = once(server, "connection") as Promise<[Socket]>
    const client = connect(address.port, "127.0.0.1")
    const [peer] = await accepted
    const story: Array<string> = []
    for (const heard of ["cancel", "restart"] as const) {
      await fired((run) => {
        const timer = make.after(10, () => story.push("silence"))
        client.once("data", () => {
          timer[heard]()
          // Long enough for what was due to run.
          setImmediate(() =>
            setImmediate(() => {
              timer.cancel()
              run()
            })
          )
        })
        peer.write("x")
        const until = performance.now() + 30
        while (performance.now() < until);
      })
      story.push(heard)
    }
    assert.deepStrictEqual(story, ["cancel", "restart"])
    client.destroy()
    server.close()
    await once(server, "close")
  })
})
