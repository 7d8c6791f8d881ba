/** What a client sees while a model is silent: the head in time. Time is the test's own. */
import { assert, describe, it } from "@effect/vitest"
import { noSecrets } from "../../../../src/kernel/secrets/SentSecrets.ts"
import { fromRaw } from "../../../../src/net/egress/UpstreamHeaders.ts"
import { startCall } from "../../../../src/plane/attempt/RunCall.ts"
import * as StopSignal from "../../../../src/plane/request/StopSignal.ts"
import type { AttemptResult } from "../../../../src/plane/attempt/AttemptResult.ts"
import type { Work } from "../../../../src/plane/request/Exchange.ts"
import { unwatched } from "../../../../src/plane/state/kept/AnswerWatch.ts"
import { maxHoldBackMs } from "../../../../src/plane/attempt/StreamReader.ts"
import type { UpstreamSink } from "../../../../src/net/egress/Upstream.ts"
import type { WireName } from "../../../../src/contract/domain/Wire.ts"
import { codecs } from "../../../../src/wire/Codec.ts"

const timeouts = { connectMs: 1_000, firstByteMs: 180_000, idleMs: 300_000, totalMs: 600_000 }

const makeClock = () => {
  let now = 0
  const timers = new Set<{ at: number; readonly delayMs: number; readonly run: () => void }>()
  return {
    timers: {
      nowMs: () => now,
      monotonicMs: () => now,
      soon: (run: () => void) => run(),
      live: () => timers.size,
      after: (delayMs: number, run: () => void) => {
        const timer = { at: now + delayMs, delayMs, run }
        timers.add(timer)
        return {
          restart: () => {
            timer.at = now + delayMs
            timers.add(timer)
          },
          cancel: () => void timers.delete(timer)
        }
      }
    },
    advance: (ms: number) => {
      const end = now + ms
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)
        if (next === undefined) break
        now = next.at
        timers.delete(next)
        next.run()
      }
      now = end
    },
    waiting: () => timers.size
  }
}

const start = (
  wire: WireName,
  lastChance = true,
  holdBack: { readonly holdBackMs: number; readonly holdBackBytes: number } | null = null
) => {
  const clock = makeClock()
  const sent: Array<string> = []
  let head: number | null = null
  let sink: UpstreamSink | null = null
  let result: AttemptResult | null = null
  const codec = codecs[wire]
  const work = {
    exchange: {
      requestId: "r",
      startedMs: 0,
      wire,
      codec,
      reply: {
        head: (status: number) => {
          head = status
        },
        write: (chunk: Buffer | string) => {
          sent.push(chunk.toString())
          return true
        },
        end: () => {},
        onDrain: () => () => {},
        onClose: () => () => {},
        isClosed: () => false
      }
    },
    asked: {},
    envelope: { stream: true, wantsUsage: true }
  } as unknown as Work
  const call = {
    request: { secrets: noSecrets, body: null },
    wire,
    codec,
    sameWire: true,
    hideUsage: false,
    dropped: []
  }
  startCall(
    {
      dispatch: (_request: unknown, given: UpstreamSink) => {
        sink = given
        return { abort: () => {}, resume: () => {} }
      }
    } as never,
    clock.timers,
    {
      work,
      call: call as never,
      target: { model: "m", account: { connection: { apiKey: null, headers: null, oauth: null } } } as never,
      timeouts,
      deadlineMs: timeouts.totalMs,
      lastChance,
      maxMediaBytes: 1_048_576,
      watch: unwatched,
      stop: StopSignal.make(),
      holdBack,
      onHeaders: () => {},
      streamHeaders: () => [],
      mediaHeaders: () => []
    },
    (given) => {
      result = given
    }
  )
  const upstream = (): UpstreamSink => {
    if (sink === null) throw new Error("nothing was sent")
    return sink
  }
  upstream().onHeaders(200, fromRaw([Buffer.from("content-type"), Buffer.from(codec.streamContentType)]))
  return {
    clock,
    sent,
    say: (text: string) => void upstream().onData(Buffer.from(text)),
    cut: () => upstream().onEnd(),
    head: () => head,
    result: () => result
  }
}

const preamble =
  'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}\n\n'
const ping = 'event: ping\ndata: {"type":"ping"}\n\n'
const word =
  'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\nevent: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}\n\n'

describe("a silent model", () => {
  it("holds the preamble back, and releases it when the upstream is alive and there is no other target", () => {
    const run = start("messages")
    run.say(preamble)
    assert.isNull(run.head())
    run.clock.advance(maxHoldBackMs)
    run.say(ping)
    assert.strictEqual(run.head(), 200)
    assert.include(run.sent.join(""), "message_start")
  })

  it("goes on holding while another target could take over", () => {
    const run = start("messages", false)
    run.say(preamble)
    run.clock.advance(maxHoldBackMs * 2)
    run.say(ping)
    assert.isNull(run.head())
  })

  it("still counts the wait for the first content", () => {
    const run = start("messages")
    run.say(preamble)
    run.clock.advance(maxHoldBackMs)
    run.say(ping)
    run.clock.advance(timeouts.firstByteMs)
    const result = run.result()
    assert.strictEqual(result?._tag, "Broken")
    assert.strictEqual(result?._tag === "Broken" ? result.failure.reason : "", "first_byte_timeout")
  })

  it("with recovery on, holds the first words back for a moment, and fails over what breaks in it", () => {
    const run = start("messages", false, { holdBackMs: 750, holdBackBytes: 65_536 })
    run.say(preamble + word)
    assert.isNull(run.head())
    run.clock.advance(750)
    assert.strictEqual(run.head(), 200)
    assert.include(run.sent.join(""), "Hi")
    const broken = start("messages", false, { holdBackMs: 750, holdBackBytes: 65_536 })
    broken.say(preamble + word)
    broken.cut()
    assert.strictEqual(broken.result()?._tag, "Failed")
    assert.isNull(broken.head())
    const full = start("messages", false, { holdBackMs: 750, holdBackBytes: 10 })
    full.say(preamble + word)
    assert.strictEqual(full.head(), 200)
  })

  it("leaves no timer behind", () => {
    const run = start("messages")
    run.say(preamble + word)
    run.say(
      'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n'
    )
    assert.strictEqual(run.result()?._tag, "Completed")
    run.clock.advance(2_000)
    assert.strictEqual(run.clock.waiting(), 0)
  })
})
